/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/stack_check.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

#define CALL_0 "\xe8\x00\x00\x00\x00"

/* How many bytes of the code are a check. */
static uint64_t check_bytes(const void *bytes, size_t size_bytes)
{
    const struct elf_function *function;
    struct planned_code code;
    struct hook_code found;
    uint64_t end;

    planned_code_init(&code);
    function = planned_code_add(&code, "function", bytes, size_bytes);
    planned_code_survey(&code);
    CHECK(hook_planner_code(&code.planner, function->start, &found));
    end = x86_stack_check_find(&code.planner, &found, function->start + size_bytes);
    planned_code_deinit(&code);
    return end - function->start;
}

#define CHECK_BYTES(text) check_bytes((text), sizeof(text) - 1)

static void checks_are_known_by_all_of_their_code(void)
{
    /* cmp rsp, [r14 + 16]; jbe 8; nop; ret; call; jmp 0 */
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x10\x76\x02\x90\xc3" CALL_0 "\xeb\xf1"), 6);
    /* The same with a limit of the system's stack, and an argument that is put away and brought back. */
    CHECK_EQUAL(
        CHECK_BYTES("\x49\x3b\x66\x18\x76\x02\x90\xc3\x48\x89\x44\x24\x08" CALL_0 "\x48\x8b\x44\x24\x08\xeb\xe7"), 6);
}

static void large_frames_are_computed_before(void)
{
    /* lea r12, [rsp - 128]; cmp r12, [r14 + 16]; jbe; ret; call; jmp 0 */
    CHECK_EQUAL(CHECK_BYTES("\x4c\x8d\x64\x24\x80\x4d\x3b\x66\x10\x76\x01\xc3" CALL_0 "\xeb\xed"), 11);
    /* mov r12, rsp; sub r12, 65536; jb; cmp r12, [r14 + 16]; jbe; ret; call; jmp 0 */
    CHECK_EQUAL(
        CHECK_BYTES("\x49\x89\xe4\x49\x81\xec\x00\x00\x01\x00\x72\x07\x4d\x3b\x66\x10\x76\x01\xc3" CALL_0 "\xeb\xe6"),
        18);
}

static void what_is_not_all_there_is_none(void)
{
    /* Another member, another register, a way back that leads elsewhere, without a call, with two; no branch. */
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x20\x76\x02\x90\xc3" CALL_0 "\xeb\xf1"), 0);
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x65\x10\x76\x02\x90\xc3" CALL_0 "\xeb\xf1"), 0);
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x10\x76\x02\x90\xc3" CALL_0 "\xeb\xf5"), 0);
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x10\x76\x02\x90\xc3\xeb\xf6"), 0);
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x10\x76\x02\x90\xc3" CALL_0 CALL_0 "\xeb\xec"), 0);
    CHECK_EQUAL(CHECK_BYTES("\x49\x3b\x66\x10\x90\xc3" CALL_0 "\xeb\xf3"), 0);
    /* The stack has changed before. */
    CHECK_EQUAL(CHECK_BYTES("\x55\x49\x3b\x66\x10\x76\x01\xc3" CALL_0 "\xeb\xf1"), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(checks_are_known_by_all_of_their_code),
    CHECK_CASE(large_frames_are_computed_before),
    CHECK_CASE(what_is_not_all_there_is_none),
};

CHECK_MAIN(cases)
