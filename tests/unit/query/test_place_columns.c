/* SPDX-License-Identifier: MIT */
#include "query/place_columns.h"

#include "support/check.h"
#include "support/query_lab.h"

static struct query_lab lab;

static struct query_cursor cursor;

static void verdicts_are_made_once_for_each_function(void)
{
    struct place_verdicts verdicts;
    struct query_condition condition = {.column = PLACE_MODULE,
                                        .comparison = QUERY_EQUAL,
                                        .is_text = true,
                                        .count = 1,
                                        .texts = (char *[]){(char[]){"other"}}};
    uint32_t before, after;

    query_lab_init(&lab);
    cursor = (struct query_cursor){.source = &lab.source};
    before = query_source_number(&lab.source, 0, 0x401000, 2000);
    after = query_source_number(&lab.source, 0, 0x401000, 6000);
    place_verdicts_init(&verdicts, &cursor);
    CHECK(!verdicts.is_needed && place_takes_function(&verdicts, &cursor, before));
    cursor.filter = (struct query_filter){&condition, 1};
    place_verdicts_init(&verdicts, &cursor);
    CHECK(verdicts.is_needed);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(!place_takes_function(&verdicts, &cursor, before));
        CHECK(place_takes_function(&verdicts, &cursor, after));
    }
    place_verdicts_deinit(&verdicts);
    query_lab_deinit(&lab);
}

static void threads_are_judged_by_their_numbers_and_name(void)
{
    struct query_range range = {201, 201};
    struct query_condition condition = {.column = PLACE_TID, .comparison = QUERY_EQUAL, .count = 1, .ranges = &range};
    struct place_thread threads[2];

    query_lab_init(&lab);
    cursor = (struct query_cursor){.source = &lab.source, .filter = {&condition, 1}};
    threads[0] = place_of_thread(&lab.trace, 0);
    threads[1] = place_of_thread(&lab.trace, 1);
    CHECK_TEXT(threads[1].name, "helper");
    CHECK(!place_takes_thread(&cursor, &threads[0]) && place_takes_thread(&cursor, &threads[1]));
    condition.column = PLACE_THREAD_ID;
    range = (struct query_range){0, 0};
    CHECK(place_takes_thread(&cursor, &threads[0]) && !place_takes_thread(&cursor, &threads[1]));
    query_lab_deinit(&lab);
}

static void functions_are_needed_for_what_is_theirs(void)
{
    cursor = (struct query_cursor){.wish = {.columns = 1u << PLACE_TID | 1u << PLACE_COLUMNS}};
    CHECK(!place_needs_function(&cursor));
    cursor.wish.columns = 1u << PLACE_MODULE;
    CHECK(place_needs_function(&cursor));
}

static const struct check_case cases[] = {
    CHECK_CASE(verdicts_are_made_once_for_each_function),
    CHECK_CASE(threads_are_judged_by_their_numbers_and_name),
    CHECK_CASE(functions_are_needed_for_what_is_theirs),
};

CHECK_MAIN(cases)
