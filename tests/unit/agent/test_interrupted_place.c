/* SPDX-License-Identifier: MIT */
/*
 * Where a thread is in the program that was interrupted in a trampoline, a stub or a gate. Nobody is interrupted here:
 * the places are made up.
 * configurations: debug-*
 */
#include "agent/interrupted_place.h"

#include "agent/hook_set.h"
#include "arch/stub_layout.h"
#include "arch/thread_registers.h"
#include "hook/hook_thread.h"
#include "hook/live_plans.h"
#include "support/check.h"

#include <string.h>

#if defined(__x86_64__)

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  asked_one\n"
        "        .type   asked_one, @function\n"
        "asked_one:\n"
        "        pushq   %rbx\n"
        "        movq    %rdi, %rbx\n"
        "        leaq    1(%rbx), %rax\n"
        "        popq    %rbx\n"
        "        ret\n"
        "        .size   asked_one, . - asked_one\n"
        "        .p2align 4\n");

extern const uint8_t asked_one[];

#define SECOND_INSTRUCTION 1 /* of asked_one: how far behind its start it is */
#define IMAGE              0x700000000000ull
#define GATE_CALL_BYTES    6

static struct live_plans plans;
static struct hook_plan plan;
static struct hook_thread thread;
static uint64_t stub; /* where its call of the entering gate returns to */
static uint64_t words[64] __attribute__((aligned(64)));

static void ignore(struct gait_invocation *invocation)
{
    (void)invocation;
}

/* Where the patch leads to. */
static uint64_t find_entry(void)
{
    int32_t distance;

    CHECK_EQUAL(*(const uint8_t *)plan.patch_at, 0xe9);
    memcpy(&distance, (const void *)(plan.patch_at + 1), sizeof(distance));
    return plan.patch_at + 5 + (uint64_t)(int64_t)distance;
}

static void begin(void)
{
    uint8_t expected[HOOK_DISPLACED_BYTES_MAX];
    struct hook_wish wish = {.plan = &plan,
                             .expected = expected,
                             .listeners = {{.enter = ignore, .flags = HOOK_LISTENER_GENERAL_ONLY}},
                             .listener_count = 1};

    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)asked_one, &plan), 0);
    memcpy(expected, (const void *)plan.patch_at, plan.displaced_end - plan.patch_at);
    hook_set_begin();
    CHECK_EQUAL(hook_set_open(), 0);
    CHECK_EQUAL(hook_set_add(&wish), 0);
    CHECK_EQUAL(hook_set_commit(), 0);
    stub = find_entry() + GATE_CALL_BYTES;
    CHECK_EQUAL(invocation_stack_init(&thread.invocations), 0);
    interrupted_place_begin(IMAGE, 4096);
    memset(words, 0, sizeof(words));
}

static void end(void)
{
    CHECK_EQUAL(hook_set_remove(true), 0);
    hook_set_close();
    hook_set_end();
    live_plans_deinit(&plans);
    invocation_stack_deinit(&thread.invocations);
}

static void check_place(uint64_t pc, uint64_t sp, uint64_t expected_pc, uint64_t expected_sp)
{
    struct interrupted_place found = {0, 0};

    CHECK(interrupted_place_find(&thread, (struct interrupted_place){pc, sp}, &found));
    CHECK_EQUAL(found.pc, expected_pc);
    CHECK_EQUAL(found.sp, expected_sp);
}

static void an_instruction_is_where_it_was(void)
{
    struct thread_registers registers = {0};
    uint64_t sp = (uintptr_t)&words[8], copy;

    begin();
    thread_registers_set_pc(&registers, plan.patch_at + SECOND_INSTRUCTION);
    thread_registers_set_sp(&registers, sp);
    CHECK(hook_set_move_in(0, &registers));
    copy = thread_registers_pc(&registers);
    check_place(copy, sp, plan.patch_at + SECOND_INSTRUCTION, sp);
    check_place(copy - SECOND_INSTRUCTION, sp, plan.patch_at, sp);
    CHECK(interrupted_place_is_exact(copy));
    CHECK(!interrupted_place_is_exact(copy + 1));
    CHECK(!interrupted_place_is_exact(IMAGE));
    end();
}

/* As code of stubs goes: the entering gate takes the return address off the stack, and the leaving one puts it back. */
static void a_stub_is_its_function_or_who_called_it(void)
{
    uint64_t sp = (uintptr_t)&words[8];

    begin();
    words[7] = 0x1234;
    words[8] = 0x5678;
    check_place(stub - GATE_CALL_BYTES, sp, (uintptr_t)asked_one, sp);
    check_place(stub, sp, (uintptr_t)asked_one, sp - 8);
    check_place(stub + STUB_LANDING, sp, 0x1234, sp);
    check_place(stub + STUB_LEFT, sp, 0x5678, sp + 8);
    check_place(stub + STUB_UNTRACKED, sp, (uintptr_t)asked_one, sp);
    CHECK(invocation_stack_push(&thread.invocations, sp - 8, 0x9abc, stub) != NULL);
    check_place(stub + STUB_LANDING, sp, 0x9abc, sp);
    end();
}

static void a_gate_is_that_of_the_stub_which_called_it(void)
{
    struct interrupted_place found;

    begin();
    words[8] = 7;
    words[9] = stub;
    words[20] = stub + STUB_LEFT;
    words[21] = 0x1234;
    check_place(IMAGE + 5, (uintptr_t)&words[9], (uintptr_t)asked_one, (uintptr_t)&words[10]);
    check_place(IMAGE + 5, (uintptr_t)&words[2], (uintptr_t)asked_one, (uintptr_t)&words[10]);
    check_place(IMAGE + 5, (uintptr_t)&words[12], 0x1234, (uintptr_t)&words[22]);
    /* On the stack for listeners, it is where their gate is. */
    thread.stack_low = (uintptr_t)&words[40];
    thread.stack_top = (uintptr_t)&words[60];
    thread.gate_sp = (uintptr_t)&words[8];
    check_place(IMAGE + 5, (uintptr_t)&words[50], (uintptr_t)asked_one, (uintptr_t)&words[10]);
    /* Elsewhere it is nobody's business. */
    CHECK(!interrupted_place_find(&thread, (struct interrupted_place){IMAGE - 1, (uintptr_t)words}, &found));
    CHECK(!interrupted_place_find(&thread, (struct interrupted_place){(uintptr_t)begin, (uintptr_t)words}, &found));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(an_instruction_is_where_it_was),
    CHECK_CASE(a_stub_is_its_function_or_who_called_it),
    CHECK_CASE(a_gate_is_that_of_the_stub_which_called_it),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
