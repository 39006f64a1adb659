/* SPDX-License-Identifier: MIT */
/* Whose memory it is does not matter: debuggers have that of others, and are followed more slowly then. */
#define _GNU_SOURCE
#include "inject/self_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "/proc/7/mem", or with more in front, where a container has a /proc of its own. */
static bool is_memory(int folder, const char *name)
{
    char path[256];
    ssize_t length = readlinkat(folder, name, path, sizeof(path) - 1);

    if (length < 4)
        return false;
    path[length] = '\0';
    return strcmp(path + length - 4, "/mem") == 0 && strstr(path, "/proc/") != NULL;
}

static bool can_be_written(pid_t pid, const char *name)
{
    long flags = O_RDWR;
    char line[256];
    FILE *file;

    snprintf(line, sizeof(line), "/proc/%d/fdinfo/%.16s", (int)pid, name);
    file = fopen(line, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "flags:", 6) == 0)
            flags = strtol(line + 6, NULL, 8);
    if (file != NULL)
        fclose(file);
    return (flags & O_ACCMODE) != O_RDONLY;
}

bool self_memory_is_open(pid_t pid)
{
    const struct dirent *entry;
    bool is_open = false;
    char path[64];
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    folder = opendir(path);
    if (folder == NULL)
        return false;
    while (!is_open && (entry = readdir(folder)) != NULL)
        is_open = is_memory(dirfd(folder), entry->d_name) && can_be_written(pid, entry->d_name);
    closedir(folder);
    return is_open;
}
