/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/maps, line by line. Files are opened by way of /proc/PID/map_files, which leads to what is mapped even if
 * the file has been deleted or replaced since; without the right for that, by their path in the process's own root.
 */
#define _GNU_SOURCE
#include "cli/process_files.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int explain(uint64_t pid, int code, struct gait_error *err)
{
    if (code == ENOENT || code == ESRCH)
        return error_set(err, ESRCH, "cannot find process %" PRIu64 ": there is none with that number; try 'ps'", pid);
    if (code == EACCES || code == EPERM)
        return error_set(err, code, "cannot look at process %" PRIu64 ": it is not yours; try as its user or as root",
                         pid);
    return error_set(err, code, "cannot look at process %" PRIu64 ": %s", pid, strerror(code));
}

static bool is_known(const struct process_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->files[i].path, path) == 0)
            return true;
    return false;
}

static char *find_way(uint64_t pid, uint64_t start, uint64_t end, const char *path)
{
    char *way = NULL;

    if (asprintf(&way, "/proc/%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, pid, start, end) < 0)
        return NULL;
    if (access(way, R_OK) == 0)
        return way;
    free(way);
    return asprintf(&way, "/proc/%" PRIu64 "/root%s", pid, path) < 0 ? NULL : way;
}

/* A line with a file that is executed is added; others are not of interest. */
static int take_line(struct process_files *files, uint64_t pid, char *line)
{
    uint64_t start, end, offset;
    char access_text[5];
    struct process_file *added;
    int path_at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, access_text, &offset,
               &path_at) < 4 ||
        access_text[2] != 'x' || line[path_at] != '/' || is_known(files, line + path_at))
        return 0;
    if (ARRAY_RESERVE_NEXT(files->files, files->count) != 0)
        return -ENOMEM;
    added = &files->files[files->count++];
    *added = (struct process_file){.start = start, .file_offset = offset};
    added->path = strdup(line + path_at);
    added->opened = find_way(pid, start, end, line + path_at);
    return added->path == NULL || added->opened == NULL ? -ENOMEM : 0;
}

int process_files_read(uint64_t pid, struct process_files *files_out, struct gait_error *err)
{
    struct process_files files = {0};
    char path[64], *line = NULL;
    size_t line_bytes = 0;
    int result = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/maps", pid);
    maps = fopen(path, "re");
    if (maps == NULL)
        return explain(pid, errno, err);
    errno = 0;
    while (result == 0 && getline(&line, &line_bytes, maps) > 0)
        result = take_line(&files, pid, line);
    if (result == 0 && ferror(maps))
        result = errno == 0 ? -EIO : -errno;
    free(line);
    fclose(maps);
    if (result != 0) {
        process_files_deinit(&files);
        return explain(pid, -result, err);
    }
    *files_out = files;
    return 0;
}

void process_files_deinit(struct process_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->files[i].path);
        free(files->files[i].opened);
    }
    free(files->files);
    *files = (struct process_files){0};
}
