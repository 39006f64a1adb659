/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/event_code.h"

#include "arch/x86_64/stalker/translate.h"
#include "gait/stalker.h"
#include "ring/event_record.h"
#include "stalker/transformer.h"
#include "support/check.h"
#include "support/program_code.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#define PAGE       4096
#define EVENTS_MAX 65536

static struct stalker_lab lab;
static struct code_writer *const out = &lab.writer;
static struct machine_state initial;
static struct run_result result;

static struct gait_event received[EVENTS_MAX];
static size_t received_count;

static int receive(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count && received_count < EVENTS_MAX; i++)
        received[received_count++] = events[i];
    return 0;
}

static struct app_pc code_at(size_t offset)
{
    return app_pc_of((uintptr_t)lab.code.base + offset);
}

static void init(uint32_t events, const struct gait_transformer *transformer)
{
    struct stalker_lab_options options = {.events = events, .transformer = transformer};

    stalker_lab_init(&lab, &options);
    lab.thread.events->decoder.receiver = (struct event_receiver){receive, NULL};
    received_count = 0;
    stalker_lab_state(&lab, code_at(0), &initial);
}

static void run(void)
{
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    lab.thread.event_position = event_buffer_drain(lab.thread.events, lab.cache, lab.thread.event_position,
                                                   EVENT_PLACE_BETWEEN_BLOCKS, &lab.thread.requests);
}

/* What is planned for the block at an offset, which must be a unit of its own. */
static struct event_plan plan_at(size_t offset)
{
    CHECK(code_cache_find(lab.cache, code_at(offset)) == NULL);
    CHECK(stalker_lab_obtain(&lab, code_at(offset), false) != NULL);
    return lab.engine->draft->events;
}

static void put_jump(size_t target)
{
    x86_jmp_pc(out, cache_pc_of(code_at(target).value), X86_REACH_NEAR);
}

/* ---- where checks are -------------------------------------------------------------------------------------------- */

static void jumps_are_checked_that_go_back_or_leave_the_page(void)
{
    init(GAIT_EVENT_BLOCK, NULL);
    stalker_lab_write_at(&lab, 0x100);
    put_jump(0x200);
    stalker_lab_write_at(&lab, 0x120);
    put_jump(0x80);
    stalker_lab_write_at(&lab, 0x140);
    put_jump(0x140);
    stalker_lab_write_at(&lab, 0x160);
    put_jump(PAGE + 0x10);
    CHECK(!plan_at(0x100).check);
    CHECK(plan_at(0x120).check);
    CHECK(plan_at(0x140).check);
    CHECK(plan_at(0x160).check);
    stalker_lab_deinit(&lab);
}

static void blocks_that_reach_into_another_page_are_checked(void)
{
    init(GAIT_EVENT_BLOCK, NULL);
    stalker_lab_write_at(&lab, PAGE - 6);
    put_jump(PAGE - 1);
    CHECK(!plan_at(PAGE - 6).check);
    /* Into the middle of itself, so that nothing else speaks for it. */
    stalker_lab_write_at(&lab, 2 * PAGE - 3);
    put_jump(2 * PAGE - 1);
    CHECK(plan_at(2 * PAGE - 3).check);
    stalker_lab_deinit(&lab);
}

static void calls_returns_and_other_ends_are_checked(void)
{
    init(GAIT_EVENT_BLOCK, NULL);
    stalker_lab_write_at(&lab, 0x100);
    x86_ret(out, 0);
    stalker_lab_write_at(&lab, 0x120);
    x86_jmp_reg(out, X86_RAX);
    stalker_lab_write_at(&lab, 0x140);
    x86_call_pc(out, cache_pc_of(code_at(0x200).value));
    CHECK(plan_at(0x100).check);
    CHECK(plan_at(0x120).check);
    CHECK(plan_at(0x140).check);
    stalker_lab_deinit(&lab);
}

static void without_events_in_code_nothing_is_planned(void)
{
    struct stalker_lab_options options = {0};

    stalker_lab_init(&lab, &options);
    put_jump(0);
    CHECK(!plan_at(0).check);
    CHECK(!plan_at(0x100).record);
    stalker_lab_deinit(&lab);
    init(GAIT_EVENT_COMPILE, NULL);
    put_jump(0);
    CHECK(!plan_at(0).check);
    stalker_lab_deinit(&lab);
}

static bool overwrites(const char *bytes)
{
    struct x86_insn insn;

    CHECK_EQUAL(x86_decode((const uint8_t *)bytes, 15, app_pc_of(0), 0, &insn), 0);
    return x86_overwrites_flags(&insn);
}

