/* SPDX-License-Identifier: MIT */
#include "view/replay.h"

#include "support/check.h"
#include "support/detailed_calls.h"
#include "support/hooked_calls.h"
#include "support/long_calls.h"
#include "view/call_tracker.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static char text[4096];
static const size_t both[] = {0, 1};

/* "thread:level name{", "}name/ticks", "name/ticks;" with flags and values. */
static int note(void *context, const struct replay_row *row)
{
    const char *name = "";
    char part[256];

    (void)context;
    if (row->kind == REPLAY_OPEN || row->kind == REPLAY_CLOSE || row->kind == REPLAY_LEAF)
        name = strstr(view_functions_at(&functions, row->function)->name, "0x") + 2;
    snprintf(part, sizeof(part), "%zu:%u ", row->thread, row->level);
    strcat(text, part);
    if (row->kind == REPLAY_THREAD)
        snprintf(part, sizeof(part), "thread, ");
    else if (row->kind == REPLAY_GAP)
        snprintf(part, sizeof(part), "gap %" PRIu64 ", ", row->lost_bytes);
    else if (row->kind == REPLAY_OPEN)
        snprintf(part, sizeof(part), "%s(%s){, ", name, row->arguments == NULL ? "" : row->arguments);
    else
        snprintf(part, sizeof(part), "%s%s%s%s%s%s%s/%" PRIu64 "%s%s, ", row->kind == REPLAY_CLOSE ? "}" : "", name,
                 row->kind == REPLAY_LEAF ? "(" : "", row->arguments == NULL ? "" : row->arguments,
                 row->kind == REPLAY_LEAF ? ")" : "", row->result == NULL ? "" : "=",
                 row->result == NULL ? "" : row->result, row->ticks, row->flags & CALL_CUT ? " cut" : "",
                 row->flags & CALL_UNWOUND ? " unwound" : "");
    strcat(text, part);
    return 0;
}

static const char *replayed(const struct replay_options *options)
{
    struct replay_options all = *options;

    if (all.to == 0)
        all.to = UINT64_MAX;
    text[0] = '\0';
    CHECK_EQUAL(replay_read(&functions, &all, &(struct replay_receiver){note, NULL}, NULL), 0);
    return text;
}

static void begin(const char *first, const char *second)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    if (first != NULL)
        hooked_calls_put(&folder, 100, first);
    if (second != NULL)
        hooked_calls_put(&folder, 101, second);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
}

static void end(void)
{
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

#define NESTED "<0@2000 <1@2010 <2@2020 >2@2025 >1@2040 <2@2050 !2@2060 >0@2100 <1@2110"

static void calls_are_told_within_their_callers(void)
{
    begin(NESTED, NULL);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1}),
               "0:0 1000(){, 0:1 1100(){, 0:2 1200()/5, 0:1 }1100/30, 0:1 1200()/10 unwound, 0:0 }1000/100, "
               "0:0 1100()/0 cut, ");
    end();
}

static void threads_are_told_by_time_or_one_by_one(void)
{
    begin("<0@2000 <1@2010 >1@2020 >0@2100", "<2@2015 >2@2030 <1@2040 >1@2041");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 2}),
               "0:0 1000(){, 0:1 1100(){, 1:0 1200(){, 0:1 }1100/10, 1:0 }1200/15, 1:0 1100()/1, 0:0 }1000/100, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 2, .by_thread = true}),
               "0:0 thread, 0:0 1000(){, 0:1 1100()/10, 0:0 }1000/100, 1:0 thread, 1:0 1200()/15, 1:0 1100()/1, ");
    end();
}

static void only_what_was_asked_for_is_told(void)
{
    static const char *const patterns[] = {"*0x1100"};
    struct function_choice choice;

    begin(NESTED, NULL);
    function_choice_init(&choice, &functions, patterns, 1);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .choice = &choice}),
               "0:0 1100(){, 0:1 1200()/5, 0:0 }1100/30, 0:0 1100()/0 cut, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .choice = &choice, .depth = 1}),
               "0:0 1100()/30, 0:0 1100()/0 cut, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .depth = 2}),
               "0:0 1000(){, 0:1 1100()/30, 0:1 1200()/10 unwound, 0:0 }1000/100, 0:0 1100()/0 cut, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .min_ticks = 30}),
               "0:0 1000(){, 0:1 1100()/30, 0:0 }1000/100, ");
    function_choice_deinit(&choice);
    end();
}

