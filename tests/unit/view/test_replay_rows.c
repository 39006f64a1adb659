/* SPDX-License-Identifier: MIT */
#include "view/replay_rows.h"

#include "support/check.h"
#include "view/call_tracker.h"

#include <errno.h>

static char text[1024];
static unsigned enough;

/* "f{" opens, "}f" closes, "f;" is a leaf, "!" a gap. */
static int note(void *context, const struct replay_row *row)
{
    static const char *const shapes[] = {
        [REPLAY_THREAD] = "thread ", [REPLAY_OPEN] = "%u{ ", [REPLAY_CLOSE] = "}%u ",
        [REPLAY_LEAF] = "%u; ",      [REPLAY_GAP] = "! ",
    };
    char part[64];

    (void)context;
    snprintf(part, sizeof(part), shapes[row->kind], row->function);
    strcat(text, part);
    if (row->arguments != NULL)
        strcat(strcat(text, row->arguments), " ");
    if (row->result != NULL)
        strcat(strcat(text, row->result), " ");
    return --enough == 0 ? 7 : 0;
}

static struct replay_rows rows;

static void start(uint64_t min_ticks)
{
    text[0] = '\0';
    enough = 1000;
    replay_rows_init(&rows, &(struct replay_receiver){note, NULL}, min_ticks);
}

static struct replay_ticket begin(uint32_t function, uint64_t time)
{
    return replay_rows_begin(&rows, &(struct replay_row){.function = function, .time = time});
}

static void end(struct replay_ticket ticket, uint32_t function, uint64_t begun, uint64_t time)
{
    replay_rows_end(&rows, ticket, &(struct replay_row){.function = function, .time = time, .ticks = time - begun});
}

static void a_call_without_others_in_it_is_one_row(void)
{
    struct replay_ticket outer, inner;

    start(0);
    outer = begin(1, 10);
    CHECK_TEXT(text, "");
    inner = begin(2, 20);
    CHECK_TEXT(text, "1{ ");
    end(inner, 2, 20, 30);
    CHECK_TEXT(text, "1{ 2; ");
    inner = begin(3, 40);
    end(inner, 3, 40, 50);
    end(outer, 1, 10, 60);
    CHECK_TEXT(text, "1{ 2; 3; }1 ");
    CHECK_EQUAL(replay_rows_finish(&rows, 60), 0);
    CHECK(rows.first == NULL && rows.last == NULL);
    replay_rows_deinit(&rows);
}

static void what_has_no_duration_is_not_compared_with_one(void)
{
    struct replay_ticket unknown, brief;

    start(1000);
    unknown = begin(1, 10);
    replay_rows_end(&rows, unknown, &(struct replay_row){.function = 1, .time = 10, .flags = CALL_ENTRY_ONLY});
    brief = begin(2, 20);
    end(brief, 2, 20, 30);
    CHECK_EQUAL(replay_rows_finish(&rows, 60), 0);
    CHECK_TEXT(text, "1; ");
    replay_rows_deinit(&rows);
}

/* Of another thread, say. */
static void whatever_comes_in_between_makes_it_two(void)
{
    struct replay_ticket first, second;

    start(0);
    first = begin(1, 10);
    second = begin(2, 20);
    end(first, 1, 10, 30);
    CHECK_TEXT(text, "1{ 2{ }1 ");
    replay_rows_put(&rows, &(struct replay_row){.kind = REPLAY_GAP, .time = 35});
    end(second, 2, 20, 40);
    CHECK_TEXT(text, "1{ 2{ }1 ! }2 ");
    replay_rows_deinit(&rows);
}

static void calls_that_are_too_short_leave_no_trace(void)
{
    struct replay_ticket outer, inner, innermost;

    start(100);
    outer = begin(1, 1000);
    for (uint64_t i = 0; i < 3; i++) {
        inner = begin(2, 1010 + 10 * i);
        innermost = begin(3, 1011 + 10 * i);
        end(innermost, 3, 1011 + 10 * i, 1012 + 10 * i);
        end(inner, 2, 1010 + 10 * i, 1015 + 10 * i);
    }
    CHECK_TEXT(text, "");
    CHECK(rows.first == rows.last);
    end(outer, 1, 1000, 1100);
    CHECK_TEXT(text, "1; ");
    replay_rows_deinit(&rows);
}

