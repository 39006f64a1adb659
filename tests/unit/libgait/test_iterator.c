/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* What transformers can leave out and put in, and that the program notices nothing else. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/followed_call.h"
#include "support/transformed_code.h"

static void what_is_kept_runs_as_it_is(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(transformed_keep, 0, 0), 7);
    CHECK_EQUAL(transformed.transforms, 1);
}

static void keep_often(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_keep(iterator);
    gait_iterator_keep(iterator);
    gait_iterator_keep(iterator);
}

static void an_instruction_that_is_kept_twice_runs_once(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(keep_often, 0, 0), 7);
}

static void what_is_not_kept_is_left_out(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(transformed_drop_second, 0, 0), 5);
}

static void replace_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(5))
        gait_iterator_put_code(iterator, "\x83\xc0\x20", 3); /* add eax, 32 */
    else
        gait_iterator_keep(iterator);
}

static void code_can_stand_in_for_an_instruction(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(replace_second, 0, 0), 37);
}

/* ---- calls and jumps --------------------------------------------------------------------------------------------- */

static void a_call_can_be_skipped(void)
{
    transformed_write_call();
    CHECK_EQUAL(transformed_run(transformed_keep, 0, 0), 106);
    CHECK_EQUAL(transformed_run(transformed_skip_call, 0, 0), 6);
}

static void replace_call(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow == GAIT_FLOW_CALL)
        gait_iterator_put_callout(iterator, transformed_add_thousand, NULL, GAIT_CALLOUT_ANY);
    else
        gait_iterator_keep(iterator);
}

static void a_callout_can_stand_in_for_a_call(void)
{
    transformed_write_call();
    CHECK_EQUAL(transformed_run(replace_call, 0, 0), 1006);
}

static void a_callout_and_a_return_can_stand_in_for_a_tail_jump(void)
{
    transformed_write_tail_jump();
    CHECK_EQUAL(transformed_run(transformed_keep, 0, 0), 106);
    CHECK_EQUAL(transformed_run(transformed_replace_tail_jump, 0, 0), 1006);
}

static void return_at_once(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(32))
        gait_iterator_put_return(iterator);
    gait_iterator_keep(iterator);
}

static void a_function_can_return_at_once(void)
{
    transformed_write_call();
    CHECK_EQUAL(transformed_run(return_at_once, 0, 0), 6);
}

/* ---- odd transformers -------------------------------------------------------------------------------------------- */

static void drop_branch(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->flow == GAIT_FLOW_NEXT || instruction->flow == GAIT_FLOW_RETURN)
        gait_iterator_keep(iterator);
}

/* test edi, edi; jnz 16; mov eax, 1; ret; 16: mov eax, 2; ret */
static void write_branch(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\x85\xff\x75\x0c\xb8\x01\x00\x00\x00\xc3");
    memcpy(transformed.page.bytes + 16, "\xb8\x02\x00\x00\x00\xc3", 6);
}

static void a_block_whose_end_is_dropped_goes_on(void)
{
    write_branch();
    CHECK_EQUAL(transformed_run(transformed_keep, 1, 0), 2);
    CHECK_EQUAL(transformed_run(drop_branch, 1, 0), 1);
    CHECK_EQUAL(transformed_run(drop_branch, 0, 0), 1);
}

static void transform_nothing(void *context, struct gait_iterator *iterator)
{
    (void)iterator;
    (*(uint64_t *)context)++;
}

static void a_transformer_that_visits_nothing_changes_nothing(void)
{
    uint64_t count = 0;
    const struct gait_transformer lazy = {transform_nothing, &count};

    transformed_write_call();
    CHECK_EQUAL(transformed_run_with(&lazy, 0, NULL, 0, 0), 106);
    CHECK(count > 3);
}

static void transform_one(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    gait_iterator_next(iterator, &instruction);
    gait_iterator_keep(iterator);
    if (transformed_holds(instruction.address))
        (*(uint64_t *)context)++;
}

