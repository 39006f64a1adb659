/* SPDX-License-Identifier: MIT */
#include "view/thread_pattern.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
}

static void end(void)
{
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

/* The indexes of threads that are meant, as digits. */
static const char *chosen(const char *const *texts, size_t text_count)
{
    static char digits[16];
    size_t *threads = NULL, count = 0;

    if (thread_pattern_choose(&trace, texts, text_count, &threads, &count, NULL) != 0)
        return "none";
    for (size_t i = 0; i < count; i++)
        digits[i] = (char)('0' + threads[i]);
    digits[count] = '\0';
    free(threads);
    return digits;
}

static void threads_are_meant_by_number_and_by_name(void)
{
    begin();
    CHECK_TEXT(chosen(NULL, 0), "01");
    CHECK_TEXT(chosen((const char *const[]){"101"}, 1), "1");
    CHECK_TEXT(chosen((const char *const[]){"exam*"}, 1), "0");
    CHECK_TEXT(chosen((const char *const[]){"worker", "100"}, 2), "01");
    CHECK_TEXT(chosen((const char *const[]){"worker", "101"}, 2), "1");
    end();
}

static void a_thread_that_is_not_there_is_named(void)
{
    const char *const texts[] = {"worker", "nobody"};
    struct gait_error err;
    size_t *threads, count;

    begin();
    CHECK_EQUAL(thread_pattern_choose(&trace, texts, 2, &threads, &count, &err), -ENOENT);
    CHECK(strstr(err.text, "'nobody'") != NULL);
    end();
}

/* The second one began a second before the first, and so did its stream. */
static void threads_are_in_the_order_in_which_they_began(void)
{
    struct trace_bytes nothing = {.size_bytes = 0};
    struct trace_stream_plan plan = {
        .name = "100/100.1.index.gait",
        .header = {.kind = TRACE_STREAM_INDEX,
                   .pid = 100,
                   .tid = 100,
                   .generation = 1,
                   .space = 1,
                   .events = GAIT_EVENT_CALL,
                   .began = {.counter = 5000000000}},
        .bytes = &nothing,
    };

    begin();
    unlinkat(folder.fd, plan.name, 0);
    trace_folder_put_stream(&folder, &plan);
    CHECK_TEXT(chosen(NULL, 0), "10");
    unlinkat(folder.fd, plan.name, 0);
    plan.header.began.counter = 1;
    trace_folder_put_stream(&folder, &plan);
    CHECK_TEXT(chosen(NULL, 0), "01");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_meant_by_number_and_by_name),
    CHECK_CASE(a_thread_that_is_not_there_is_named),
    CHECK_CASE(threads_are_in_the_order_in_which_they_began),
};

CHECK_MAIN(cases)
