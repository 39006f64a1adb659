/* SPDX-License-Identifier: MIT */
/* Instructions in the middle of functions: no branch may lead to what is overwritten, wherever it comes from. */
#include "hook/instruction_plan.h"

#include "arch/arch.h"
#include "hook/hook_image.h"
#include "support/check.h"

#include <errno.h>

/* A probe as SystemTap's header puts it, a nop of one byte: what is behind it is where a loop goes. */
__asm__("        .text\n"
        "        .p2align 4\n"
        "        .type   looping, @function\n"
        "looping:\n"
        "        xorl    %eax, %eax\n"
        "        nop\n"
        "1:      incl    %eax\n"
        "        cmpl    $5, %eax\n"
        "        jne     1b\n"
        "        ret\n"
        "        .size   looping, . - looping\n"
        "        .p2align 4\n"
        "        .type   straight, @function\n"
        "straight:\n"
        "        movl    $1, %eax\n"
        "        nop\n"
        "        movl    $2, %ecx\n"
        "        addl    %ecx, %eax\n"
        "        ret\n"
        "        .size   straight, . - straight\n");

int straight(void);
int looping(void);

#define STRAIGHT_PROBE 5
#define LOOPING_PROBE  2

static struct hook_image image;
static uint64_t bias;

/* Addresses here are larger than those of the file. */
static bool begin(void)
{
    struct elf_symbol symbol;

    if (arch_host() == NULL)
        return false;
    CHECK_EQUAL(hook_image_open(&image, "/proc/self/exe"), 0);
    CHECK_EQUAL(hook_image_survey(&image, NULL), 0);
    CHECK_EQUAL(elf_symbols_find(&image.file.symbols, "straight", &symbol), 0);
    bias = (uintptr_t)straight - symbol.address;
    return true;
}

static void neighbours_move_with_it(void)
{
    struct hook_plan plan;
    uint64_t address;

    if (!begin())
        return;
    address = (uintptr_t)straight + STRAIGHT_PROBE - bias;
    CHECK_EQUAL(hook_plan_instruction(&image.planner, address, &plan), 0);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.patch_at, address);
    CHECK_EQUAL(plan.displaced_end, address + 6);
    CHECK_EQUAL(hook_plan_instruction(&image.planner, address + 2, &plan), -EILSEQ);
    CHECK_EQUAL(hook_plan_instruction(&image.planner, UINT64_MAX / 2, &plan), -EFAULT);
    hook_image_close(&image);
}

/* The rest of the function could be displaced as a whole, but what is before it goes there, too. */
static void a_branch_from_before_is_seen(void)
{
    struct hook_plan plan;

    if (!begin())
        return;
    CHECK_EQUAL(hook_plan_instruction(&image.planner, (uintptr_t)looping + LOOPING_PROBE - bias, &plan), 0);
    CHECK_EQUAL(plan.method, HOOK_TRAP);
    CHECK_EQUAL(looping() + straight(), 8);
    hook_image_close(&image);
}

static void a_function_is_one(void)
{
    struct hook_plan plan;

    if (!begin())
        return;
    CHECK_EQUAL(hook_plan_address(&image.planner, (uintptr_t)straight - bias, &plan), 0);
    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.displaced_end, (uintptr_t)straight - bias + 5);
    hook_image_close(&image);
}

static const struct check_case cases[] = {
    CHECK_CASE(neighbours_move_with_it),
    CHECK_CASE(a_branch_from_before_is_seen),
    CHECK_CASE(a_function_is_one),
};

CHECK_MAIN(cases)