static void a_transformer_that_stops_early_gets_the_rest_as_another_block(void)
{
    uint64_t count = 0;
    const struct gait_transformer hasty = {transform_one, &count};

    transformed_write_sum();
    CHECK_EQUAL(transformed_run_with(&hasty, 0, NULL, 0, 0), 7);
    CHECK_EQUAL(count, 4);
}

static void transform_without_keeping(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    (void)context;
    gait_iterator_keep(iterator); /* of nothing */
    gait_iterator_next(iterator, &instruction);
    if (instruction.address != transformed_at(5))
        gait_iterator_keep(iterator);
}

static void a_block_of_nothing_but_a_dropped_instruction_goes_on(void)
{
    const struct gait_transformer dropping = {transform_without_keeping, NULL};

    transformed_write_sum();
    CHECK_EQUAL(transformed_run_with(&dropping, 0, NULL, 0, 0), 5);
}

static void put_much(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    static const uint8_t inc_edx[] = {0xff, 0xc2};

    (void)instruction;
    for (int i = 0; i < 1500; i++)
        gait_iterator_put_code(iterator, inc_edx, sizeof(inc_edx));
    gait_iterator_keep(iterator);
}

/* Of 3000 bytes each, a handful of instructions fits into a block. */
static void a_transformer_that_puts_much_gets_shorter_blocks(void)
{
    transformed_write_two_hundred();
    CHECK_EQUAL(transformed_run(put_much, 0, 0), 1500 * 201);
    CHECK(transformed.transforms > 40);
}

static void put_too_much(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    static uint8_t nops[40000];

    memset(nops, 0x90, sizeof(nops));
    gait_iterator_put_code(iterator, nops, sizeof(nops));
    (void)instruction;
    gait_iterator_keep(iterator);
}

static void more_than_any_block_can_hold_does_no_harm(void)
{
    transformed_write_sum();
    transformed.visit = put_too_much;
    struct gait_follow_options options = followed_options();
    uint64_t value = 0;

    options.transformer = &transformed_transformer;
    transformed.stalker = followed_call_stalker();
    if (gait_stalker_follow_me(transformed.stalker, &options, NULL) == 0)
        value = native_call(transformed_at(0), 0, 0);
    CHECK_EQUAL(value, 7);
    gait_stalker_unfollow_me(transformed.stalker, NULL); /* or it left by itself */
    CHECK(!gait_stalker_is_following_me(transformed.stalker));
    gait_stalker_destroy(transformed.stalker);
}

static void put_nothing(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_put_callout(iterator, NULL, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_put_code(iterator, NULL, 4);
    gait_iterator_put_code(iterator, "", 0);
    gait_iterator_put_count(iterator, NULL);
    gait_iterator_keep(iterator);
}

static void what_is_not_there_is_not_put(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(put_nothing, 0, 0), 7);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_kept_runs_as_it_is),
    CHECK_CASE(an_instruction_that_is_kept_twice_runs_once),
    CHECK_CASE(what_is_not_kept_is_left_out),
    CHECK_CASE(code_can_stand_in_for_an_instruction),
    CHECK_CASE(a_call_can_be_skipped),
    CHECK_CASE(a_callout_can_stand_in_for_a_call),
    CHECK_CASE(a_callout_and_a_return_can_stand_in_for_a_tail_jump),
    CHECK_CASE(a_function_can_return_at_once),
    CHECK_CASE(a_block_whose_end_is_dropped_goes_on),
    CHECK_CASE(a_transformer_that_visits_nothing_changes_nothing),
    CHECK_CASE(a_transformer_that_stops_early_gets_the_rest_as_another_block),
    CHECK_CASE(a_block_of_nothing_but_a_dropped_instruction_goes_on),
    CHECK_CASE(a_transformer_that_puts_much_gets_shorter_blocks),
    CHECK_CASE(more_than_any_block_can_hold_does_no_harm),
    CHECK_CASE(what_is_not_there_is_not_put),
};

int main(void)
{
    transformed_code_init();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
