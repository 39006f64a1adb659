/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "view/guessed_times.h"

#include "gait/stalker.h"
#include "support/check.h"
#include "support/trace_folder.h"

static struct trace_folder folder;
static struct view_trace trace;

/* The example's threads have times; this one has none of its own. */
static void put_untimed_thread(void)
{
    struct trace_bytes records = {.size_bytes = 0};

    trace_bytes_put_header(&records, 1, EVENT_RECORD_BLOCK);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){
            .name = "100/103.1.index.gait",
            .header = {.kind = TRACE_STREAM_INDEX, .pid = 100, .tid = 103, .generation = 1, .events = GAIT_EVENT_BLOCK},
            .bytes = &records});
}

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_untimed_thread();
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(trace.thread_count, 3);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void threads_say_whether_their_times_are_guesses(void)
{
    begin();
    CHECK(!guessed_times_of_thread(&trace, 0) && !guessed_times_of_thread(&trace, 1));
    CHECK(guessed_times_of_thread(&trace, 2));
    end();
}

static void what_is_looked_at_decides_what_is_said(void)
{
    const size_t threads[] = {1, 2};

    begin();
    CHECK_EQUAL(guessed_times_of_threads(&trace, threads, 1), GUESSED_TIMES_NONE);
    CHECK_EQUAL(guessed_times_of_threads(&trace, threads, 2), GUESSED_TIMES_SOME);
    CHECK_EQUAL(guessed_times_of_threads(&trace, &threads[1], 1), GUESSED_TIMES_ALL);
    CHECK_EQUAL(guessed_times_of_trace(&trace), GUESSED_TIMES_SOME);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_say_whether_their_times_are_guesses),
    CHECK_CASE(what_is_looked_at_decides_what_is_said),
};

CHECK_MAIN(cases)
