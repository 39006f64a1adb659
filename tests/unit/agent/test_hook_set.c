/* SPDX-License-Identifier: MIT */
/*
 * Where stopped threads have to go on when functions are hooked, and when they are not any more. The threads here are
 * registers only; nobody runs the functions meanwhile.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "agent/hook_set.h"

#include "arch/thread_registers.h"
#include "hook/live_plans.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

__asm__("        .text\n"
        "        .p2align 4\n"
        "        .globl  long_one\n"
        "        .type   long_one, @function\n"
        "long_one:\n"
        "        pushq   %rbx\n"
        "        movq    %rdi, %rbx\n"
        "        leaq    1(%rbx), %rax\n"
        "        popq    %rbx\n"
        "        ret\n"
        "        .size   long_one, . - long_one\n"
        "        .p2align 4\n"
        "        .fill   32, 1, 0xcc\n"
        "        .globl  short_one\n" /* no room for a jump, but for a short one to the padding in front */
        "        .type   short_one, @function\n"
        "short_one:\n"
        "        incl    %edi\n"
        "        ret\n"
        "        .size   short_one, . - short_one\n"
        "        .globl  next_one\n"
        "        .type   next_one, @function\n"
        "next_one:\n"
        "        leaq    (%rdi, %rdi), %rax\n"
        "        nop\n"
        "        nop\n"
        "        ret\n"
        "        .size   next_one, . - next_one\n");

extern const uint8_t long_one[], short_one[], next_one[];

#define SECOND_INSTRUCTION 1 /* of long_one: how far behind its start it is */

static struct live_plans plans;
static struct hook_plan plan;

static void begin(const uint8_t *function, bool is_last)
{
    struct hook_wish wish = {.plan = &plan, .is_last = is_last};
    uint8_t expected[HOOK_DISPLACED_BYTES_MAX];

    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)function, &plan), 0);
    memcpy(expected, (const void *)plan.patch_at, plan.displaced_end - plan.patch_at);
    wish.expected = expected;
    hook_set_begin();
    CHECK_EQUAL(hook_set_open(), 0);
    CHECK_EQUAL(hook_set_add(&wish), 0);
}

static void end(void)
{
    hook_set_close();
    hook_set_end();
    live_plans_deinit(&plans);
}

static struct thread_registers registers_at(uint64_t pc)
{
    static uint64_t stack[64];
    struct thread_registers registers = {0};

    thread_registers_set_pc(&registers, pc);
    thread_registers_set_sp(&registers, (uintptr_t)stack);
    return registers;
}

/* What was to be hooked next. */
static uint64_t middle(void)
{
    return plan.patch_at + SECOND_INSTRUCTION;
}

static void threads_are_moved_in_before_and_out_afterwards(void)
{
    struct thread_registers registers;

    begin(long_one, false);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    registers = registers_at(plan.patch_at);
    CHECK(!hook_set_move_in(gettid(), &registers));
    registers = registers_at(middle());
    CHECK(hook_set_move_in(gettid(), &registers));
    CHECK(hook_set_contains(thread_registers_pc(&registers)));
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(hook_set_remove(false), 0);
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK(hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(thread_registers_pc(&registers), middle());
    end();
}

/* Its instructions are not there yet: who went back would run the bytes of a jump. */
static void nobody_goes_back_to_a_function_that_is_still_hooked(void)
{
    struct thread_registers registers;
    uint64_t copy;

    begin(long_one, true);
    registers = registers_at(middle());
    CHECK(hook_set_move_in(gettid(), &registers));
    copy = thread_registers_pc(&registers);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_remove(false), 0);
    CHECK(!hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(thread_registers_pc(&registers), copy);
    CHECK_EQUAL(hook_set_remove(true), 0);
    CHECK(hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(thread_registers_pc(&registers), middle());
    end();
}

static void who_is_at_a_jump_in_padding_begins_the_function_again(void)
{
    struct thread_registers registers;

    begin(short_one, true);
    CHECK_EQUAL(plan.method, HOOK_HOP);
    CHECK(!hook_set_contains(plan.hop_at));
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK(hook_set_contains(plan.hop_at));
    registers = registers_at(plan.hop_at);
    CHECK(!hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(hook_set_remove(true), 0);
    CHECK(!hook_set_contains(plan.hop_at));
    CHECK(hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(thread_registers_pc(&registers), (uintptr_t)short_one);
    end();
}

static bool is_in_long_one(uint64_t pc)
{
    return pc == middle();
}

static void pcs_are_found_in_registers(void)
{
    struct thread_registers registers;

    begin(long_one, false);
    registers = registers_at(middle());
    CHECK(hook_set_finds_pc(gettid(), &registers, is_in_long_one));
    registers = registers_at(middle() + 1);
    CHECK(!hook_set_finds_pc(gettid(), &registers, is_in_long_one));
    end();
}

static void other_bytes_than_expected_are_refused(void)
{
    static const uint8_t other[HOOK_DISPLACED_BYTES_MAX] = {0x90};
    struct hook_wish wish = {.plan = &plan, .expected = other};

    begin(long_one, false);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)short_one, &plan), 0);
    CHECK_EQUAL(hook_set_add(&wish), -ESTALE);
    end();
}

static void a_function_is_hooked_once(void)
{
    struct hook_wish wish = {.plan = &plan};

    begin(long_one, false);
    CHECK_EQUAL(hook_set_add(&wish), -EBUSY);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 1);
    CHECK_EQUAL(hook_set_remove(true), 0);
    end();
}

static void what_is_gone_before_it_is_hooked_is_not_patched(void)
{
    struct thread_registers registers;
    uint8_t before[8];

    begin(long_one, false);
    memcpy(before, long_one, sizeof(before));
    registers = registers_at(middle());
    CHECK(hook_set_move_in(gettid(), &registers));
    hook_set_forget((uintptr_t)long_one, (uintptr_t)short_one);
    CHECK_EQUAL(hook_set_commit(), 0);
    CHECK_EQUAL(hook_set_count(), 0);
    CHECK(memcmp(before, long_one, sizeof(before)) == 0);
    CHECK(hook_set_move_out(gettid(), &registers));
    CHECK_EQUAL(thread_registers_pc(&registers), middle());
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(threads_are_moved_in_before_and_out_afterwards),
    CHECK_CASE(nobody_goes_back_to_a_function_that_is_still_hooked),
    CHECK_CASE(who_is_at_a_jump_in_padding_begins_the_function_again),
    CHECK_CASE(pcs_are_found_in_registers),
    CHECK_CASE(other_bytes_than_expected_are_refused),
    CHECK_CASE(a_function_is_hooked_once),
    CHECK_CASE(what_is_gone_before_it_is_hooked_is_not_patched),
};

CHECK_MAIN(cases)
