/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/callout_code.h"

#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "stalker/block_draft.h"
#include "stalker/transformer.h"
#include "support/check.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

static struct stalker_lab lab;
static struct code_writer *const out = &lab.writer;
static struct machine_state initial;

/* Counters in reach of the cache and out of it. */
static uint64_t far_counter;
static uint64_t *near_counter;
static unsigned callouts;

static uint64_t code_at(size_t offset)
{
    return (uintptr_t)lab.code.base + offset;
}

static void count_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    ++*(unsigned *)data;
}

/* Instructions that keep, read and lose flags, in several blocks, with r11 and rcx in use. */
static void put_program(void)
{
    struct x86_label skipped;

    x86_label_init(&skipped);
    program_setcc(out, X86_BELOW, X86_RDX);
    program_arithmetic(out, X86_ADC, X86_SIZE_64, X86_RAX, X86_R11);
    x86_push_reg(out, X86_RCX);
    x86_jcc_label(out, X86_OVERFLOW, &skipped, X86_REACH_SHORT);
    program_arithmetic(out, X86_XOR, X86_SIZE_32, X86_RBX, X86_RBX);
    x86_lea(out, X86_SIZE_64, X86_R11, x86_mem_index(X86_R11, X86_RCX, 1, 0));
    x86_label_bind(&skipped, out);
    x86_pop_reg(out, X86_RSI);
    x86_call_pc(out, cache_pc_of(code_at(0x100)));
    code_writer_put_u8(out, 0xcc);
    stalker_lab_write_at(&lab, 0x100);
    x86_unary_reg(out, X86_INC, X86_SIZE_64, X86_RCX);
    x86_ret(out, 0);
}

/* Runs it with a transformer, with and without events, near and far from 32-bit addresses. */
static void compare_with(void (*transform)(void *context, struct gait_iterator *iterator))
{
    static const uint64_t places[] = {STALKER_LAB_LOW, STALKER_LAB_HIGH};
    static const uint32_t events[] = {0, GAIT_EVENT_BLOCK, GAIT_EVENT_CALL | GAIT_EVENT_RET};
    struct gait_transformer transformer = {.transform = transform};

    for (size_t i = 0; i < 6; i++) {
        struct stalker_lab_options options = {
            .code = places[i % 2], .events = events[i / 2], .transformer = &transformer};

        stalker_lab_init(&lab, &options);
        near_counter = NULL;
        far_counter = callouts = 0;
        put_program();
        stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
        for (int carry = 0; carry < 2; carry++) {
            initial.rflags = carry ? 2 | X86_FLAGS_STATUS : 2;
            CHECK_EQUAL(stalker_lab_compare(&lab, &initial), 0);
        }
        CHECK(near_counter == NULL || *near_counter > 0);
        CHECK((near_counter != NULL) + far_counter + callouts > 0);
        stalker_lab_deinit(&lab);
    }
}

static void put_near_counts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        if (near_counter == NULL)
            near_counter = iterator_new_counter(iterator);
        iterator_put_count(iterator, near_counter);
        iterator_keep(iterator);
    }
}

static void put_far_counts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        iterator_put_count(iterator, &far_counter);
        iterator_keep(iterator);
    }
}

static void counts_leave_registers_and_flags_alone(void)
{
    compare_with(put_near_counts);
    compare_with(put_far_counts);
}

/* More than wait at a time, all before one instruction. */
static void put_many_counts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        for (int i = 0; i < 3 * DRAFT_COUNTS_MAX + 1; i++)
            iterator_put_count(iterator, &far_counter);
        iterator_keep(iterator);
    }
}