static void calls_that_are_open_at_a_time_are_part_of_it(void)
{
    begin(NESTED, NULL);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .from = 2022, .to = 2045}),
               "0:0 1000(){, 0:1 1100(){, 0:2 1200()/5, 0:1 }1100/30, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .from = 2045, .to = 2100}),
               "0:0 1000(){, 0:1 1200()/10 unwound, 0:0 }1000/100, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .from = 2105}),
               "0:0 1100()/0 cut, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .to = 2005}), "0:0 1000(){, ");
    end();
}

static void put_details(const struct trace_bytes *records)
{
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    detailed_calls_put(&folder, 100, records, 0);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
}

/* What came before is not read, and makes no difference. */
static void beginning_in_the_middle_is_the_same_as_passing_over_the_rest(void)
{
    static char whole[sizeof(text)];
    struct replay_options options = {
        .threads = both, .thread_count = 1, .from = LONG_CALLS_TIME(3) - 200, .to = LONG_CALLS_TIME(3) + 200};
    struct trace_bytes nothing = {.size_bytes = 0};

    begin(NULL, NULL);
    long_calls_put(&folder, 100, 0);
    strcpy(whole, replayed(&options));
    CHECK(strncmp(whole, "0:0 1000(){, 0:1 1100(){, 0:2 1200()/16", 39) == 0);
    /* With details all is read. */
    put_details(&nothing);
    CHECK_TEXT(replayed(&options), whole);
    end();
}

static void losses_are_told_where_they_are(void)
{
    begin(NULL, NULL);
    CHECK(strncmp(replayed(&(struct replay_options){.threads = both + 1, .thread_count = 1}),
                  "1:0 1100()/50, 1:0 gap 72, 1:0 1100()/50, ", 38) == 0);
    end();
}

/* Their times are exact, whatever those of the calls are. */
static void values_are_told_where_they_were_captured(void)
{
    struct detailed_call call = {0x401100, 0x401008, 2005, 0};
    struct trace_bytes records = {.size_bytes = 0};

    begin(NULL, NULL);
    for (int32_t i = 0; i < 3; i++, call.time += 100) {
        detailed_calls_enter(&records, &call, i);
        detailed_calls_leave(&records, &call, call.time + 46, 10 * i);
    }
    put_details(&records);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1}),
               "0:0 1100(0)=0/46, 0:0 1100(1)=10/46, 0:0 1100(2)=20/46, 0:0 1100()/50, 0:0 1100()/50, ");
    end();
}

/* 0x401200 has no events: it was not hooked to be recorded. */
static void calls_that_have_details_only_are_told_where_they_were(void)
{
    const struct detailed_call inner = {0x401200, 0, 2015, 0}, between = {0x401200, 0, 2050, 0},
                               behind = {0x401200, 0, 2200, 0}, cut = {0x401200, 0, 2300, 0};
    struct trace_bytes records = {.size_bytes = 0};

    begin("<0@2000 <1@2010 >1@2040 >0@2100", "<1@2052 >1@2053");
    detailed_calls_enter(&records, &inner, 1);
    detailed_calls_leave(&records, &inner, 2020, 2);
    detailed_calls_enter(&records, &between, 3);
    detailed_calls_unwind(&records, &between, 2060);
    detailed_calls_enter(&records, &behind, 4);
    detailed_calls_leave(&records, &behind, 2201, 5);
    detailed_calls_enter(&records, &cut, 6);
    put_details(&records);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 2}),
               "0:0 1000(){, 0:1 1100(){, 0:2 1200(1)=2/5, 0:1 }1100/30, 0:1 1200(3){, 1:0 1100()/1, "
               "0:1 }1200/10 unwound, 0:0 }1000/100, 0:0 1200(4)=5/1, 0:0 1200(6)/0 cut, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .depth = 2, .to = 2150}),
               "0:0 1000(){, 0:1 1100()/30, 0:1 1200(3)/10 unwound, 0:0 }1000/100, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1, .from = 2055, .to = 2150}),
               "0:0 1000(){, 0:1 1200(3)/10 unwound, 0:0 }1000/100, ");
    end();
}

