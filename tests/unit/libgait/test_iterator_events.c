/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* The events of blocks that a transformer changed. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/event_list.h"
#include "support/transformed_code.h"

static struct event_list events;

static size_t events_of(transformed_visit *function, uint32_t kinds, uint64_t a)
{
    transformed.visit = function;
    event_list_clear(&events);
    transformed_run_with(&transformed_transformer, kinds, &events.sink, a, 0);
    event_list_filter(&events, kinds, transformed_at(0), code_page_end(&transformed.page));
    return events.count;
}

static void blocks_are_told_whatever_a_transformer_leaves_of_them(void)
{
    for (uint32_t more = 0; more <= (GAIT_EVENT_CALL | GAIT_EVENT_RET); more++) {
        transformed_write_call();
        events_of(transformed_keep, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 3);
        /* The block with the call goes on to the one behind it. */
        events_of(transformed_skip_call, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 2);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_CALL), 0);
        transformed_write_sum();
        events_of(transformed_drop_second, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 1);
        transformed_write_tail_jump();
        events_of(transformed_replace_tail_jump, GAIT_EVENT_BLOCK | more, 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_BLOCK), 3);
    }
}

static void drop_first(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != transformed_at(0))
        gait_iterator_keep(iterator);
}

static void a_block_whose_first_instruction_is_dropped_is_told(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page, "\x90\x89\xf8\xc3"); /* nop; mov eax, edi; ret */
    CHECK_EQUAL(events_of(drop_first, GAIT_EVENT_BLOCK, 0), 1);
}

static void drop_test(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address != transformed_at(3))
        gait_iterator_keep(iterator);
}

/* The buffer is looked at where flags are free: also when the instruction that frees them is left out. */
static void buffers_do_not_overflow_where_instructions_are_dropped(void)
{
    code_page_rewind(&transformed.page);
    CODE_PAGE_PUT(&transformed.page,
                  "\x89\xf9\x90\x85\xc0\xe2\xfb\xc3"); /* mov ecx, edi; 2: nop; 3: test; 5: loop 2; ret */
    CHECK_EQUAL(events_of(drop_test, GAIT_EVENT_BLOCK, 300000), 300001);
    CHECK_EQUAL(events_of(transformed_keep, GAIT_EVENT_BLOCK, 300000), 300001);
    CHECK_EQUAL(events_of(drop_test, GAIT_EVENT_BLOCK | GAIT_EVENT_RET, 300000), 300002);
}

static void returns_that_transformers_put_are_told(void)
{
    transformed_write_tail_jump();
    events_of(transformed_replace_tail_jump, GAIT_EVENT_CALL | GAIT_EVENT_RET, 0);
    CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_CALL), 1);
    CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_RET), 2);
    CHECK_EQUAL(events.events[1].target, transformed_at(5));
}

/* The sum's instructions are at 0, 5, 8 and 11. */
static void check_told_but_second(transformed_visit *function, uint64_t value)
{
    static const uint64_t told[] = {0, 8, 11};

    transformed_write_sum();
    CHECK_EQUAL(transformed_run(function, 0, 0), value);
    CHECK_EQUAL(events_of(function, GAIT_EVENT_EXEC, 0), 3);
    for (size_t i = 0; i < 3 && i < events.count; i++)
        CHECK_EQUAL(events.events[i].location, transformed_at(told[i]));
}

static void an_instruction_that_is_dropped_is_not_told(void)
{
    check_told_but_second(transformed_drop_second, 5);
}

static void replace_second(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(5))
        gait_iterator_put_callout(iterator, transformed_add_thousand, NULL, GAIT_CALLOUT_ANY);
    else
        gait_iterator_keep(iterator);
}

static void an_instruction_that_is_replaced_is_not_told(void)
{
    check_told_but_second(replace_second, 1005);
}

static void return_early(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(8))
        gait_iterator_put_return(iterator);
    gait_iterator_keep(iterator);
}

static void instructions_behind_a_return_that_was_put_are_not_told(void)
{
    transformed_write_sum();
    CHECK_EQUAL(transformed_run(return_early, 0, 0), 3);
    CHECK_EQUAL(events_of(return_early, GAIT_EVENT_EXEC, 0), 2);
}

static void go_to_return(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    cpu->pc = transformed_at(11);
}

static void divert_third(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(8))
        gait_iterator_put_callout(iterator, go_to_return, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

static void divert_first(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    if (instruction->address == transformed_at(0))
        gait_iterator_put_callout(iterator, go_to_return, NULL, GAIT_CALLOUT_ANY);
    gait_iterator_keep(iterator);
}

/* What is told of a block in advance, with all kinds of records, is taken back. */
static void instructions_that_a_callout_goes_around_are_not_told(void)
{
    static const uint32_t others[] = {0, GAIT_EVENT_BLOCK, GAIT_EVENT_RET, GAIT_EVENT_CALL | GAIT_EVENT_RET};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        static const uint64_t told[] = {0, 5, 11};

        transformed_write_sum();
        events_of(divert_third, GAIT_EVENT_EXEC | others[i], 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_EXEC), 3);
        event_list_filter(&events, GAIT_EVENT_EXEC, transformed_at(0), code_page_end(&transformed.page));
        for (size_t k = 0; k < 3 && k < events.count; k++)
            CHECK_EQUAL(events.events[k].location, transformed_at(told[k]));
        events_of(divert_first, GAIT_EVENT_EXEC | others[i], 0);
        CHECK_EQUAL(event_list_count(&events, GAIT_EVENT_EXEC), 1);
    }
}

static void keep_twice(struct gait_iterator *iterator, const struct gait_instruction *instruction)
{
    (void)instruction;
    gait_iterator_keep(iterator);
    gait_iterator_keep(iterator);
}

static void what_is_kept_is_told_once_also_in_long_blocks(void)
{
    transformed_write_sum();
    CHECK_EQUAL(events_of(keep_twice, GAIT_EVENT_EXEC, 0), 4);
    transformed_write_two_hundred();
    CHECK_EQUAL(events_of(transformed_keep, GAIT_EVENT_EXEC, 0), 203);
    CHECK_EQUAL(events_of(transformed_drop_second, GAIT_EVENT_EXEC, 0), 202);
    transformed_write_long_block();
    CHECK_EQUAL(events_of(transformed_keep, GAIT_EVENT_EXEC, 0), 1502);
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_are_told_whatever_a_transformer_leaves_of_them),
    CHECK_CASE(a_block_whose_first_instruction_is_dropped_is_told),
    CHECK_CASE(buffers_do_not_overflow_where_instructions_are_dropped),
    CHECK_CASE(returns_that_transformers_put_are_told),
    CHECK_CASE(an_instruction_that_is_dropped_is_not_told),
    CHECK_CASE(an_instruction_that_is_replaced_is_not_told),
    CHECK_CASE(instructions_behind_a_return_that_was_put_are_not_told),
    CHECK_CASE(instructions_that_a_callout_goes_around_are_not_told),
    CHECK_CASE(what_is_kept_is_told_once_also_in_long_blocks),
};

int main(void)
{
    transformed_code_init();
    event_list_init(&events, 1 << 20);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