static void no_count_is_lost(void)
{
    static const struct gait_transformer transformer = {.transform = put_many_counts};
    struct stalker_lab_options options = {.transformer = &transformer};
    struct run_result result;

    stalker_lab_init(&lab, &options);
    x86_nops(out, 1);
    program_arithmetic(out, X86_XOR, X86_SIZE_32, X86_RBX, X86_RBX);
    x86_nops(out, 1);
    code_writer_put_u8(out, 0xcc);
    far_counter = 0;
    stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    CHECK_EQUAL(far_counter, 4 * (3 * DRAFT_COUNTS_MAX + 1));
    stalker_lab_deinit(&lab);
}

static void put_callouts(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        iterator_put_callout(iterator, count_callout, &callouts, true);
        iterator_keep(iterator);
        iterator_put_callout(iterator, count_callout, &callouts, true);
    }
}

static void callouts_leave_registers_flags_and_stack_alone(void)
{
    compare_with(put_callouts);
}

static void change(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    gait_x86_64_r11(cpu) = 0x1111;
    gait_x86_64_rcx(cpu) = 0x2222;
    gait_x86_64_rsp(cpu) -= 64;
    cpu->flags |= X86_FLAG_CF;
    callouts++;
}

static void put_change(void *context, struct gait_iterator *iterator)
{
    (void)context;
    while (iterator_next(iterator)) {
        if (iterator_pc(iterator).value == code_at(1))
            iterator_put_callout(iterator, change, NULL, false);
        iterator_keep(iterator);
    }
}

static void what_a_callout_changes_takes_effect(void)
{
    static const struct gait_transformer transformer = {.transform = put_change};

    for (uint32_t events = 0; events <= GAIT_EVENT_BLOCK; events += GAIT_EVENT_BLOCK) {
        struct stalker_lab_options options = {.events = events, .transformer = &transformer};
        struct run_result result;

        stalker_lab_init(&lab, &options);
        x86_nops(out, 1);
        program_setcc(out, X86_BELOW, X86_RAX);
        x86_mov_reg_reg(out, X86_SIZE_64, X86_RDX, X86_R11);
        code_writer_put_u8(out, 0xcc);
        stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
        CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
        CHECK_EQUAL(result.state.gpr[X86_RDX], 0x1111);
        CHECK_EQUAL(result.state.gpr[X86_R11], 0x1111);
        CHECK_EQUAL(result.state.gpr[X86_RCX], 0x2222);
        CHECK_EQUAL(result.state.gpr[X86_RSP], initial.gpr[X86_RSP] - 64);
        CHECK_EQUAL(result.state.gpr[X86_RAX] & 0xff, 1);
        stalker_lab_deinit(&lab);
    }
}

/* Reads and writes r11: with events, the position is there otherwise. */
static void put_use_of_r11(void *context, struct gait_iterator *iterator)
{
    static const uint8_t lea[] = {0x4d, 0x8d, 0x5b, 0x05}; /* lea r11, [r11 + 5] */

    (void)context;
    while (iterator_next(iterator)) {
        iterator_put_code(iterator, lea, sizeof(lea));
        iterator_keep(iterator);
    }
}

static void code_of_the_callers_has_all_registers_of_the_program(void)
{
    static const struct gait_transformer transformer = {.transform = put_use_of_r11};

    for (uint32_t events = 0; events < 16; events += 3) {
        struct stalker_lab_options options = {.events = events, .transformer = &transformer};
        struct run_result result;

        stalker_lab_init(&lab, &options);
        x86_nops(out, 1);
        x86_jmp_pc(out, cache_pc_of(code_at(0x100)), X86_REACH_NEAR);
        stalker_lab_state(&lab, app_pc_of(code_at(0)), &initial);
        CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
        CHECK_EQUAL(result.state.gpr[X86_R11], initial.gpr[X86_R11] + 15);
        stalker_lab_deinit(&lab);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(counts_leave_registers_and_flags_alone),
    CHECK_CASE(no_count_is_lost),
    CHECK_CASE(callouts_leave_registers_flags_and_stack_alone),
    CHECK_CASE(what_a_callout_changes_takes_effect),
    CHECK_CASE(code_of_the_callers_has_all_registers_of_the_program),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
