/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/output/data_dump.h"

#include "support/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static size_t read_own(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return size_bytes;
}

static char *dumped(const struct data_dump_sets *sets, const struct system_call_event *event)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    data_dump_put(sets, stream, event);
    fclose(stream);
    return text;
}

static void sets_are_numbers_all_or_none(void)
{
    struct data_dump_set set;

    CHECK_EQUAL(data_dump_set_parse("1,70", &set), 0);
    CHECK_EQUAL(set.bits[0] == 2 && set.bits[1] == 64 && !set.has_others, 1);
    CHECK_EQUAL(data_dump_set_parse("!1", &set), 0);
    CHECK_EQUAL(set.bits[0] == ~2ull && set.has_others, 1);
    CHECK_EQUAL(data_dump_set_parse("all", &set), 0);
    CHECK_EQUAL(set.bits[15] == ~0ull && set.has_others, 1);
    CHECK_EQUAL(data_dump_set_parse("none", &set), 0);
    CHECK_EQUAL(data_dump_set_parse("", &set), -EINVAL);
    CHECK_EQUAL(data_dump_set_parse("1,x", &set), -EINVAL);
    CHECK_EQUAL(data_dump_set_parse("-1", &set), -EINVAL);
    CHECK_EQUAL(data_dump_set_parse("99999", &set), -EINVAL);
}

static void bytes_come_in_lines_of_sixteen(void)
{
    static const char data[] = "0123456789abcdefg\n";
    const struct call_memory memory = {read_own, NULL};
    struct system_call_event event = {.kind = SYSTEM_CALL_LEFT,
                                      .number = SYS_write,
                                      .arguments = {1, (uintptr_t)data, 100},
                                      .result = 18,
                                      .memory = &memory};
    struct data_dump_sets sets = {.read.has_others = false};
    char *text;

    CHECK_EQUAL(data_dump_set_parse("1", &sets.written), 0);
    text = dumped(&sets, &event);
    CHECK_TEXT(text, " | 00000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef |\n"
                     " | 00010  67 0a                                             g.               |\n");
    free(text);
    event.number = SYS_read;
    text = dumped(&sets, &event);
    CHECK_TEXT(text, "");
    free(text);
    event.number = SYS_write;
    event.result = -9;
    text = dumped(&sets, &event);
    CHECK_TEXT(text, "");
    free(text);
}

static void vectors_are_told_apart(void)
{
    const struct iovec vectors[] = {{(void *)(uintptr_t) "ab", 2}, {(void *)(uintptr_t) "cdef", 4}};
    const struct call_memory memory = {read_own, NULL};
    const struct system_call_event event = {.kind = SYSTEM_CALL_LEFT,
                                            .number = SYS_readv,
                                            .arguments = {5, (uintptr_t)vectors, 2},
                                            .result = 3,
                                            .memory = &memory};
    struct data_dump_sets sets = {.read.has_others = false};
    char *text;

    CHECK_EQUAL(data_dump_set_parse("all", &sets.read), 0);
    text = dumped(&sets, &event);
    CHECK_TEXT(text, " * 2 bytes in buffer 0\n"
                     " | 00000  61 62                                             ab               |\n"
                     " * 1 bytes in buffer 1\n"
                     " | 00000  63                                                c                |\n");
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(sets_are_numbers_all_or_none),
    CHECK_CASE(bytes_come_in_lines_of_sixteen),
    CHECK_CASE(vectors_are_told_apart),
};

CHECK_MAIN(cases)