/* Its end is missing; who called it goes on, and ends. */
static void calls_end_with_their_callers_at_the_latest(void)
{
    const struct detailed_call inner = {0x401200, 0, 2015, 0};
    struct trace_bytes records = {.size_bytes = 0};

    begin("<0@2000 <1@2010 >1@2040 >0@2100", NULL);
    detailed_calls_enter(&records, &inner, 1);
    put_details(&records);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = both, .thread_count = 1}),
               "0:0 1000(){, 0:1 1100(){, 0:2 1200(1)/25, 0:1 }1100/30, 0:0 }1000/100, ");
    end();
}

static void what_cannot_be_read_is_explained(void)
{
    struct replay_options options = {.threads = both, .thread_count = 2, .to = UINT64_MAX, .by_thread = true};
    struct gait_error err = {.code = 0};

    begin(NULL, "<2@2015 >2@2030");
    trace_folder_write(&folder, "100/100.1.index.gait", "?", 1);
    for (unsigned i = 0; i < 2; i++) {
        text[0] = '\0';
        CHECK(replay_read(&functions, &options, &(struct replay_receiver){note, NULL}, &err) < 0);
        CHECK(strstr(err.text, "100.1.index.gait") != NULL);
        CHECK(strstr(text, "1:0 1200()/15, ") != NULL);
        options.by_thread = false;
    }
    end();
}

/* They are behind those with events, and told by time as well. */
static void threads_with_nothing_but_details_are_told(void)
{
    static const size_t silent[] = {2, 3};
    struct detailed_call early = {0x401000, 0x401008, 2005, 0}, inner = {0x401100, 0x401008, 2010, 1};
    struct detailed_call other = {0x401200, 0x401008, 2007, 0};
    struct trace_bytes first = {.size_bytes = 0}, second = {.size_bytes = 0};

    begin(NULL, NULL);
    detailed_calls_enter(&first, &early, 1);
    detailed_calls_enter(&first, &inner, 2);
    detailed_calls_leave(&first, &inner, 2020, 3);
    detailed_calls_leave(&first, &early, 2040, 4);
    detailed_calls_put(&folder, 103, &first, 0);
    detailed_calls_enter(&second, &other, 5);
    detailed_calls_leave(&second, &other, 2030, 6);
    detailed_calls_put(&folder, 104, &second, 0);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(trace.thread_count, 2);
    CHECK_EQUAL(trace.silent_count, 2);
    CHECK_TEXT(replayed(&(struct replay_options){.threads = silent, .thread_count = 2}),
               "2:0 1000(1){, 3:0 1200(5){, 2:1 1100(2)=3/10, 3:0 }1200=6/23, 2:0 }1000=4/35, ");
    CHECK_TEXT(replayed(&(struct replay_options){.threads = silent, .thread_count = 2, .by_thread = true}),
               "2:0 thread, 2:0 1000(1){, 2:1 1100(2)=3/10, 2:0 }1000=4/35, 3:0 thread, 3:0 1200(5)=6/23, ");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_told_within_their_callers),
    CHECK_CASE(threads_are_told_by_time_or_one_by_one),
    CHECK_CASE(only_what_was_asked_for_is_told),
    CHECK_CASE(calls_that_are_open_at_a_time_are_part_of_it),
    CHECK_CASE(beginning_in_the_middle_is_the_same_as_passing_over_the_rest),
    CHECK_CASE(losses_are_told_where_they_are),
    CHECK_CASE(values_are_told_where_they_were_captured),
    CHECK_CASE(calls_that_have_details_only_are_told_where_they_were),
    CHECK_CASE(calls_end_with_their_callers_at_the_latest),
    CHECK_CASE(threads_with_nothing_but_details_are_told),
    CHECK_CASE(what_cannot_be_read_is_explained),
};

CHECK_MAIN(cases)
