/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/system_call_sites.h"

#include "arch/x86_64/hook/hook_code.h"
#include "hook/hook_planner.h"
#include "hook/instruction_plan.h"
#include "support/check.h"
#include "support/planned_code.h"

#include <string.h>

static struct planned_code code;
static struct hook_plan plans[8];
static unsigned plan_count;

static void take(void *context, const struct hook_plan *plan)
{
    (void)context;
    if (plan_count < 8)
        plans[plan_count] = *plan;
    plan_count++;
}

/* The only system call of a function. */
static struct hook_plan find(const void *bytes, size_t size_bytes, unsigned padding)
{
    planned_code_init(&code);
    planned_code_add(&code, "first", bytes, size_bytes);
    planned_code_fill(&code, 0x90, padding);
    PLANNED_ADD(&code, "second", "\xc3");
    planned_code_survey(&code);
    plan_count = 0;
    hook_planner_find_system_calls(&code.planner, take, NULL);
    planned_code_deinit(&code);
    CHECK_EQUAL(plan_count, 1);
    return plans[0];
}

#define FIND(text, padding) find((text), sizeof(text) - 1, (padding))

static void what_stands_before_it_is_taken_along(void)
{
    /* nopl (9 bytes); mov $110, %eax; syscall; ret */
    struct hook_plan plan = FIND("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\xb8\x6e\x00\x00\x00\x0f\x05\xc3", 0);

    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.address, PLANNED_CODE + 14);
    CHECK_EQUAL(plan.patch_at, PLANNED_CODE + 9);
    CHECK_EQUAL(plan.displaced_end, PLANNED_CODE + 16);
}

static void the_first_bytes_of_a_function_are_left_for_its_hook(void)
{
    /* mov $110, %eax; syscall; cmp $-4095, %rax; ret */
    struct hook_plan plan = FIND("\xb8\x6e\x00\x00\x00\x0f\x05\x48\x3d\x01\xf0\xff\xff\xc3", 0);

    CHECK_EQUAL(plan.method, HOOK_JUMP);
    CHECK_EQUAL(plan.patch_at, PLANNED_CODE + 5);
    CHECK_EQUAL(plan.displaced_end, PLANNED_CODE + 13);
    /* mov $110, %eax; syscall; ret; and padding */
    plan = FIND("\xb8\x6e\x00\x00\x00\x0f\x05\xc3", 8);
    CHECK_EQUAL(plan.method, HOOK_JUMP_INTO_PADDING);
    CHECK_EQUAL(plan.patch_at, PLANNED_CODE + 5);
    CHECK_EQUAL(plan.displaced_end, PLANNED_CODE + 8);
}

static void where_branches_lead_beside_it_a_short_jump_takes_its_place(void)
{
    /* syscall; test %eax, %eax; js -6 (to the syscall); ret */
    struct hook_plan plan = FIND("\x0f\x05\x85\xc0\x78\xfa\xc3", 16);

    CHECK_EQUAL(plan.method, HOOK_HOP);
    CHECK_EQUAL(plan.patch_at, PLANNED_CODE);
    CHECK_EQUAL(plan.patch_bytes, 2);
    CHECK_EQUAL(plan.hop_bytes, 5);
    /* Without padding there is no way. */
    CHECK_EQUAL(FIND("\x0f\x05\x85\xc0\x78\xfa\xc3", 0).method, HOOK_IMPOSSIBLE);
    /* jmp +5 leads to the syscall behind what would be taken along. */
    plan = FIND("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\x74\x05\xb8\x6e\x00\x00\x00\x0f\x05\x74\x00\xc3", 16);
    CHECK_EQUAL(plan.method, HOOK_HOP);
    CHECK_EQUAL(plan.address, PLANNED_CODE + 16);
}

static void where_handlers_return_to_stays(void)
{
    CHECK_EQUAL(FIND("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 16).obstacle, HOOK_KNOWN_BY_BYTES);
    CHECK_EQUAL(FIND("\xb8\x0f\x00\x00\x00\x0f\x05", 16).method, HOOK_IMPOSSIBLE);
}

static void bytes_within_instructions_are_no_calls(void)
{
    planned_code_init(&code);
    /* mov $0x050f, %eax; ret */
    PLANNED_ADD(&code, "first", "\xb8\x0f\x05\x00\x00\xc3");
    planned_code_survey(&code);
    plan_count = 0;
    hook_planner_find_system_calls(&code.planner, take, NULL);
    CHECK_EQUAL(plan_count, 0);
    planned_code_deinit(&code);
}

static void hooks_of_functions_keep_off(void)
{
    const struct elf_function *function;
    struct hook_plan plan;

    planned_code_init(&code);
    /* xor %eax, %eax; syscall; cmp $-4095, %rax; ret */
    function = PLANNED_ADD(&code, "first", "\x31\xc0\x0f\x05\x48\x3d\x01\xf0\xff\xff\xc3");
    planned_code_fill(&code, 0x90, 16);
    PLANNED_ADD(&code, "second", "\xc3");
    planned_code_survey(&code);
    plan_count = 0;
    hook_planner_find_system_calls(&code.planner, take, NULL);
    CHECK_EQUAL(plan_count, 1);
    CHECK_EQUAL(plans[0].patch_at, PLANNED_CODE + 2);
    plan = planned_code_plan(&code, function);
    CHECK_EQUAL(plan.method, HOOK_HOP);
    CHECK(plan.patch_at + plan.patch_bytes <= plans[0].patch_at);
    planned_code_deinit(&code);
}

static void calls_are_found_wherever_they_stand(void)
{
    static uint8_t bytes[64];
    const struct hook_code here = {bytes, 0x1000, 0x1000 + sizeof(bytes), 0x1000 + sizeof(bytes)};

    for (uint64_t at = 0; at + X86_SYSTEM_CALL_BYTES <= sizeof(bytes); at++) {
        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes + at, "\x0f\x05", X86_SYSTEM_CALL_BYTES);
        CHECK_EQUAL(x86_system_call_next(&here, 0x1000), 0x1000 + at);
        CHECK_EQUAL(x86_system_call_next(&here, 0x1000 + at + 1), here.end);
    }
}

static void the_return_of_handlers_is_known(void)
{
    static const uint8_t bytes[] = "\xb8\x0f\x00\x00\x00\x0f\x05";
    const struct hook_code here = {bytes, 0x1000, 0x1007, 0x1007};

    CHECK(x86_system_call_is_known(&here, 0x1000, 0x1005));
    CHECK(!x86_system_call_is_known(&here, 0x1001, 0x1005));
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_found_wherever_they_stand),
    CHECK_CASE(the_return_of_handlers_is_known),
    CHECK_CASE(what_stands_before_it_is_taken_along),
    CHECK_CASE(the_first_bytes_of_a_function_are_left_for_its_hook),
    CHECK_CASE(where_branches_lead_beside_it_a_short_jump_takes_its_place),
    CHECK_CASE(where_handlers_return_to_stays),
    CHECK_CASE(bytes_within_instructions_are_no_calls),
    CHECK_CASE(hooks_of_functions_keep_off),
};

CHECK_MAIN(cases)
