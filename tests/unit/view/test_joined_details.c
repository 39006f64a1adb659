/* SPDX-License-Identifier: MIT */
#include "view/joined_details.h"

#include "support/check.h"
#include "support/detailed_calls.h"

#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct call_arguments arguments;
static struct joined_details *details;
static char bytes[DETAIL_TEXT_BYTES];

static bool times_are_guesses;
static uint64_t lost_between; /* bytes; 0: all records are in one chunk */

/* What the thread did does not matter here, but how. */
static void put_without_times(void)
{
    struct trace_bytes nothing = {.size_bytes = 0};

    unlinkat(folder.fd, "100/100.1.index.gait", 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "100/100.1.index.gait",
                                                                 .header = {.kind = TRACE_STREAM_INDEX,
                                                                            .pid = 100,
                                                                            .tid = 100,
                                                                            .generation = 1,
                                                                            .space = 1,
                                                                            .events = GAIT_EVENT_CALL | GAIT_EVENT_RET},
                                                                 .bytes = &nothing});
}

static void begin(const struct trace_bytes *records)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    if (times_are_guesses)
        put_without_times();
    if (records != NULL)
        detailed_calls_put(&folder, 100, records, lost_between);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(call_arguments_init(&arguments, &functions.names), 0);
    CHECK_EQUAL(joined_details_create(&details, 0, &functions, &arguments), 0);
}

static void end(void)
{
    joined_details_destroy(details);
    call_arguments_deinit(&arguments);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

/* The call of a function from an instruction of 5 bytes: its arguments, or "?". */
static const char *arguments_of(uint64_t function, uint64_t site, uint32_t depth, uint64_t time, uint32_t flags)
{
    struct view_call call = {.function = function, .site = site, .depth = depth, .begin = time, .flags = flags};
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    return joined_details_begin(details, &call, &text).is_known ? bytes : "?";
}

static struct joined_details_end end_of(uint32_t depth, uint64_t time, uint32_t flags)
{
    struct view_call call = {.depth = depth, .end = time, .flags = flags};
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    return joined_details_end(details, &call, &text);
}

static void calls_get_their_arguments_and_results(void)
{
    const struct detailed_call outer = {0x401100, 0x401005, 2010, 0}, inner = {0x401200, 0x401125, 2030, 1},
                               thrown = {0x401200, 0x401135, 2060, 1};
    struct trace_bytes records = {.size_bytes = 0};
    struct joined_details_end ended;

    detailed_calls_enter(&records, &outer, 1);
    detailed_calls_enter(&records, &inner, 2);
    detailed_calls_leave(&records, &inner, 2042, -2);
    detailed_calls_enter(&records, &thrown, 3);
    detailed_calls_unwind(&records, &thrown, 2075);
    detailed_calls_leave(&records, &outer, 2090, -1);
    begin(&records);
    CHECK_TEXT(arguments_of(0x401100, 0x401000, 0, 2000, 0), "1");
    CHECK_TEXT(arguments_of(0x401300, 0x401110, 1, 2015, 0), "?");
    CHECK(!end_of(1, 2017, 0).is_known);
    CHECK_TEXT(arguments_of(0x401200, 0x401120, 1, 2020, 0), "2");
    ended = end_of(1, 2040, 0);
    CHECK(ended.is_known && !ended.is_unwound);
    CHECK_EQUAL(ended.ticks, 12);
    CHECK_TEXT(bytes, "-2");
    CHECK_TEXT(arguments_of(0x401200, 0x401130, 1, 2050, 0), "3");
    ended = end_of(1, 2080, CALL_NO_RETURN);
    CHECK(ended.is_known && ended.is_unwound);
    CHECK_TEXT(bytes, "");
    CHECK(end_of(0, 2100, 0).is_known);
    CHECK_TEXT(bytes, "-1");
    end();
}

static void a_record_from_another_time_is_not_the_calls(void)
{
    const struct detailed_call early = {0x401200, 0x401105, 2010, 0}, late = {0x401200, 0x401105, 2030, 0},
                               much_later = {0x401200, 0x401105, 100000000000, 0};
    struct trace_bytes records = {.size_bytes = 0};

    detailed_calls_enter(&records, &early, 1);
    detailed_calls_leave(&records, &early, 2012, 1);
    detailed_calls_enter(&records, &late, 2);
    detailed_calls_enter(&records, &much_later, 3);
    begin(&records);
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, 2020, 0), "2");
    /* Its end is missing. */
    CHECK(!end_of(0, 2040, 0).is_known);
    /* This one is of a call much later. */
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, 3000, 0), "?");
    CHECK(!end_of(0, 3040, 0).is_known);
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, much_later.time - 5, 0), "3");
    end();
}

