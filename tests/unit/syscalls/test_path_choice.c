/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/path_choice.h"

#include "support/check.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Strings of ours, up to their end. */
static size_t read_own(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    size_t length = strnlen((const char *)(uintptr_t)address, size_bytes - 1) + 1;

    (void)context;
    if (size_bytes == sizeof(struct pollfd))
        length = size_bytes;
    memcpy(bytes_out, (const void *)(uintptr_t)address, length);
    return length;
}

static const struct call_memory memory = {read_own, NULL};

static void names_and_descriptors_are_looked_at(void)
{
    struct path_choice choice = {.count = 0};
    int fd = open("/dev/null", O_RDONLY), other = open("/dev/zero", O_RDONLY);
    struct pollfd polled[] = {{.fd = other}, {.fd = fd}};
    struct system_call_event event = {.tid = getpid(), .number = SYS_openat, .memory = &memory};

    CHECK_EQUAL(path_choice_add(&choice, "/dev/null"), 0);
    event.arguments[0] = (uint64_t)AT_FDCWD;
    event.arguments[1] = (uintptr_t) "/dev/null";
    CHECK_EQUAL(path_choice_picks(&choice, &event), 1);
    event.arguments[1] = (uintptr_t) "/dev/nul";
    CHECK_EQUAL(path_choice_picks(&choice, &event), 0);
    event.number = SYS_read;
    event.arguments[0] = (uint64_t)fd;
    CHECK_EQUAL(path_choice_picks(&choice, &event), 1);
    event.arguments[0] = (uint64_t)other;
    CHECK_EQUAL(path_choice_picks(&choice, &event), 0);
    event.number = SYS_ppoll;
    event.arguments[0] = (uintptr_t)polled;
    event.arguments[1] = 2;
    CHECK_EQUAL(path_choice_picks(&choice, &event), 1);
    event.arguments[1] = 1;
    CHECK_EQUAL(path_choice_picks(&choice, &event), 0);
    path_choice_deinit(&choice);
    CHECK_EQUAL(choice.count, 0);
    close(fd);
    close(other);
}

static void links_are_followed_once(void)
{
    struct path_choice choice = {.count = 0};

    CHECK_EQUAL(path_choice_add(&choice, "/proc/self/fd/../exe"), 0);
    CHECK_EQUAL(choice.count, 2);
    CHECK_EQUAL(path_choice_add(&choice, "/no/such/file"), 0);
    CHECK_EQUAL(choice.count, 3);
    for (int i = 0; i < PATH_CHOICE_MAX && path_choice_add(&choice, "/no/such/file") == 0; i++)
        continue;
    CHECK_EQUAL(path_choice_add(&choice, "/no/such/file") < 0, 1);
    path_choice_deinit(&choice);
}

static const struct check_case cases[] = {
    CHECK_CASE(names_and_descriptors_are_looked_at),
    CHECK_CASE(links_are_followed_once),
};

CHECK_MAIN(cases)
