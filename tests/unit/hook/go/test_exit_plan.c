/* SPDX-License-Identifier: MIT */
/* Functions as Go's compiler makes them: cmp rsp, [r14 + 16]; jbe; sub rsp, 24; mov [rsp + 16], rbp; ... */
#include "hook/go/exit_plan.h"

#include "support/check.h"
#include "support/planned_code.h"

#include <errno.h>

#define BEGIN(more) "\x49\x3b\x66\x10\x76" more "\x48\x83\xec\x18\x48\x89\x6c\x24\x10"
#define MORE(back)  "\xe8\x00\x00\x00\x00\xeb" back
#define RESTORE     "\x48\x8b\x6c\x24\x10" /* mov rbp, [rsp + 16] */
#define FREE        "\x48\x83\xc4\x18"     /* add rsp, 24 */
#define RET         "\xc3"

static struct planned_code code;
static struct hook_plan plans[EXIT_PLANS_MAX];
static size_t count;

static int plan(const void *bytes, size_t size_bytes, uint8_t padding)
{
    const struct elf_function *function;
    struct hook_plan entry;
    int result;

    planned_code_init(&code);
    function = planned_code_add(&code, "function", bytes, size_bytes);
    planned_code_fill(&code, padding, 16);
    PLANNED_ADD(&code, "next", "\x31\xc0\xc3");
    planned_code_survey(&code);
    entry = planned_code_plan(&code, function);
    count = 0;
    result = exit_plans_make(&code.planner, function, &entry, plans, &count);
    planned_code_deinit(&code);
    return result;
}

#define PLAN(text) plan((text), sizeof(text) - 1, 0xcc)

static void is_plan(const struct hook_plan *found, enum hook_method method, uint64_t at, uint64_t start, uint64_t end)
{
    CHECK_EQUAL(found->method, method);
    CHECK_EQUAL(found->address - PLANNED_CODE, at);
    CHECK_EQUAL(found->patch_at - PLANNED_CODE, start);
    CHECK_EQUAL(found->displaced_end - PLANNED_CODE, end);
    CHECK_EQUAL(found->patch_bytes, 5);
    CHECK(found->is_entry_only);
}

static void a_return_takes_along_what_frees_the_frame(void)
{
    CHECK_EQUAL(PLAN(BEGIN("\x13") RESTORE FREE RET MORE("\xe0")), 0);
    CHECK_EQUAL(count, 1);
    is_plan(&plans[0], HOOK_JUMP, 24, 20, 25);
}

static void all_returns_are_planned(void)
{
    /* test eax, eax; je to the second one */
    CHECK_EQUAL(PLAN(BEGIN("\x21") "\x85\xc0\x74\x0a" RESTORE FREE RET RESTORE FREE RET MORE("\xd2")), 0);
    CHECK_EQUAL(count, 2);
    is_plan(&plans[0], HOOK_JUMP, 28, 24, 29);
    is_plan(&plans[1], HOOK_JUMP, 38, 34, 39);
}

static void padding_behind_a_return_will_do(void)
{
    CHECK_EQUAL(PLAN("\x48\x01\xd8\xc3"), -EOPNOTSUPP);
    CHECK_EQUAL(PLAN("\x48\x01\xd8\x48\x01\xd8\x48\x01\xd8\xc3"), 0);
    is_plan(&plans[0], HOOK_JUMP_INTO_PADDING, 9, 9, 10);
}

static void one_that_cannot_be_leaves_all_alone(void)
{
    /* A branch leads between the two, to the return itself. */
    CHECK_EQUAL(PLAN(BEGIN("\x17") "\x85\xc0\x74\x09" RESTORE FREE RET MORE("\xdc")), -EOPNOTSUPP);
    /* What stands before it may fault: mov rax, [rax]. */
    CHECK_EQUAL(PLAN(BEGIN("\x13") "\x48\x8b\x40\x08\x90\x48\x8b\x00\x90" RET MORE("\xe0")), -EOPNOTSUPP);
    /* Somebody comes back to it from a call. */
    CHECK_EQUAL(PLAN(BEGIN("\x0f") "\xe8\x00\x00\x00\x00" RET MORE("\xe4")), -EOPNOTSUPP);
    /* It never returns. */
    CHECK_EQUAL(PLAN(BEGIN("\x0b") "\x0f\x0b" MORE("\xe8")), -EOPNOTSUPP);
}

static void what_was_planned_can_be_given_back(void)
{
    const struct elf_function *function;
    struct hook_plan entry;

    planned_code_init(&code);
    function = PLANNED_ADD(&code, "function", "\x48\x01\xd8\x48\x01\xd8\x48\x01\xd8\xc3");
    planned_code_fill(&code, 0xcc, 16);
    PLANNED_ADD(&code, "next", "\x31\xc0\xc3");
    planned_code_survey(&code);
    entry = planned_code_plan(&code, function);
    CHECK_EQUAL(exit_plans_make(&code.planner, function, &entry, plans, &count), 0);
    /* Its padding is taken. */
    CHECK_EQUAL(exit_plans_make(&code.planner, function, &entry, plans, &count), -EOPNOTSUPP);
    exit_plans_release(&code.planner, plans, 1);
    CHECK_EQUAL(exit_plans_make(&code.planner, function, &entry, plans, &count), 0);
    planned_code_deinit(&code);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_return_takes_along_what_frees_the_frame), CHECK_CASE(all_returns_are_planned),
    CHECK_CASE(padding_behind_a_return_will_do),           CHECK_CASE(one_that_cannot_be_leaves_all_alone),
    CHECK_CASE(what_was_planned_can_be_given_back),
};

CHECK_MAIN(cases)
