/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Counters that transformers put. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"
#include "support/transformed_code.h"

static uint64_t far_counter;
static uint64_t *near_counter;

static void count_at_each(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (near_counter == NULL)
        near_counter = gait_iterator_new_counter(iterator);
    if (instruction->address % 2 == 0)
        gait_iterator_put_count(iterator, near_counter);
    else
        gait_iterator_put_count(iterator, &far_counter);
    gait_iterator_keep(iterator);
}

static void counters_count_exactly(void)
{
    struct gait_follow_options options = followed_options();

    transformed_write_long_block();
    transformed.stalker = followed_call_stalker();
    options.transformer = &transformed_transformer;
    transformed.visit = count_at_each;
    near_counter = NULL;
    far_counter = 0;
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_EQUAL(followed_call(transformed.stalker, &options, transformed_at(0), i, 0), 1500 + i);
        CHECK_EQUAL(*near_counter + far_counter, i * 1502);
        CHECK(far_counter > i * 700 && *near_counter > i * 700);
    }
    gait_stalker_destroy(transformed.stalker);
}

/* Pushes flags between instructions that do and do not change them: counting must not show in them. */
static void counters_leave_flags_and_registers_alone(void)
{
    static const char mixed[] =
        "\x31\xc0\x9c\x83\xc0\x7f\x9c\xf9\x9c\x48\xff\xc0\x9c\xf8\x13\xc7\x9c\xd1\xe8\x9c\x90\x9c"
        "\x59\x48\x01\xc8\x5a\x48\x31\xd0\x59\x48\x01\xc8\x5a\x48\x31\xd0\x59\x48\x01\xc8\x5a"
        "\x48\x31\xd0\x59\x48\x01\xc8\xc3";
    uint64_t native;

    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, mixed);
    native = native_call(transformed_at(0), 3, 0);
    near_counter = NULL;
    CHECK_EQUAL(transformed_run(count_at_each, 3, 0), native);
    near_counter = NULL;
}

static void count_often(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    for (int i = 0; i < 50; i++)
        gait_iterator_put_count(iterator, &far_counter);
    gait_iterator_keep(iterator);
}

static void an_instruction_can_be_counted_often(void)
{
    transformed_write_two_hundred();
    far_counter = 0;
    transformed_run(count_often, 0, 0);
    CHECK_EQUAL(far_counter, 50 * 203);
}

static void count_then_drop(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    gait_iterator_put_count(iterator, &far_counter);
    if (instruction->address != transformed_at(5) && instruction->flow != GAIT_FLOW_CALL)
        gait_iterator_keep(iterator);
}

static void counts_of_dropped_instructions_count(void)
{
    transformed_write_call();
    far_counter = 0;
    CHECK_EQUAL(transformed_run(count_then_drop, 0, 0), 6);
    CHECK_EQUAL(far_counter, 4);
}

/* Slabs come and go with the code in them, counters stay. */
static void counters_outlive_the_code_that_counts(void)
{
    struct gait_follow_options options = followed_options();

    transformed_write_two_hundred();
    transformed.stalker = followed_call_stalker();
    options.transformer = &transformed_transformer;
    transformed.visit = count_at_each;
    near_counter = NULL;
    far_counter = 0;
    followed_call(transformed.stalker, &options, transformed_at(0), 0, 0);
    CHECK_EQUAL(gait_stalker_follow_me(transformed.stalker, &options, NULL), 0);
    CHECK_EQUAL(gait_stalker_invalidate(transformed.stalker, 0, UINT64_MAX, NULL), 0);
    for (int i = 0; i < 3; i++)
        gait_stalker_collect(transformed.stalker);
    CHECK_EQUAL(*near_counter + far_counter, 203);
    CHECK_EQUAL(gait_stalker_unfollow_me(transformed.stalker, NULL), 0);
    gait_stalker_destroy(transformed.stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(counters_count_exactly),
    CHECK_CASE(counters_leave_flags_and_registers_alone),
    CHECK_CASE(an_instruction_can_be_counted_often),
    CHECK_CASE(counts_of_dropped_instructions_count),
    CHECK_CASE(counters_outlive_the_code_that_counts),
};

int main(void)
{
    transformed_code_init();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
