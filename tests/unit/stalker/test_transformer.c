/* SPDX-License-Identifier: MIT */
#include "stalker/transformer.h"

#include "gait/x86_64.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

static struct stalker_lab lab;
static struct machine_state initial;
static struct run_result result;

static uint64_t code_at(size_t offset)
{
    return (uintptr_t)lab.code.base + offset;
}

static void init(const struct gait_transformer *transformer)
{
    struct stalker_lab_options options = {.transformer = transformer};

    stalker_lab_init(&lab, &options);
    stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
}

/* Three instructions that add 1, 16 and 256, a jump to a trap, and where they begin and end. */
static const size_t offsets[] = {0, 4, 8, 15, 20};

static void put_additions(void)
{
    for (int i = 0; i < 3; i++)
        x86_lea(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 1 << 4 * i));
    x86_jmp_pc(&lab.writer, cache_pc_of(code_at(0x100)), X86_REACH_NEAR);
}

static uint64_t run(void)
{
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    return result.state.gpr[X86_RAX] - initial.gpr[X86_RAX];
}

/* ---- the cursor -------------------------------------------------------------------------------------------------- */

static unsigned visited;

static void visit_all(void *context, struct gait_iterator *iterator)
{
    uint64_t expected = code_at(0);

    CHECK(context == &visited);
    if (iterator_pc(iterator).value != code_at(0)) {
        while (iterator_next(iterator))
            iterator_keep(iterator);
        return;
    }
    visited = 0;
    while (iterator_next(iterator)) {
        CHECK_EQUAL(iterator_pc(iterator).value, expected);
        expected += iterator_length(iterator);
        visited++;
        iterator_keep(iterator);
        /* Once is enough. */
        iterator_keep(iterator);
    }
    CHECK(!iterator_next(iterator));
}

static void each_instruction_is_visited_once_and_in_order(void)
{
    static const struct gait_transformer transformer = {visit_all, &visited};

    init(&transformer);
    put_additions();
    CHECK_EQUAL(run(), 0x111);
    CHECK_EQUAL(visited, 4);
    CHECK_EQUAL(result.state.rip, code_at(0x100));
    stalker_lab_deinit(&lab);
}

static void do_nothing(void *context, struct gait_iterator *iterator)
{
    (void)context;
    (void)iterator;
}

static void one_that_looks_at_nothing_keeps_everything(void)
{
    static const struct gait_transformer transformer = {do_nothing, NULL};

    init(&transformer);
    put_additions();
    CHECK_EQUAL(run(), 0x111);
    stalker_lab_deinit(&lab);
}

static void keep_too_early(void *context, struct gait_iterator *iterator)
{
    (void)context;
    iterator_keep(iterator);
    while (iterator_next(iterator))
        iterator_keep(iterator);
}

static void there_is_nothing_to_keep_before_the_first_one(void)
{
    static const struct gait_transformer transformer = {keep_too_early, NULL};

    init(&transformer);
    put_additions();
    CHECK_EQUAL(run(), 0x111);
    stalker_lab_deinit(&lab);
}

static void leave_out(void *offset, struct gait_iterator *iterator)
{
    while (iterator_next(iterator))
        if (iterator_pc(iterator).value != code_at(*(const size_t *)offset))
            iterator_keep(iterator);
}

static void instructions_that_are_not_kept_are_left_out(void)
{
    static const uint64_t expected[] = {0x110, 0x101, 0x011, 0x111};

    for (size_t i = 0; i < 4; i++) {
        struct gait_transformer transformer = {leave_out, (void *)&offsets[i]};

        init(&transformer);
        put_additions();
        CHECK_EQUAL(run(), expected[i]);
        /* Without the jump it goes on to what follows. */
        CHECK_EQUAL(result.state.rip, i == 3 ? code_at(offsets[4]) : code_at(0x100));
        stalker_lab_deinit(&lab);
    }
}

static void stop_early(void *context, struct gait_iterator *iterator)
{
    (void)context;
    if (iterator_next(iterator))
        iterator_keep(iterator);
}

static void a_block_ends_behind_the_last_instruction_that_was_visited(void)
{
    static const struct gait_transformer transformer = {stop_early, NULL};
    struct block *block;

    init(&transformer);
    put_additions();
    CHECK_EQUAL(run(), 0x111);
    CHECK_EQUAL(result.state.rip, code_at(0x100));
    block = code_cache_find(lab.cache, app_pc_of(code_at(0)));
    CHECK_EQUAL(block->insn_count, 1);
    CHECK_EQUAL(block->size_bytes, 4);
    CHECK_EQUAL(block->last_insn_bytes, 4);
    CHECK(code_cache_find(lab.cache, app_pc_of(code_at(4))) != NULL);
    stalker_lab_deinit(&lab);
}

/* ---- what is put ------------------------------------------------------------------------------------------------- */

static uint64_t places;

static void note_place(struct gait_cpu_context *cpu, void *data)
{
    places = places * 100 + (cpu->pc - code_at(0));
    gait_x86_64_rax(cpu) += (uintptr_t)data;
}

