/* SPDX-License-Identifier: MIT */
/*
 * Names are compared as the program writes them, and descriptors by what the kernel says that they lead to. Paths are
 * the caller's thread's to read.
 */
#define _GNU_SOURCE
#include "syscalls/path_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLLED_MAX 256

int path_choice_add(struct path_choice *choice, const char *path)
{
    char *whole;

    if (choice->count + 2 > PATH_CHOICE_MAX)
        return -E2BIG;
    choice->paths[choice->count] = strdup(path);
    if (choice->paths[choice->count] == NULL)
        return -ENOMEM;
    choice->count++;
    whole = realpath(path, NULL);
    if (whole != NULL && strcmp(whole, path) != 0)
        choice->paths[choice->count++] = whole;
    else
        free(whole);
    return 0;
}

void path_choice_deinit(struct path_choice *choice)
{
    while (choice->count != 0)
        free(choice->paths[--choice->count]);
}

static bool has_path(const struct path_choice *choice, const char *path)
{
    for (size_t i = 0; i < choice->count; i++)
        if (strcmp(choice->paths[i], path) == 0)
            return true;
    return false;
}

static bool has_name(const struct path_choice *choice, const struct system_call_event *event, uint64_t address)
{
    char path[PATH_MAX];
    size_t got = event->memory->read(event->memory->context, address, path, sizeof(path));

    return memchr(path, '\0', got) != NULL && has_path(choice, path);
}

static bool has_fd(const struct path_choice *choice, const struct system_call_event *event, int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t length;

    if (fd < 0)
        return false;
    snprintf(link, sizeof(link), "/proc/%d/fd/%d", event->tid, fd);
    length = readlink(link, path, sizeof(path) - 1);
    path[length < 0 ? 0 : length] = '\0';
    return length > 0 && has_path(choice, path);
}

static bool has_polled(const struct path_choice *choice, const struct system_call_event *event)
{
    struct pollfd polled;

    for (uint64_t i = 0; i < event->arguments[1] && i < POLLED_MAX; i++) {
        uint64_t address = event->arguments[0] + i * sizeof(polled);

        if (event->memory->read(event->memory->context, address, &polled, sizeof(polled)) != sizeof(polled))
            return false;
        if (has_fd(choice, event, polled.fd))
            return true;
    }
    return false;
}

bool path_choice_picks(const struct path_choice *choice, const struct system_call_event *event)
{
    const struct system_call_signature *call = system_call_by_number(event->number);

    for (unsigned i = 0; call != NULL && event->memory != NULL && i < call->argument_count; i++) {
        unsigned kind = call->arguments[i].kind;

        if (kind == SYSTEM_CALL_PATH && has_name(choice, event, event->arguments[i]))
            return true;
        if ((kind == SYSTEM_CALL_FD || kind == SYSTEM_CALL_DIRFD) && has_fd(choice, event, (int)event->arguments[i]))
            return true;
        if (kind == SYSTEM_CALL_ARRAY && call->arguments[i].detail == SYSTEM_CALL_STRUCT_pollfd && i == 0 &&
            has_polled(choice, event))
            return true;
    }
    return false;
}
