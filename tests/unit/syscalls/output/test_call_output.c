/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/output/call_output.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[] = "/tmp/gait-call-output-XXXXXX";
static struct gait_error err;
static const struct system_call_lines_options lines = {.ids = SYSTEM_CALL_IDS_NEVER, .result_column = 1};

static const char *content(const char *name)
{
    static char text[4096];
    char path[256];
    FILE *file;
    size_t got;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r");
    if (file == NULL)
        return "no file";
    got = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    unlink(path);
    text[got] = '\0';
    return text;
}

static void put(struct call_output *output, int tid, enum system_call_event_kind kind, uint64_t argument)
{
    const struct system_call_event event = {.kind = kind, .tid = tid, .number = SYS_close, .arguments = {argument}};

    call_output_put(output, &event);
}

static void threads_have_files(void)
{
    char name[256];
    const struct call_output_options options = {.name = name, .is_separate = true};
    struct call_output *output;

    CHECK_EQUAL(mkdtemp(folder) != NULL, 1);
    snprintf(name, sizeof(name), "%s/x", folder);
    CHECK_EQUAL(call_output_open(&options, &lines, &output, &err), 0);
    CHECK_EQUAL(call_output_stream(output) == NULL, 1);
    put(output, 1, SYSTEM_CALL_ENTERED, 3);
    put(output, 2, SYSTEM_CALL_LEFT, 4);
    put(output, 1, SYSTEM_CALL_LEFT, 3);
    put(output, 2, SYSTEM_CALL_EXITED, 0);
    /* More than are open at a time, and back to the first. */
    for (int tid = 100; tid < 400; tid++)
        put(output, tid, SYSTEM_CALL_LEFT, 5);
    put(output, 1, SYSTEM_CALL_ENTERED, 6);
    call_output_detach(output);
    CHECK_EQUAL(call_output_close(output, &err), 0);
    CHECK_TEXT(content("x.1"), "close(3) = 0\nclose(6 <detached ...>\n");
    CHECK_TEXT(content("x.2"), "close(4) = 0\n+++ exited with 0 +++\n");
    for (int tid = 100; tid < 400; tid++) {
        snprintf(name, sizeof(name), "x.%d", tid);
        CHECK_TEXT(content(name), "close(5) = 0\n");
    }
}

static void files_can_grow(void)
{
    char name[256];
    struct call_output_options options = {.name = name, .appends = true};
    struct call_output *output;

    snprintf(name, sizeof(name), "%s/y", folder);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(call_output_open(&options, &lines, &output, &err), 0);
        put(output, 1, SYSTEM_CALL_LEFT, 3);
        CHECK_EQUAL(call_output_close(output, &err), 0);
    }
    CHECK_TEXT(content("y"), "close(3) = 0\nclose(3) = 0\n");
}

static void commands_read_lines(void)
{
    char name[256];
    const struct call_output_options options = {.name = name};
    struct call_output *output;

    snprintf(name, sizeof(name), "|tr 3 7 >%s/z", folder);
    CHECK_EQUAL(call_output_open(&options, &lines, &output, &err), 0);
    put(output, 1, SYSTEM_CALL_LEFT, 3);
    CHECK_EQUAL(call_output_close(output, &err), 0);
    CHECK_TEXT(content("z"), "close(7) = 0\n");
}

static void what_cannot_be_written_is_said(void)
{
    struct call_output_options options = {.name = "/no/such/folder/x"};
    struct call_output *output;

    CHECK_EQUAL(call_output_open(&options, &lines, &output, &err) < 0, 1);
    CHECK_EQUAL(strstr(err.text, "cannot write to '/no/such/folder/x'") != NULL, 1);
    options.is_separate = true;
    CHECK_EQUAL(call_output_open(&options, &lines, &output, &err), 0);
    put(output, 1, SYSTEM_CALL_LEFT, 3);
    CHECK_EQUAL(call_output_close(output, &err) < 0, 1);
    options = (struct call_output_options){.name = "/dev/full"};
    CHECK_EQUAL(call_output_open(&options, &lines, &output, &err), 0);
    put(output, 1, SYSTEM_CALL_LEFT, 3);
    CHECK_EQUAL(call_output_close(output, &err) < 0, 1);
    rmdir(folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_have_files),
    CHECK_CASE(files_can_grow),
    CHECK_CASE(commands_read_lines),
    CHECK_CASE(what_cannot_be_written_is_said),
};

CHECK_MAIN(cases)