static void flags_are_free_where_they_are_lost_and_nobody_sees_them(void)
{
    static const char xor_eax[16] = "\x31\xc0", inc_eax[16] = "\xff\xc0", adc_eax[16] = "\x11\xc0",
                      add_memory[16] = "\x03\x00", mov_eax[16] = "\x89\xc0", shl_cl[16] = "\xd3\xe0",
                      div_eax[16] = "\xf7\xf0", jz[16] = "\x74\x00";

    CHECK(overwrites(xor_eax));
    CHECK(!overwrites(inc_eax));
    CHECK(!overwrites(adc_eax));
    CHECK(!overwrites(add_memory));
    CHECK(!overwrites(mov_eax));
    CHECK(!overwrites(shl_cl));
    CHECK(!overwrites(div_eax));
    CHECK(!overwrites(jz));
}

static void checks_are_where_the_flags_are_free(void)
{
    struct event_plan plan;

    init(GAIT_EVENT_BLOCK, NULL);
    x86_nops(out, 1);
    program_setcc(out, X86_EQUAL, X86_RAX);
    program_arithmetic(out, X86_XOR, X86_SIZE_32, X86_RBX, X86_RBX);
    put_jump(0);
    plan = plan_at(0);
    CHECK(plan.check && plan.flags_free && !plan.check_at_end);
    CHECK_EQUAL(plan.check_before, 2);
    stalker_lab_write_at(&lab, 0x100);
    x86_nops(out, 1);
    put_jump(0x100);
    plan = plan_at(0x100);
    CHECK(plan.check && !plan.flags_free);
    stalker_lab_deinit(&lab);
}

/* ---- what is written --------------------------------------------------------------------------------------------- */

/* A loop of `count` rounds, of two blocks each; with or without a place where the flags are free. */
static void put_loop(uint32_t count, bool has_free_flags)
{
    struct x86_label again, skipped;

    x86_label_init(&again);
    x86_label_init(&skipped);
    x86_mov_reg_imm(out, X86_SIZE_32, X86_RCX, count);
    put_jump(0x20);
    stalker_lab_write_at(&lab, 0x20);
    x86_label_bind(&again, out);
    x86_jcc_label(out, X86_OVERFLOW, &skipped, X86_REACH_SHORT);
    x86_lea(out, X86_SIZE_64, X86_RAX, x86_mem_base(X86_RAX, 1));
    x86_label_bind(&skipped, out);
    if (has_free_flags)
        program_arithmetic(out, X86_XOR, X86_SIZE_32, X86_RBX, X86_RBX);
    x86_loop_label(out, X86_LOOP, X86_SIZE_64, &again);
    code_writer_put_u8(out, 0xcc);
}

static void no_record_of_a_long_loop_is_lost(void)
{
    for (int free_flags = 0; free_flags < 2; free_flags++) {
        init(GAIT_EVENT_BLOCK, NULL);
        put_loop(5000, free_flags);
        run();
        CHECK_EQUAL(result.state.gpr[X86_RAX], initial.gpr[X86_RAX] + 5000);
        CHECK_EQUAL(result.state.gpr[X86_R11], initial.gpr[X86_R11]);
        /* The start, two blocks a round, the end. */
        CHECK_EQUAL(received_count, 1 + 2 * 5000 + 1);
        CHECK_EQUAL(received[0].location, code_at(0).value);
        CHECK_EQUAL(received[1].location, code_at(0x20).value);
        CHECK_EQUAL(lab.thread.events->lost_bytes, 0);
        stalker_lab_deinit(&lab);
    }
}

static void check_event(size_t index, uint32_t kind, size_t location, size_t target, int depth)
{
    CHECK_EQUAL(received[index].kind, kind);
    CHECK_EQUAL(received[index].location, code_at(location).value);
    CHECK_EQUAL(received[index].target, code_at(target).value);
    CHECK_EQUAL(received[index].depth, depth);
}

static void calls_and_returns_are_recorded(void)
{
    init(GAIT_EVENT_CALL | GAIT_EVENT_RET, NULL);
    x86_call_pc(out, cache_pc_of(code_at(0x100).value));
    x86_mov_reg_imm(out, X86_SIZE_64, X86_RCX, code_at(0x200).value);
    program_call(out, X86_RCX);
    code_writer_put_u8(out, 0xcc);
    stalker_lab_write_at(&lab, 0x100);
    x86_mov_reg_imm(out, X86_SIZE_64, X86_R11, code_at(0x200).value);
    program_call(out, X86_R11);
    x86_ret(out, 0);
    stalker_lab_write_at(&lab, 0x200);
    x86_ret(out, 0);
    run();
    CHECK_EQUAL(received_count, 6);
    check_event(0, GAIT_EVENT_CALL, 0, 0x100, 0);
    CHECK_EQUAL(received[1].target, code_at(0x200).value);
    CHECK_EQUAL(received[1].depth, 1);
    CHECK_EQUAL(received[2].location, code_at(0x200).value);
    CHECK_EQUAL(received[2].depth, 2);
    CHECK_EQUAL(received[3].target, code_at(5).value);
    CHECK_EQUAL(received[3].depth, 1);
    CHECK_EQUAL(received[4].kind, GAIT_EVENT_CALL);
    CHECK_EQUAL(received[4].depth, 0);
    CHECK_EQUAL(received[5].kind, GAIT_EVENT_RET);
    CHECK_EQUAL(received[5].depth, 1);
    stalker_lab_deinit(&lab);
}

