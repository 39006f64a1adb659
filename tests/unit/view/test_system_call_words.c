/* SPDX-License-Identifier: MIT */
#include "view/record_words.h"

#include "support/check.h"
#include "support/told_system_calls.h"
#include "view/system_call_reader.h"

#include <stdlib.h>

static void calls_read_as_strace_writes_them(void)
{
    static const char *const expected[] = {
        "openat(AT_FDCWD, \"/no\", O_RDONLY) = -1 ENOENT (No such file or directory)",
        "write(1, \"a\\n\", 2) = 2",
        "execve(NULL, NULL, NULL) = -1 EACCES (Permission denied)",
        "getppid() = 42",
        "execve(NULL, NULL, NULL) = 0",
    };
    const struct view_system_call *call;
    struct system_call_reader *reader;
    struct trace_folder folder;
    struct view_trace trace;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    told_system_calls_put(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(system_call_reader_create(&reader, &trace, 1), 0);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        char *words;

        call = system_call_reader_peek(reader);
        CHECK(call != NULL);
        words = system_call_words(call);
        CHECK_TEXT(words, expected[i]);
        free(words);
        system_call_reader_pass(reader);
    }
    system_call_reader_destroy(reader);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void numbers_without_a_name_are_shown(void)
{
    char name[SYSTEM_CALL_NAME_BYTES];

    CHECK_TEXT(system_call_name(0, name), "read");
    CHECK_TEXT(system_call_name(UINT64_MAX, name), "syscall_0xffffffffffffffff");
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_read_as_strace_writes_them),
    CHECK_CASE(numbers_without_a_name_are_shown),
};

CHECK_MAIN(cases)