/* The thread had no CPU between the call and its record, for a tenth of a second. */
static void a_record_that_had_to_wait_is_the_calls(void)
{
    const struct detailed_call first = {0x401200, 0x401105, 2010, 0}, second = {0x401200, 0x401105, 200000000, 0};
    struct trace_bytes records = {.size_bytes = 0};

    detailed_calls_enter(&records, &first, 1);
    detailed_calls_leave(&records, &first, 2012, 1);
    detailed_calls_enter(&records, &second, 2);
    begin(&records);
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, 2000, 0), "1");
    CHECK(end_of(0, 2020, 0).is_known);
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, 100000000, 0), "2");
    end();
}

/* What is within an open call is not looked for behind its end. */
static void the_end_of_an_open_call_is_not_passed_over(void)
{
    const struct detailed_call outer = {0x401100, 0x401005, 2010, 0}, next = {0x401200, 0x401105, 2050, 0};
    struct trace_bytes records = {.size_bytes = 0};

    detailed_calls_enter(&records, &outer, 1);
    detailed_calls_leave(&records, &outer, 2040, 1);
    detailed_calls_enter(&records, &next, 2);
    begin(&records);
    CHECK_TEXT(arguments_of(0x401100, 0x401000, 0, 2000, 0), "1");
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 1, 2020, 0), "?");
    CHECK(!end_of(1, 2030, 0).is_known);
    CHECK(end_of(0, 2041, 0).is_known);
    CHECK_TEXT(arguments_of(0x401200, 0x401100, 0, 2045, 0), "2");
    end();
}

static void a_call_that_was_cut_has_no_result(void)
{
    const struct detailed_call call = {0x401100, 0x401005, 2010, 0};
    struct trace_bytes records = {.size_bytes = 0};

    detailed_calls_enter(&records, &call, 1);
    detailed_calls_leave(&records, &call, 2040, 1);
    begin(&records);
    CHECK_TEXT(arguments_of(0x401100, 0x401000, 0, 2000, 0), "1");
    CHECK(!end_of(0, 2020, CALL_CUT).is_known);
    CHECK(!end_of(0, 2040, 0).is_known);
    end();
}

/* "<argument", "result>", "!" for one that was left, or "" if there is nothing before that time. */
static const char *own_before(uint64_t time)
{
    static char shown[DETAIL_TEXT_BYTES + 32];
    struct joined_details_own own;
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    if (!joined_details_take_own(details, time, &own, &text))
        return "";
    snprintf(shown, sizeof(shown), "%s%s%s@%" PRIu64, own.is_begin ? "<" : "",
             own.is_cut       ? "..."
             : own.is_unwound ? "!"
                              : bytes,
             own.is_begin ? "" : ">", own.time);
    return shown;
}

/* Only details of them were asked for. */
static void calls_without_events_are_told_by_their_records(void)
{
    const struct detailed_call outer = {0x401100, 0x401005, 2010, 0}, own = {0x409000, 0x401125, 2030, 1},
                               thrown = {0x409000, 0x401135, 2060, 2};
    struct trace_bytes records = {.size_bytes = 0};

    detailed_calls_enter(&records, &outer, 1);
    detailed_calls_enter(&records, &own, 2);
    detailed_calls_enter(&records, &thrown, 3);
    detailed_calls_unwind(&records, &thrown, 2070);
    detailed_calls_leave(&records, &own, 2080, -2);
    detailed_calls_leave(&records, &outer, 2090, -1);
    begin(&records);
    CHECK_EQUAL(joined_details_next_time(details), 2010);
    CHECK_TEXT(own_before(2000), "");
    CHECK_TEXT(arguments_of(0x401100, 0x401000, 0, 2000, 0), "1");
    CHECK_TEXT(own_before(2030), "");
    CHECK_TEXT(own_before(2031), "<2@2030");
    CHECK_TEXT(own_before(2065), "<3@2060");
    CHECK_TEXT(own_before(2065), "");
    CHECK_TEXT(own_before(UINT64_MAX), "!>@2070");
    CHECK_TEXT(own_before(UINT64_MAX), "-2>@2080");
    /* An event tells of that. */
    CHECK_TEXT(own_before(UINT64_MAX), "");
    CHECK(end_of(0, 2095, 0).is_known);
    CHECK_TEXT(own_before(UINT64_MAX), "");
    CHECK_EQUAL(joined_details_next_time(details), UINT64_MAX);
    end();
}

