/* SPDX-License-Identifier: MIT */
/* The kernel compares memories (kcmp). Where it cannot, nothing is known, and no thread waits. */
#define _GNU_SOURCE
#include "inject/shared_memory.h"

#include "hosted/error_text.h"

#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS        1000
#define LOOK_EACH_NS 1000000

static bool is_same(pid_t pid, pid_t other)
{
    return syscall(SYS_kcmp, pid, other, KCMP_VM, 0UL, 0UL) == 0;
}

/* 0: it has none that we can see. */
static pid_t parent_of(pid_t pid)
{
    char path[64], line[256];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "PPid: %d", &parent) != 1)
        ;
    fclose(file);
    return (pid_t)parent;
}

static bool has_child_of_thread(pid_t pid, const char *tid)
{
    char path[64];
    bool is_found = false;
    int child;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid, tid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!is_found && fscanf(file, "%d", &child) == 1)
        is_found = is_same(pid, (pid_t)child);
    fclose(file);
    return is_found;
}

bool shared_memory_has_child(pid_t pid)
{
    const struct dirent *entry;
    bool is_found = false;
    char path[64];
    DIR *folder;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    folder = opendir(path);
    if (folder == NULL)
        return false;
    while (!is_found && (entry = readdir(folder)) != NULL)
        is_found = entry->d_name[0] != '.' && has_child_of_thread(pid, entry->d_name);
    closedir(folder);
    return is_found;
}

static bool is_in_parent(pid_t pid, pid_t *parent_out)
{
    *parent_out = parent_of(pid);
    return *parent_out > 0 && is_same(pid, *parent_out);
}

int shared_memory_wait(pid_t pid, struct gait_error *err)
{
    const struct timespec pause = {0, LOOK_EACH_NS};
    pid_t parent;

    for (int i = 0; i < LOOKS && (is_in_parent(pid, &parent) || shared_memory_has_child(pid)); i++)
        nanosleep(&pause, NULL);
    if (!is_in_parent(pid, &parent))
        return 0;
    return error_set(
        err, EBUSY,
        "process %d was made by vfork and still is in the memory of process %d, which would be changed too; "
        "attach to that one, or try again when %d has executed its program",
        (int)pid, (int)parent, (int)pid);
}
