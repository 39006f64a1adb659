/* SPDX-License-Identifier: MIT */
#include "hook/padding.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

static struct planned_code code;

/* A function, these bytes, another function. Whether the first five of them are free. */
static bool is_free(const void *bytes, size_t size_bytes)
{
    const struct elf_function *function;
    uint64_t end;
    bool result;

    planned_code_init(&code);
    function = PLANNED_ADD(&code, "first", "\x31\xc0\xc3");
    planned_code_put(&code, bytes, size_bytes);
    PLANNED_ADD(&code, "second", "\x31\xc0\xc3");
    planned_code_survey(&code);
    end = function->start + function->size_bytes;
    result = hook_padding_is_free(&code.planner, end, end + 5, end);
    planned_code_deinit(&code);
    return result;
}

#define IS_FREE(text) is_free((text), sizeof(text) - 1)

static void padding_is_what_tools_fill_up_with(void)
{
    CHECK(IS_FREE("\x90\x90\x90\x90\x90\x90"));
    CHECK(IS_FREE("\x0f\x1f\x44\x00\x00"));
    CHECK(IS_FREE("\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"));
    CHECK(IS_FREE("\x66\x90\x0f\x1f\x00"));
    CHECK(IS_FREE("\xcc\xcc\xcc\xcc\xcc"));
    CHECK(IS_FREE("\x00\x00\x00\x00\x00\x00"));
    CHECK(IS_FREE("\x90\x90\x00\x00\x00"));
}

static void other_bytes_are_none(void)
{
    CHECK(!IS_FREE("\x90\x90\x90\x90"));
    CHECK(!IS_FREE("\x90\x90\x90\xc3\x90\x90"));
    CHECK(!IS_FREE("\x31\xc0\x90\x90\x90\x90"));
    /* Zeroes with something behind them may be the beginning of a number. */
    CHECK(!IS_FREE("\x00\x00\x00\x00\x00\x00\x00\x01"));
    CHECK(!IS_FREE("\x00\x00\x00\x00\x00\x90\x90\x90"));
}

static void what_somebody_asks_for_is_none(void)
{
    const struct elf_function *function;
    uint64_t end;

    planned_code_init(&code);
    /* mov rax, [rip + 9] */
    function = PLANNED_ADD(&code, "first", "\x48\x8b\x05\x09\x00\x00\x00\xc3");
    planned_code_fill(&code, 0, 16);
    PLANNED_ADD(&code, "second", "\xc3");
    planned_code_survey(&code);
    end = function->start + function->size_bytes;
    CHECK(!hook_padding_is_free(&code.planner, end, end + 5, end));
    planned_code_deinit(&code);
}

static void zeroes_within_a_function_are_none(void)
{
    const struct elf_function *function;

    planned_code_init(&code);
    function = PLANNED_ADD(&code, "first", "\xc3\x00\x00\x00\x00\x00\x00\x00");
    PLANNED_ADD(&code, "second", "\xc3\x90\x90\x90\x90\x90\x90\x90");
    planned_code_survey(&code);
    CHECK(!hook_padding_is_free(&code.planner, function->start + 1, function->start + 6, function->start + 8));
    function++;
    CHECK(hook_padding_is_free(&code.planner, function->start + 1, function->start + 6, function->start + 8));
    planned_code_deinit(&code);
}

static void pieces_are_found_within_reach(void)
{
    const struct elf_function *function;
    uint64_t gap, found = 0;

    planned_code_init(&code);
    function = PLANNED_ADD(&code, "first", "\x31\xc0\xc3");
    gap = planned_code_fill(&code, 0x90, 12);
    PLANNED_ADD(&code, "second", "\xc3");
    planned_code_survey(&code);
    CHECK(hook_padding_find(&code.planner, function->start, gap + 100, 5, &found));
    CHECK_EQUAL(found, gap + 7);
    CHECK(hook_padding_find(&code.planner, function->start, gap + 2, 5, &found));
    CHECK_EQUAL(found, gap + 2);
    CHECK(hook_padding_find(&code.planner, gap + 7, gap + 7, 5, &found));
    CHECK_EQUAL(found, gap + 7);
    CHECK(!hook_padding_find(&code.planner, gap + 8, gap + 100, 5, &found));
    CHECK(!hook_padding_find(&code.planner, 0, gap - 1, 5, &found));
    hook_planner_take(&code.planner, gap + 9, gap + 10);
    CHECK(hook_padding_find(&code.planner, 0, UINT64_MAX - 100, 5, &found));
    CHECK_EQUAL(found, gap + 4);
    CHECK(!hook_padding_find(&code.planner, 0, UINT64_MAX - 100, 10, &found));
    planned_code_deinit(&code);
}

static void aligned_loops_leave_room_in_a_function(void)
{
    uint64_t found = 0, start;

    planned_code_init(&code);
    /* test edi, edi; je +8; ret; seven bytes of no-operation; inc eax; ret */
    start = PLANNED_ADD(&code, "first", "\x85\xff\x74\x08\xc3\x0f\x1f\x80\x00\x00\x00\x00\xff\xc0\xc3")->start;
    PLANNED_ADD(&code, "second", "\xc3");
    planned_code_survey(&code);
    CHECK(hook_padding_find(&code.planner, start, start + 64, 5, &found));
    CHECK_EQUAL(found, start + 7);
    planned_code_deinit(&code);
}

static void no_operations_that_are_executed_are_none(void)
{
    uint64_t found = 0, start;

    planned_code_init(&code);
    start = PLANNED_ADD(&code, "first", "\x85\xff\x0f\x1f\x80\x00\x00\x00\x00\xff\xc0\xc3")->start;
    /* Jumped to: ret, no-operation, and somebody who goes there. */
    PLANNED_ADD(&code, "second", "\xc3\x0f\x1f\x80\x00\x00\x00\x00\xeb\xf7");
    planned_code_survey(&code);
    CHECK(!hook_padding_find(&code.planner, start, start + 64, 5, &found));
    planned_code_deinit(&code);
}

static void padding_in_a_function_around_is_none(void)
{
    struct elf_function *outer;
    uint64_t found = 0;

    planned_code_init(&code);
    /* The first one goes on through what looks like padding behind the second. */
    outer = PLANNED_ADD(&code, "outer", "\x85\xff");
    PLANNED_ADD(&code, "inner", "\xff\xc0");
    planned_code_fill(&code, 0x90, 8);
    PLANNED_ADD(&code, "other", "\xc3");
    outer->size_bytes = 13;
    planned_code_survey(&code);
    CHECK(!hook_padding_find(&code.planner, outer->start, outer->start + 64, 5, &found));
    planned_code_deinit(&code);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(padding_is_what_tools_fill_up_with),
        CHECK_CASE(other_bytes_are_none),
        CHECK_CASE(what_somebody_asks_for_is_none),
        CHECK_CASE(zeroes_within_a_function_are_none),
        CHECK_CASE(pieces_are_found_within_reach),
        CHECK_CASE(aligned_loops_leave_room_in_a_function),
        CHECK_CASE(no_operations_that_are_executed_are_none),
        CHECK_CASE(padding_in_a_function_around_is_none),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
