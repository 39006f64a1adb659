/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/doctor_clean.h"

#include "kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "gait"

/* "p:group/name place", "r16:group/name place" and others. */
const char *doctor_clean_name(const char *line, size_t *length_out)
{
    const char *colon = strchr(line, ':');
    size_t length = colon == NULL ? 0 : strcspn(colon + 1, " \n");

    *length_out = 0;
    if (length == 0 || strncmp(colon + 1, PREFIX, strlen(PREFIX)) != 0 || memchr(colon + 1, '/', length) == NULL)
        return NULL;
    *length_out = length;
    return colon + 1;
}

static bool remove_probe(const char *name, size_t length, struct gait_error *err)
{
    const char *folder;
    char path[128], text[512];
    int fd = -1, wanted = snprintf(text, sizeof(text), "-:%.*s\n", (int)length, name);
    bool is_gone;

    if (tracefs_find(&folder, err) != 0 || wanted >= (int)sizeof(text))
        return false;
    snprintf(path, sizeof(path), "%s/dynamic_events", folder);
    fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    is_gone = fd >= 0 && write(fd, text, (size_t)wanted) == wanted;
    if (fd >= 0)
        close(fd);
    return is_gone;
}

int doctor_clean(size_t *removed_out, size_t *kept_out, struct gait_error *err)
{
    char *text, *line, *rest;
    size_t size_bytes;
    int result = tracefs_read("dynamic_events", &text, &size_bytes, err);

    *removed_out = *kept_out = 0;
    /* A kernel without such probes has none that were left. */
    if (result == -ENOENT)
        return 0;
    if (result != 0)
        return result;
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        size_t length;
        const char *name = doctor_clean_name(line, &length);

        if (name != NULL)
            ++*(remove_probe(name, length, err) ? removed_out : kept_out);
    }
    free(text);
    return 0;
}
