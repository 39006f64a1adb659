/* SPDX-License-Identifier: MIT */
#include "view/kernel_stack.h"

#include "support/check.h"
#include "support/kernel_trace.h"

#include <stdio.h>
#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct kernel_sources sources;
static struct kernel_events events;
static struct kernel_event event;

static void open_trace(void)
{
    struct gait_error err;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    kernel_trace_put_run(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, &err), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(kernel_events_sources(&trace.files, &sources, &err), 0);
    CHECK_EQUAL(kernel_events_open(&events, &trace.files, &err), 0);
    CHECK(kernel_events_next(&events, &event));
}

static void close_trace(void)
{
    kernel_events_close(&events);
    kernel_sources_deinit(&sources);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void frames_have_names_from_inside_out(void)
{
    struct kernel_frame frame;
    char *text, text_of_frame[64];

    open_trace();
    CHECK_EQUAL(kernel_stack_depth(&event), 0);
    CHECK(kernel_stack_write(&functions, &sources, &event) == NULL);
    CHECK(kernel_events_next(&events, &event));
    CHECK_EQUAL(kernel_stack_depth(&event), 3);
    kernel_stack_frame(&functions, &sources, &event, 0, &frame);
    CHECK(frame.is_kernel && frame.is_named);
    CHECK_TEXT(frame.name, "ticking");
    CHECK_EQUAL(frame.distance, 0x10);
    kernel_stack_frame(&functions, &sources, &event, 1, &frame);
    CHECK(!frame.is_kernel && !frame.is_named && frame.module != NULL);
    CHECK_TEXT(frame.name, "[example]");
    kernel_frame_write(&frame, text_of_frame, sizeof(text_of_frame));
    CHECK_TEXT(text_of_frame, "example+0x1104");
    text = kernel_stack_write(&functions, &sources, &event);
    CHECK_TEXT(text == NULL ? "" : text, "ticking;example+0x1104;example+0x1205");
    free(text);
    close_trace();
}

/* Behind a call that is the last instruction of its module there is none; where nothing is, an address is all there is.
 */
static void what_is_behind_a_call_is_of_the_caller(void)
{
    const uint64_t frames[] = {0x402000, 0x402000, 0x999000};
    struct kernel_event made = {.time = 1500, .pid = 100, .tid = 100, .user_frames = frames, .user_frame_count = 3};
    struct kernel_frame frame;

    open_trace();
    kernel_stack_frame(&functions, &sources, &made, 0, &frame);
    CHECK(frame.module == NULL);
    CHECK_TEXT(frame.name, "0x402000");
    kernel_stack_frame(&functions, &sources, &made, 1, &frame);
    CHECK_TEXT(frame.name, "[example]");
    kernel_stack_frame(&functions, &sources, &made, 2, &frame);
    CHECK_TEXT(frame.name, "0x999000");
    /* Of another process nothing is known. */
    made.pid = 7;
    kernel_stack_frame(&functions, &sources, &made, 1, &frame);
    CHECK_TEXT(frame.name, "0x402000");
    close_trace();
}

/* Code that no file has, by what a runtime wrote down since the recording began. */
static void code_that_was_made_has_the_names_of_its_runtime(void)
{
    const uint64_t frames[] = {0x999010, 0x999021};
    struct kernel_event made = {.time = 1500, .user_frames = frames, .user_frame_count = 2};
    struct kernel_frame frame;
    char path[64];
    FILE *map;

    open_trace();
    made.pid = made.tid = (uint32_t)getpid();
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    map = fopen(path, "w");
    CHECK(map != NULL);
    fprintf(map, "999000 20 JS:*inner\n999020 1 JS:*outer\n");
    fclose(map);
    kernel_stack_frame(&functions, &sources, &made, 0, &frame);
    CHECK(frame.is_named && frame.module == NULL);
    CHECK_TEXT(frame.name, "JS:*inner");
    CHECK_EQUAL(frame.distance, 0x10);
    /* Behind a call that is the last thing in its function. */
    kernel_stack_frame(&functions, &sources, &made, 1, &frame);
    CHECK_TEXT(frame.name, "JS:*outer");
    CHECK_EQUAL(frame.distance, 1);
    unlink(path);
    close_trace();
}

static const struct check_case cases[] = {
    CHECK_CASE(code_that_was_made_has_the_names_of_its_runtime),
    CHECK_CASE(frames_have_names_from_inside_out),
    CHECK_CASE(what_is_behind_a_call_is_of_the_caller),
};

CHECK_MAIN(cases)