/* Whatever the times are. */
static void where_times_are_guesses_the_order_counts(void)
{
    const struct detailed_call own = {0x409000, 0x777777, 5000000000, 0}, told = {0x401200, 0x401125, 5000000010, 0},
                               inner = {0x409000, 0x777777, 5000000020, 1}, last = {0x409000, 0x777777, 6000000000, 0};
    struct trace_bytes records = {.size_bytes = 0};
    struct view_call call = {.function = 0x401200, .site = 0x401120, .begin = 2000, .flags = CALL_GUESSED};

    detailed_calls_enter(&records, &own, 1);
    detailed_calls_leave(&records, &own, 5000000005, 2);
    detailed_calls_enter(&records, &told, 3);
    detailed_calls_enter(&records, &inner, 4);
    detailed_calls_leave(&records, &inner, 5000000025, 5);
    detailed_calls_leave(&records, &told, 5000000030, 6);
    detailed_calls_enter(&records, &last, 7);
    times_are_guesses = true;
    begin(&records);
    times_are_guesses = false;
    CHECK_EQUAL(joined_details_next_time(details), UINT64_MAX);
    CHECK_TEXT(own_before(9000000000), "");
    joined_details_expect_begin(details, &call);
    CHECK_TEXT(own_before(0), "<1@5000000000");
    CHECK_TEXT(own_before(0), "2>@5000000005");
    CHECK_TEXT(own_before(0), "");
    CHECK_TEXT(arguments_of(0x401200, 0x401120, 0, 2000, CALL_GUESSED), "3");
    joined_details_expect_end(details, &call);
    CHECK_TEXT(own_before(0), "<4@5000000020");
    CHECK_TEXT(own_before(0), "5>@5000000025");
    CHECK_TEXT(own_before(0), "");
    CHECK(end_of(0, 2100, CALL_GUESSED).is_known);
    CHECK_TEXT(bytes, "6");
    /* There are no more events. */
    CHECK_TEXT(own_before(UINT64_MAX), "<7@6000000000");
    CHECK_TEXT(own_before(UINT64_MAX), "");
    end();
}

/* The records of calls whose events were lost are not those of the calls that follow. */
static void lost_events_take_their_records_along(void)
{
    struct detailed_call told = {0x401200, 0x401125, 2010, 0};
    struct trace_bytes records = {.size_bytes = 0};
    struct view_call call = {.function = 0x401200, .site = 0x401120, .begin = 3000, .flags = CALL_GUESSED};

    for (int32_t i = 0; i < 10; i++, told.time += 200) {
        detailed_calls_enter(&records, &told, i);
        detailed_calls_leave(&records, &told, told.time + 5, i);
    }
    times_are_guesses = true;
    begin(&records);
    times_are_guesses = false;
    CHECK_TEXT(arguments_of(0x401200, 0x401120, 0, 2000, CALL_GUESSED), "0");
    CHECK(end_of(0, 2100, CALL_GUESSED).is_known);
    joined_details_lose(details);
    joined_details_expect_begin(details, &call);
    CHECK_TEXT(own_before(0), "<1@2210");
    CHECK_TEXT(own_before(0), "1>@2215");
    while (own_before(0)[0] != '\0')
        ;
    CHECK_TEXT(arguments_of(0x401200, 0x401120, 0, 3000, CALL_GUESSED), "5");
    end();
}

/* Each record is a chunk, and something is missing before all but the first. */
static void what_is_open_where_records_are_missing_is_cut(void)
{
    const struct detailed_call own = {0x409000, 0x777777, 2010, 0}, told = {0x401200, 0x401125, 2110, 0};
    struct view_call call = {.function = 0x401200, .site = 0x401120, .begin = 2100};
    struct trace_bytes records = {.size_bytes = 0};
    struct detail_text text;

    detailed_calls_enter(&records, &own, 1);
    detailed_calls_enter(&records, &told, 2);
    lost_between = 8;
    begin(&records);
    lost_between = 0;
    CHECK_TEXT(own_before(2100), "<1@2010");
    joined_details_expect_begin(details, &call);
    CHECK_TEXT(own_before(0), "...>@2100");
    CHECK_TEXT(own_before(0), "");
    detail_text_init(&text, bytes, sizeof(bytes));
    CHECK(joined_details_begin(details, &call, &text).is_unsure);
    CHECK_TEXT(bytes, "2");
    end();
}

static void a_thread_without_records_has_no_details(void)
{
    begin(NULL);
    CHECK(details == NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_get_their_arguments_and_results),
    CHECK_CASE(a_record_from_another_time_is_not_the_calls),
    CHECK_CASE(a_record_that_had_to_wait_is_the_calls),
    CHECK_CASE(the_end_of_an_open_call_is_not_passed_over),
    CHECK_CASE(a_call_that_was_cut_has_no_result),
    CHECK_CASE(calls_without_events_are_told_by_their_records),
    CHECK_CASE(where_times_are_guesses_the_order_counts),
    CHECK_CASE(lost_events_take_their_records_along),
    CHECK_CASE(what_is_open_where_records_are_missing_is_cut),
    CHECK_CASE(a_thread_without_records_has_no_details),
};

CHECK_MAIN(cases)