/* Recursion writes more records than the buffer holds, from blocks that check at their end only. */
static void deep_recursion_loses_nothing(void)
{
    static const uint32_t wanted[] = {GAIT_EVENT_RET, GAIT_EVENT_CALL | GAIT_EVENT_RET,
                                      GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t calls = 0, returns = 0;

        init(wanted[i], NULL);
        x86_mov_reg_imm(out, X86_SIZE_32, X86_RCX, 1500);
        x86_call_pc(out, cache_pc_of(code_at(0x100).value));
        code_writer_put_u8(out, 0xcc);
        stalker_lab_write_at(&lab, 0x100);
        x86_lea(out, X86_SIZE_64, X86_RCX, x86_mem_base(X86_RCX, -1));
        program_loop(out, X86_JRCXZ, cache_pc_of(code_at(0x120).value));
        x86_lea(out, X86_SIZE_64, X86_RAX, x86_mem_address(code_at(0x100).value));
        program_call(out, X86_RAX);
        put_jump(0x120);
        stalker_lab_write_at(&lab, 0x120);
        x86_ret(out, 0);
        initial.rflags |= X86_FLAG_OF | X86_FLAG_CF;
        run();
        for (size_t e = 0; e < received_count; e++) {
            calls += received[e].kind == GAIT_EVENT_CALL;
            returns += received[e].kind == GAIT_EVENT_RET;
        }
        CHECK_EQUAL(returns, 1500);
        CHECK_EQUAL(calls, wanted[i] & GAIT_EVENT_CALL ? 1500 : 0);
        CHECK_EQUAL(result.state.rflags & X86_FLAGS_STATUS, X86_FLAG_OF | X86_FLAG_CF);
        stalker_lab_deinit(&lab);
    }
}

static void records_have_the_sizes_of_their_layout(void)
{
    init(GAIT_EVENT_BLOCK, NULL);
    lab.thread.events->decoder.receiver.process = NULL;
    put_jump(0x100);
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    CHECK_EQUAL(lab.thread.event_position - lab.thread.events->start, 8);
    stalker_lab_deinit(&lab);
    init(GAIT_EVENT_CALL, NULL);
    x86_call_pc(out, cache_pc_of(code_at(0x100).value));
    CHECK_EQUAL(stalker_lab_run(&lab, &initial, &result, NULL), STALKER_LAB_LEFT);
    CHECK_EQUAL(lab.thread.event_position - lab.thread.events->start, 16);
    CHECK_EQUAL(*(const uint64_t *)(uintptr_t)(lab.thread.events->start + EVENT_SP_OFFSET), initial.gpr[X86_RSP] - 8);
    stalker_lab_deinit(&lab);
}

/* rax and rdx, which the counter is read into, and the flags stay what they are. */
static void records_may_have_times(void)
{
    struct stalker_lab_options options = {.events = GAIT_EVENT_BLOCK | GAIT_EVENT_CALL | GAIT_EVENT_RET, .times = true};
    uint64_t before = __builtin_ia32_rdtsc();

    stalker_lab_init(&lab, &options);
    lab.thread.events->decoder.receiver = (struct event_receiver){receive, NULL};
    received_count = 0;
    stalker_lab_state(&lab, code_at(0), &initial);
    initial.gpr[X86_RAX] = 0x1111222233334444;
    initial.gpr[X86_RDX] = 0x5555666677778888;
    initial.rflags |= X86_FLAG_CF | X86_FLAG_ZF;
    x86_call_pc(out, cache_pc_of(code_at(0x100).value));
    stalker_lab_write_at(&lab, 0x100);
    x86_ret(out, 0);
    run();
    CHECK(received_count >= 4);
    for (size_t i = 0; i < received_count; i++) {
        CHECK(received[i].time >= before);
        before = received[i].time;
    }
    CHECK(before <= __builtin_ia32_rdtsc());
    CHECK_EQUAL(result.state.gpr[X86_RAX], 0x1111222233334444);
    CHECK_EQUAL(result.state.gpr[X86_RDX], 0x5555666677778888);
    CHECK_EQUAL(result.state.rflags & X86_FLAGS_STATUS, initial.rflags & X86_FLAGS_STATUS);
    stalker_lab_deinit(&lab);
}

