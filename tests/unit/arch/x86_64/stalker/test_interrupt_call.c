/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/stalker/interrupt_call.h"

#include "gait/x86_64.h"
#include "stalker/system_call.h"
#include "support/check.h"

#include <linux/prctl.h>
#include <linux/sched.h>

static struct gait_cpu_context cpu;
static struct system_call call;

static enum foreign_call get(uint64_t number, uint64_t first)
{
    gait_x86_64_rax(&cpu) = number;
    gait_x86_64_rbx(&cpu) = first;
    gait_x86_64_rcx(&cpu) = 0x100000002;
    gait_x86_64_rdx(&cpu) = 3;
    gait_x86_64_rsi(&cpu) = 4;
    gait_x86_64_rdi(&cpu) = 5;
    gait_x86_64_rbp(&cpu) = 6;
    return x86_interrupt_call_get(&cpu, &call);
}

/* Arguments have 32 bits. */
static void what_means_the_same_gets_the_number_of_here(void)
{
    CHECK_EQUAL(get(125, 0x1255001000), FOREIGN_CALL_SAME);
    CHECK_EQUAL(call.number, 10);
    CHECK_EQUAL(call.arguments[0], 0x55001000);
    CHECK_EQUAL(call.arguments[1], 2);
    CHECK_EQUAL(call.arguments[5], 6);
    CHECK_EQUAL(get(2, 0), FOREIGN_CALL_SAME);
    CHECK_EQUAL(call.number, 57);
    CHECK_EQUAL(get(0x700000002, 0), FOREIGN_CALL_SAME);
    CHECK_EQUAL(get(252, 1), FOREIGN_CALL_SAME);
    CHECK_EQUAL(call.number, 231);
}

static void what_means_something_else_is_left(void)
{
    static const uint64_t numbers[] = {11, 67, 90, 119, 163, 173, 174, 186, 190, 192, 358, 435};

    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        CHECK_EQUAL(get(numbers[i], 0), FOREIGN_CALL_LEAVE);
    CHECK_EQUAL(get(172, PR_SET_NAME), FOREIGN_CALL_SAME);
    CHECK_EQUAL(get(172, PR_SET_SECCOMP), FOREIGN_CALL_LEAVE);
}

static void what_the_engine_has_no_part_in_is_made(void)
{
    CHECK_EQUAL(get(20, 0), FOREIGN_CALL_PLAIN);
    CHECK_EQUAL(call.number, 20);
    CHECK_EQUAL(get(100000, 0), FOREIGN_CALL_PLAIN);
    CHECK_EQUAL(get(56, 0), FOREIGN_CALL_PLAIN);
}

static void a_child_is_one_of_fork_or_nobody_knows_it(void)
{
    CHECK_EQUAL(get(120, 17), FOREIGN_CALL_SAME);
    CHECK_EQUAL(call.number, 56);
    CHECK_EQUAL(call.arguments[3], 5);
    CHECK_EQUAL(call.arguments[4], 4);
    CHECK_EQUAL(get(120, CLONE_VM | CLONE_VFORK), FOREIGN_CALL_LEAVE);
    CHECK_EQUAL(get(120, CLONE_SETTLS), FOREIGN_CALL_LEAVE);
}

static void registers_that_the_instruction_leaves_alone_are_as_before(void)
{
    struct gait_cpu_context before = {.registers = {0}};

    gait_x86_64_rcx(&before) = 1;
    gait_x86_64_r11(&before) = 2;
    gait_x86_64_rax(&cpu) = 7;
    x86_interrupt_call_keep(&cpu, &before);
    CHECK_EQUAL(gait_x86_64_rcx(&cpu), 1);
    CHECK_EQUAL(gait_x86_64_r11(&cpu), 2);
    CHECK_EQUAL(gait_x86_64_rax(&cpu), 7);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_means_the_same_gets_the_number_of_here),
    CHECK_CASE(what_means_something_else_is_left),
    CHECK_CASE(what_the_engine_has_no_part_in_is_made),
    CHECK_CASE(a_child_is_one_of_fork_or_nobody_knows_it),
    CHECK_CASE(registers_that_the_instruction_leaves_alone_are_as_before),
};

CHECK_MAIN(cases)
