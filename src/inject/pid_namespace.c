/* SPDX-License-Identifier: MIT */
/* The last number of "NSpid:" in a thread's status is what it calls itself. */
#define _GNU_SOURCE
#include "inject/pid_namespace.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pid_namespace_is_ours(pid_t pid)
{
    char path[64];
    struct stat ours, theirs;

    snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
    return stat("/proc/self/ns/pid", &ours) != 0 || stat(path, &theirs) != 0 ||
           (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino);
}

pid_t pid_namespace_inner_tid(pid_t pid, pid_t tid)
{
    char path[64], line[512];
    pid_t inner = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (inner == 0 && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0)
            inner = (pid_t)strtol(strrchr(line, '\t') + 1, NULL, 10);
    fclose(file);
    return inner;
}

/* The first number in a folder for which `visit` gives true; 0: none. */
static pid_t find_number(const char *path, bool (*visit)(void *context, pid_t number), void *context)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    pid_t found = 0;

    if (folder == NULL)
        return 0;
    while (found == 0 && (entry = readdir(folder)) != NULL) {
        long number = strtol(entry->d_name, NULL, 10);

        if (number > 0 && number <= INT_MAX && visit(context, (pid_t)number))
            found = (pid_t)number;
    }
    closedir(folder);
    return found;
}

/* Who is looked for. */
struct pid_search {
    pid_t pid; /* of whose threads; 0: of processes */
    pid_t inner;
    bool (*visit)(void *context, pid_t pid);
    void *context;
};

static bool is_thread(void *context, pid_t tid)
{
    const struct pid_search *search = context;

    return pid_namespace_inner_tid(search->pid, tid) == search->inner;
}

pid_t pid_namespace_outer_tid(pid_t pid, pid_t inner_tid)
{
    struct pid_search search = {.pid = pid, .inner = inner_tid};
    char path[64];

    if (is_thread(&search, inner_tid))
        return inner_tid;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    return find_number(path, is_thread, &search);
}

static bool is_process(void *context, pid_t pid)
{
    const struct pid_search *search = context;

    return pid_namespace_inner_tid(pid, pid) == search->inner && search->visit(search->context, pid);
}

pid_t pid_namespace_find_process(pid_t inner_pid, bool (*visit)(void *context, pid_t pid), void *context)
{
    struct pid_search search = {.inner = inner_pid, .visit = visit, .context = context};

    return is_process(&search, inner_pid) ? inner_pid : find_number("/proc", is_process, &search);
}