/* As soon as they have lasted long enough they are told, although they have not ended. */
static void long_calls_are_held_back_no_longer_than_needed(void)
{
    struct replay_ticket outer, inner, other;

    start(100);
    outer = begin(1, 1000);
    inner = begin(2, 1050);
    other = begin(3, 1120);
    CHECK_TEXT(text, "");
    end(other, 3, 1120, 1130);
    other = begin(3, 1160);
    CHECK_TEXT(text, "1{ ");
    end(other, 3, 1160, 1170);
    end(inner, 2, 1050, 1180);
    CHECK_TEXT(text, "1{ 2; ");
    end(outer, 1, 1000, 1190);
    CHECK_TEXT(text, "1{ 2; }1 ");
    replay_rows_deinit(&rows);
}

/* Nobody knows how long they took. */
static void guesses_are_not_compared(void)
{
    struct replay_ticket guessed, measured;

    start(100);
    guessed = replay_rows_begin(&rows, &(struct replay_row){.function = 1, .time = 1000, .flags = CALL_GUESSED});
    measured = begin(2, 1002);
    end(measured, 2, 1002, 1003);
    replay_rows_end(&rows, guessed, &(struct replay_row){.function = 1, .time = 1005, .ticks = 5});
    CHECK_TEXT(text, "1; ");
    measured = begin(3, 1010);
    replay_rows_end(&rows, measured, &(struct replay_row){.time = 1011, .ticks = 1, .flags = CALL_GUESSED});
    CHECK_TEXT(text, "1; 3; ");
    replay_rows_deinit(&rows);
}

static void what_is_open_at_the_end_is_told(void)
{
    start(0);
    (void)begin(1, 10);
    (void)begin(2, 20);
    CHECK_EQUAL(replay_rows_finish(&rows, 30), 0);
    CHECK_TEXT(text, "1{ 2{ ");
    replay_rows_deinit(&rows);
    start(15);
    (void)begin(1, 10);
    (void)begin(2, 20);
    CHECK_EQUAL(replay_rows_finish(&rows, 30), 0);
    CHECK_TEXT(text, "1{ ");
    replay_rows_deinit(&rows);
}

static void texts_go_with_their_rows(void)
{
    struct replay_ticket ticket;

    start(0);
    ticket = replay_rows_begin(&rows, &(struct replay_row){.function = 1, .time = 1, .arguments = strdup("a=1")});
    replay_rows_end(&rows, ticket, &(struct replay_row){.function = 1, .time = 2, .result = strdup("=2")});
    CHECK_TEXT(text, "1; a=1 =2 ");
    (void)replay_rows_begin(&rows, &(struct replay_row){.function = 1, .time = 1, .arguments = strdup("b")});
    replay_rows_deinit(&rows);
}

static void who_has_enough_is_told_no_more(void)
{
    start(0);
    enough = 1;
    (void)begin(1, 10);
    (void)begin(2, 20);
    (void)begin(3, 30);
    CHECK_TEXT(text, "1{ ");
    CHECK_EQUAL(replay_rows_finish(&rows, 30), 7);
    CHECK_TEXT(text, "1{ ");
    replay_rows_deinit(&rows);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_call_without_others_in_it_is_one_row),
    CHECK_CASE(what_has_no_duration_is_not_compared_with_one),
    CHECK_CASE(whatever_comes_in_between_makes_it_two),
    CHECK_CASE(calls_that_are_too_short_leave_no_trace),
    CHECK_CASE(long_calls_are_held_back_no_longer_than_needed),
    CHECK_CASE(guesses_are_not_compared),
    CHECK_CASE(what_is_open_at_the_end_is_told),
    CHECK_CASE(texts_go_with_their_rows),
    CHECK_CASE(who_has_enough_is_told_no_more),
};

CHECK_MAIN(cases)