/* ---- transformers that leave instructions out -------------------------------------------------------------------- */

/* Leaves the instruction at that offset out. */
static void leave_out(void *offset, struct gait_iterator *iterator)
{
    while (gait_iterator_next(iterator, NULL))
        if (iterator_pc(iterator).value != code_at(*(const size_t *)offset).value)
            gait_iterator_keep(iterator);
}

/* dec, which keeps the carry, so that the flags are free only at the xor. */
static void put_loop_with_xor(void)
{
    x86_nops(out, 1);
    program_arithmetic(out, X86_XOR, X86_SIZE_32, X86_RBX, X86_RBX);
    x86_unary_reg(out, X86_DEC, X86_SIZE_64, X86_RAX);
    x86_jcc_pc(out, X86_NOT_EQUAL, cache_pc_of(code_at(0).value), X86_REACH_SHORT);
    code_writer_put_u8(out, 0xcc);
}

static void the_buffer_does_not_overflow_when_instructions_are_left_out(void)
{
    for (size_t offset = 0; offset < 2; offset++) {
        struct gait_transformer transformer = {.transform = leave_out, .context = &offset};

        init(GAIT_EVENT_BLOCK, &transformer);
        put_loop_with_xor();
        initial.gpr[X86_RAX] = 50000;
        run();
        CHECK_EQUAL(result.state.gpr[X86_RAX], 0);
        CHECK_EQUAL(received_count, 50000 + 1);
        stalker_lab_deinit(&lab);
    }
}

/* A block that ends in a call and goes on behind it instead is a block all the same. */
static void blocks_whose_end_is_left_out_are_recorded(void)
{
    size_t offset = 1;
    struct gait_transformer transformer = {.transform = leave_out, .context = &offset};

    init(GAIT_EVENT_BLOCK | GAIT_EVENT_CALL, &transformer);
    x86_nops(out, 1);
    x86_call_pc(out, cache_pc_of(code_at(0x100).value));
    code_writer_put_u8(out, 0xcc);
    run();
    CHECK_EQUAL(received_count, 2);
    CHECK_EQUAL(received[0].kind, GAIT_EVENT_BLOCK);
    CHECK_EQUAL(received[0].location, code_at(0).value);
    stalker_lab_deinit(&lab);
}

static void return_at_once(void *context, struct gait_iterator *iterator)
{
    (void)context;
    gait_iterator_next(iterator, NULL);
    if (iterator_pc(iterator).value == code_at(0x100).value)
        gait_iterator_put_return(iterator);
    else
        gait_iterator_keep(iterator);
}

/* Whatever the block ends with, it is one block that ran once. */
static void blocks_that_return_at_once_are_recorded_once(void)
{
    static const struct gait_transformer transformer = {.transform = return_at_once};
    static const uint32_t wanted[] = {GAIT_EVENT_BLOCK, GAIT_EVENT_BLOCK | GAIT_EVENT_CALL,
                                      GAIT_EVENT_BLOCK | GAIT_EVENT_RET};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t blocks = 0;

        init(wanted[i], &transformer);
        x86_call_pc(out, cache_pc_of(code_at(0x100).value));
        code_writer_put_u8(out, 0xcc);
        stalker_lab_write_at(&lab, 0x100);
        x86_call_pc(out, cache_pc_of(code_at(0x200).value));
        run();
        CHECK_EQUAL(result.state.rip, code_at(5).value);
        for (size_t e = 0; e < received_count; e++)
            blocks += received[e].kind == GAIT_EVENT_BLOCK && received[e].location == code_at(0x100).value;
        CHECK_EQUAL(blocks, 1);
        stalker_lab_deinit(&lab);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(jumps_are_checked_that_go_back_or_leave_the_page),
    CHECK_CASE(blocks_that_reach_into_another_page_are_checked),
    CHECK_CASE(calls_returns_and_other_ends_are_checked),
    CHECK_CASE(without_events_in_code_nothing_is_planned),
    CHECK_CASE(flags_are_free_where_they_are_lost_and_nobody_sees_them),
    CHECK_CASE(checks_are_where_the_flags_are_free),
    CHECK_CASE(no_record_of_a_long_loop_is_lost),
    CHECK_CASE(calls_and_returns_are_recorded),
    CHECK_CASE(deep_recursion_loses_nothing),
    CHECK_CASE(records_have_the_sizes_of_their_layout),
    CHECK_CASE(records_may_have_times),
    CHECK_CASE(the_buffer_does_not_overflow_when_instructions_are_left_out),
    CHECK_CASE(blocks_whose_end_is_left_out_are_recorded),
    CHECK_CASE(blocks_that_return_at_once_are_recorded_once),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