static void put_callouts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        if (iterator_pc(iterator).value >= code_at(offsets[3]))
            return iterator_keep(iterator);
        iterator_put_callout(iterator, note_place, (void *)0x1000, true);
        iterator_keep(iterator);
        iterator_put_callout(iterator, note_place, NULL, false);
    }
}

static void callouts_stand_before_what_is_put_next(void)
{
    static const struct gait_transformer transformer = {put_callouts, NULL};

    init(&transformer);
    put_additions();
    places = 0;
    CHECK_EQUAL(run(), 0x3111);
    CHECK_EQUAL(places, 404080815);
    stalker_lab_deinit(&lab);
}

static void put_behind_the_end(void *context, struct gait_iterator *iterator)
{
    static const uint8_t trap[] = {0x0f, 0x0b};

    (void)context;
    while (iterator_next(iterator))
        iterator_keep(iterator);
    iterator_put_callout(iterator, note_place, NULL, true);
    iterator_put_code(iterator, trap, sizeof(trap));
    iterator_put_count(iterator, &places);
    iterator_put_return(iterator);
}

static void nothing_is_put_behind_the_end_of_a_block(void)
{
    static const struct gait_transformer transformer = {put_behind_the_end, NULL};

    init(&transformer);
    put_additions();
    places = 0;
    CHECK_EQUAL(run(), 0x111);
    CHECK_EQUAL(places, 0);
    stalker_lab_deinit(&lab);
}

static void put_machine_code(void *context, struct gait_iterator *iterator)
{
    static const uint8_t lea[] = {0x48, 0x8d, 0x40, 0x02}; /* lea rax, [rax + 2] */

    (void)context;
    while (iterator_next(iterator)) {
        iterator_put_code(iterator, lea, sizeof(lea));
        iterator_keep(iterator);
    }
}

static void code_of_the_callers_runs_in_between(void)
{
    static const struct gait_transformer transformer = {put_machine_code, NULL};

    init(&transformer);
    put_additions();
    /* Five instructions, the trap included. */
    CHECK_EQUAL(run(), 0x111 + 5 * 2);
    stalker_lab_deinit(&lab);
}

static uint64_t *counter;

static void put_counts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        if (counter == NULL)
            counter = iterator_new_counter(iterator);
        iterator_put_count(iterator, counter);
        iterator_keep(iterator);
    }
}

static void counters_count(void)
{
    static const struct gait_transformer transformer = {put_counts, NULL};

    init(&transformer);
    put_additions();
    counter = NULL;
    CHECK_EQUAL(run(), 0x111);
    CHECK(counter != NULL);
    CHECK_EQUAL(*counter, 5);
    run();
    CHECK_EQUAL(*counter, 10);
    stalker_lab_deinit(&lab);
}

static void return_at_second(void *context, struct gait_iterator *iterator)
{
    (void)context;
    for (unsigned i = 0; iterator_next(iterator); i++) {
        if (i == 1 && iterator_pc(iterator).value == code_at(0x200 + offsets[1]))
            return iterator_put_return(iterator);
        iterator_keep(iterator);
    }
}

static void a_return_ends_the_block(void)
{
    static const struct gait_transformer transformer = {return_at_second, NULL};

    init(&transformer);
    x86_call_pc(&lab.writer, cache_pc_of(code_at(0x200)));
    code_writer_put_u8(&lab.writer, 0xcc);
    stalker_lab_write_at(&lab, 0x200);
    put_additions();
    CHECK_EQUAL(run(), 1);
    CHECK_EQUAL(result.state.rip, code_at(5));
    CHECK_EQUAL(result.state.gpr[X86_RSP], initial.gpr[X86_RSP]);
    stalker_lab_deinit(&lab);
}

/* Room ends before instructions do. */
static void put_much(void *context, struct gait_iterator *iterator)
{
    static const uint8_t nops[900] = {[0 ... 899] = 0x90};

    (void)context;
    while (iterator_next(iterator)) {
        iterator_put_code(iterator, nops, sizeof(nops));
        iterator_keep(iterator);
    }
}

static void blocks_end_where_room_does(void)
{
    static const struct gait_transformer transformer = {put_much, NULL};

    init(&transformer);
    for (int i = 0; i < 64; i++)
        x86_lea(&lab.writer, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 1));
    CHECK_EQUAL(run(), 64);
    CHECK(code_cache_find(lab.cache, app_pc_of(code_at(0)))->insn_count < 64);
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_instruction_is_visited_once_and_in_order),
    CHECK_CASE(one_that_looks_at_nothing_keeps_everything),
    CHECK_CASE(there_is_nothing_to_keep_before_the_first_one),
    CHECK_CASE(instructions_that_are_not_kept_are_left_out),
    CHECK_CASE(a_block_ends_behind_the_last_instruction_that_was_visited),
    CHECK_CASE(callouts_stand_before_what_is_put_next),
    CHECK_CASE(nothing_is_put_behind_the_end_of_a_block),
    CHECK_CASE(code_of_the_callers_runs_in_between),
    CHECK_CASE(counters_count),
    CHECK_CASE(a_return_ends_the_block),
    CHECK_CASE(blocks_end_where_room_does),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
