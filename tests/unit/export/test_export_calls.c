/* SPDX-License-Identifier: MIT */
#include "export/export_calls.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <errno.h>

static struct export_lab lab;
static char told[2048];
static int enough; /* after so many things no more are wanted; 0: all are */

static int note(const char *text)
{
    strcat(strcat(told, told[0] == '\0' ? "" : " "), text);
    return enough != 0 && --enough == 0 ? 7 : 0;
}

/* "<0a1000": function a begins at 1000, none is open around it. */
static int begin(void *context, const struct export_call *call)
{
    char text[64];

    (void)context;
    snprintf(text, sizeof(text), "<%u%c%" PRIu64, call->depth, 'a' + (int)call->function, call->begin_ns);
    return note(text);
}

/* "a2000-300!2>": it ends at 2000, of which 300 were spent in others, with flags 2. */
static int end(void *context, const struct export_call *call)
{
    char text[64];

    (void)context;
    snprintf(text, sizeof(text), "%c%" PRIu64 "-%" PRIu64, 'a' + (int)call->function, call->end_ns, call->inner_ns);
    if (call->flags != 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "!%u", call->flags);
    return note(strcat(text, ">"));
}

static int gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    char text[64];

    (void)context;
    snprintf(text, sizeof(text), "%zu?%" PRIu64 "@%" PRIu64, thread, lost_bytes, time_ns);
    return note(text);
}

static const struct export_receiver receiver = {begin, end, gap, NULL};

static const char *read_range(uint64_t from_ns, uint64_t to_ns)
{
    told[0] = '\0';
    lab.job.from_ns = from_ns;
    lab.job.to_ns = to_ns;
    CHECK_EQUAL(export_calls_read(&lab.job, EXPORT_LAB_HOOKED, &receiver, &lab.err), 0);
    return told;
}

#define CUT "2" /* CALL_CUT, as told */

static void calls_have_numbers_and_nanoseconds(void)
{
    export_lab_init(&lab);
    CHECK_TEXT(read_range(0, UINT64_MAX), "<0a1000 <1b1100 <2c1150 c1250-0> b1300-100> <1b1400 b1500-0!4> a2000-300> "
                                          "<0a2100 <1b2200 b2200-0!2> a2200-0!2>");
    export_lab_deinit(&lab);
}

static void calls_that_are_open_at_the_beginning_of_a_range_begin_there(void)
{
    export_lab_init(&lab);
    CHECK_TEXT(read_range(1200, 1450),
               "<0a1200 <1b1200 <2c1200 c1250-0> b1300-50> <1b1400 b1450-0!" CUT "> a1450-150!" CUT ">");
    CHECK_TEXT(read_range(1300, 1350), "<0a1300 a1350-0!" CUT ">");
    export_lab_deinit(&lab);
}

static void a_call_that_lasts_longer_than_the_range_fills_it(void)
{
    export_lab_init(&lab);
    CHECK_TEXT(read_range(1600, 1700), "<0a1600 a1700-0!" CUT ">");
    CHECK_TEXT(read_range(1160, 1170), "<0a1160 <1b1160 <2c1160 c1170-0!" CUT "> b1170-10!" CUT "> a1170-10!" CUT ">");
    export_lab_deinit(&lab);
}

static void what_only_touches_the_range_is_not_told(void)
{
    export_lab_init(&lab);
    CHECK_TEXT(read_range(2000, 2100), "");
    CHECK_TEXT(read_range(0, 1000), "");
    CHECK_TEXT(read_range(5000, UINT64_MAX), "");
    export_lab_deinit(&lab);
}

static void gaps_are_told_in_the_range_only(void)
{
    export_lab_init(&lab);
    lab.job.from_ns = 1100;
    lab.job.to_ns = 1250;
    told[0] = '\0';
    CHECK_EQUAL(export_calls_read(&lab.job, 1, &receiver, &lab.err), 0);
    CHECK_TEXT(told, "<0a1100 a1150-0> 1?72@1150 <0a1200 a1250-0>");
    export_lab_deinit(&lab);
}

static void who_has_enough_gets_its_own_result(void)
{
    export_lab_init(&lab);
    told[0] = '\0';
    enough = 3;
    CHECK_EQUAL(export_calls_read_all(&lab.job, &receiver, &lab.err), 7);
    CHECK_TEXT(told, "<0a1000 a1050-0> <0a1100");
    export_lab_deinit(&lab);
}

static void the_others_are_told_when_one_cannot_be_read(void)
{
    export_lab_init(&lab);
    trace_folder_write(&lab.folder, "100/100.1.index.gait", "?", 1);
    told[0] = '\0';
    CHECK(export_calls_read_all(&lab.job, &receiver, &lab.err) < 0);
    CHECK(strstr(lab.err.text, "100.1.index.gait") != NULL);
    CHECK(strstr(told, "1?72@1050") != NULL);
    CHECK(strstr(told, "b2000-300>") != NULL);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_have_numbers_and_nanoseconds),
    CHECK_CASE(calls_that_are_open_at_the_beginning_of_a_range_begin_there),
    CHECK_CASE(a_call_that_lasts_longer_than_the_range_fills_it),
    CHECK_CASE(what_only_touches_the_range_is_not_told),
    CHECK_CASE(gaps_are_told_in_the_range_only),
    CHECK_CASE(who_has_enough_gets_its_own_result),
    CHECK_CASE(the_others_are_told_when_one_cannot_be_read),
};

CHECK_MAIN(cases)
