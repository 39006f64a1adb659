/* SPDX-License-Identifier: MIT */
#include "process/system_call_memory.h"

#include "support/check.h"

#include <string.h>
#include <sys/ioctl.h>

static bool read_own(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

/* The bytes that argument `which` of the call is worth; 0: none, 1 for strings. */
static uint64_t bytes_of(const char *name, unsigned which, const uint64_t arguments[6], bool is_after, int64_t result)
{
    const struct system_call_signature *call = system_call_by_name(name, strlen(name));
    const struct system_call_moment moment = {arguments, result, is_after, read_own, NULL};
    struct system_call_memory memory;

    if (!system_call_memory(call, which, &moment, &memory))
        return 0;
    CHECK_EQUAL(memory.address, arguments[which]);
    return memory.is_string ? 1 : memory.size_bytes;
}

static void buffers_are_as_long_as_arguments_and_results_say(void)
{
    const uint64_t arguments[6] = {3, 0x1000, 100, 0, 0, 0};

    CHECK_EQUAL(bytes_of("write", 1, arguments, false, 0), 100);
    CHECK_EQUAL(bytes_of("write", 1, arguments, true, 100), 0);
    CHECK_EQUAL(bytes_of("read", 1, arguments, false, 0), 0);
    CHECK_EQUAL(bytes_of("read", 1, arguments, true, 7), 7);
    CHECK_EQUAL(bytes_of("read", 1, arguments, true, 700), 100);
    CHECK_EQUAL(bytes_of("read", 1, arguments, true, -4), 0);
    CHECK_EQUAL(bytes_of("read", 0, arguments, true, 7), 0);
    CHECK_EQUAL(bytes_of("readv", 1, (const uint64_t[6]){3, 0x1000, 2}, true, 7), 32);
    CHECK_EQUAL(bytes_of("poll", 0, (const uint64_t[6]){0x1000, 3, 1}, true, 1), 24);
    CHECK_EQUAL(bytes_of("epoll_wait", 1, (const uint64_t[6]){3, 0x1000, 64, 1}, true, 2),
                2 * system_call_struct_bytes(SYSTEM_CALL_STRUCT_epoll_event));
    CHECK_EQUAL(bytes_of("select", 1, (const uint64_t[6]){65, 0x1000}, false, 0), 16);
}

static void strings_end_by_themselves(void)
{
    const uint64_t arguments[6] = {0x1000, 0x2000, 50, 0, 0, 0};

    CHECK_EQUAL(bytes_of("access", 0, arguments, false, 0), 1);
    CHECK_EQUAL(bytes_of("getcwd", 0, arguments, false, 0), 0);
    CHECK_EQUAL(bytes_of("getcwd", 0, arguments, true, 5), 1);
    CHECK_EQUAL(bytes_of("access", 0, (const uint64_t[6]){0}, false, 0), 0);
}

static void addresses_of_sockets_have_their_length_elsewhere(void)
{
    uint32_t length = 16;
    const uint64_t arguments[6] = {3, 0x1000, (uintptr_t)&length, 0, 0, 0};

    CHECK_EQUAL(bytes_of("accept", 1, arguments, true, 4), 16);
    CHECK_EQUAL(bytes_of("accept", 2, arguments, true, 4), 4);
    CHECK_EQUAL(bytes_of("bind", 1, (const uint64_t[6]){3, 0x1000, 110}, false, 0), 110);
}

static void what_was_asked_for_decides(void)
{
    CHECK_EQUAL(bytes_of("ioctl", 2, (const uint64_t[6]){1, TIOCGWINSZ, 0x1000}, true, 0), 8);
    CHECK_EQUAL(bytes_of("ioctl", 2, (const uint64_t[6]){1, TIOCGWINSZ, 0x1000}, false, 0), 0);
    CHECK_EQUAL(bytes_of("ioctl", 2, (const uint64_t[6]){1, _IOW('x', 1, char[48]), 0x1000}, false, 0), 48);
    CHECK_EQUAL(bytes_of("futex", 3, (const uint64_t[6]){0x1000, 0x80, 1, 0x2000}, false, 0), 16);
    CHECK_EQUAL(bytes_of("futex", 3, (const uint64_t[6]){0x1000, 0x81, 1, 0x2000}, false, 0), 0);
    CHECK_EQUAL(bytes_of("prctl", 1, (const uint64_t[6]){15, 0x1000}, false, 0), 16);
    CHECK_EQUAL(bytes_of("prctl", 1, (const uint64_t[6]){4, 0x1000}, false, 0), 0);
    CHECK_EQUAL(bytes_of("fcntl", 2, (const uint64_t[6]){3, 6, 0x1000}, false, 0), 32);
    CHECK_EQUAL(bytes_of("fcntl", 2, (const uint64_t[6]){3, 4, 0x1000}, false, 0), 0);
    CHECK_EQUAL(bytes_of("epoll_ctl", 3, (const uint64_t[6]){3, 2, 4, 0x1000}, false, 0), 0);
    CHECK_EQUAL(bytes_of("nanosleep", 1, (const uint64_t[6]){0x1000, 0x2000}, true, 0), 0);
    CHECK_EQUAL(bytes_of("nanosleep", 1, (const uint64_t[6]){0x1000, 0x2000}, true, -516), 16);
    CHECK_EQUAL(bytes_of("clone3", 0, (const uint64_t[6]){0x1000, 64}, false, 0), 64);
    CHECK_EQUAL(bytes_of("clone3", 0, (const uint64_t[6]){0x1000, 4096}, false, 0), 88);
}

static void absurd_counts_are_no_sizes(void)
{
    CHECK_EQUAL(bytes_of("readv", 1, (const uint64_t[6]){3, 0x1000, UINT64_MAX}, true, 7), 0);
    CHECK_EQUAL(bytes_of("poll", 0, (const uint64_t[6]){0x1000, UINT64_MAX / 8 + 2, 1}, false, 0), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(buffers_are_as_long_as_arguments_and_results_say),
    CHECK_CASE(strings_end_by_themselves),
    CHECK_CASE(addresses_of_sockets_have_their_length_elsewhere),
    CHECK_CASE(what_was_asked_for_decides),
    CHECK_CASE(absurd_counts_are_no_sizes),
};

CHECK_MAIN(cases)
