/* SPDX-License-Identifier: MIT */
/* Frames as bytes; test_engine_leave.c has the kernel return from them. */
#include "stalker/signal_frame.h"

#include "arch/x86_64/stalker/signal_layout.h"
#include "arch/x86_64/x86_engine.h"
#include "gait/x86_64.h"
#include "support/check.h"

#define MARK 0x5a

static void a_copy_is_below_and_aligned_with_all_that_the_frame_had(void)
{
    static _Alignas(64) uint8_t stack[4096], vectors[512];
    struct x86_ucontext from = {.context = {.vectors = (uintptr_t)vectors, .rip = 0x400}, .mask = 0x11};
    uint8_t info[X86_SIGINFO_BYTES] = {7};
    struct signal_copy copy = {.ucontext = &from, .info = info, .restorer = 0x500};
    uint64_t below = (uintptr_t)stack + sizeof(stack) - 24;
    struct x86_signal_frame *frame;

    memset(stack, MARK, sizeof(stack));
    vectors[100] = 0x77;
    x86_frame.place(&copy, below);
    x86_frame.write(&copy);
    frame = (void *)(uintptr_t)copy.start;
    CHECK_EQUAL(copy.start % 16, 8);
    CHECK_EQUAL(copy.start + copy.size_bytes, below);
    CHECK_EQUAL(frame->return_address, 0x500);
    CHECK_EQUAL(frame->ucontext.context.rip, 0x400);
    CHECK_EQUAL(*(uint64_t *)(void *)((uint8_t *)&frame->ucontext + x86_frame.mask_at), 0x11);
    CHECK_EQUAL(*(uint8_t *)(uintptr_t)(copy.start + x86_frame.info_at), 7);
    CHECK_EQUAL(frame->ucontext.context.vectors % 64, 0);
    CHECK(frame->ucontext.context.vectors + sizeof(vectors) <= below);
    CHECK_EQUAL(((uint8_t *)(uintptr_t)frame->ucontext.context.vectors)[100], 0x77);
    CHECK_EQUAL(((uint8_t *)(uintptr_t)copy.start)[-1], MARK);
    CHECK_EQUAL(stack[sizeof(stack) - 24], MARK);
}

static void a_handler_begins_with_its_arguments_in_registers(void)
{
    const struct signal_copy copy = {.start = 0x7008};
    struct gait_cpu_context cpu = {.flags = 0x246 | 0x400 | 0x100};

    x86_frame.enter(&copy, 11, 0x9000, &cpu);
    CHECK_EQUAL(cpu.pc, 0x9000);
    CHECK_EQUAL(cpu.flags, 0x246);
    CHECK_EQUAL(gait_x86_64_rdi(&cpu), 11);
    CHECK_EQUAL(gait_x86_64_rsi(&cpu), 0x7008 + x86_frame.info_at);
    CHECK_EQUAL(gait_x86_64_rdx(&cpu), 0x7008 + x86_frame.ucontext_at);
    CHECK_EQUAL(gait_x86_64_rsp(&cpu), 0x7008);
}

static void steps_show_in_the_flag_and_do_not_end_behind_system_calls(void)
{
    static const uint8_t code[] = {0x0f, 0x05, 0x90};
    struct gait_cpu_context cpu = {.flags = 0x246 | 0x100, .pc = (uintptr_t)code + 2};

    CHECK(x86_frame.steps(&cpu));
    x86_frame.end_steps(&cpu);
    CHECK(!x86_frame.steps(&cpu));
    CHECK_EQUAL(cpu.flags, 0x246);
    CHECK(x86_frame.is_between(&cpu, (uintptr_t)code));
    CHECK(!x86_frame.is_between(&cpu, (uintptr_t)code + 1));
    cpu.pc++;
    CHECK(!x86_frame.is_between(&cpu, (uintptr_t)code + 1));
}

static const struct check_case cases[] = {
    CHECK_CASE(a_copy_is_below_and_aligned_with_all_that_the_frame_had),
    CHECK_CASE(a_handler_begins_with_its_arguments_in_registers),
    CHECK_CASE(steps_show_in_the_flag_and_do_not_end_behind_system_calls),
};

CHECK_MAIN(cases)
