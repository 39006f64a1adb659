/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/hook/branch_hints.h"

#include "hook/hook_planner.h"
#include "support/check.h"
#include "support/planned_code.h"

#include <string.h>

/* Farther away than what is near. */
#define FAR_BYTES 900

static struct planned_code code;
static uint64_t goal; /* a function far away, whose neighbourhood matters */

/* Whether code with a distance at an offset matters, when that leads to a place; `behind` are the bytes behind it. */
static bool matters(const char *bytes, size_t size_bytes, size_t distance_at, size_t behind, uint64_t target)
{
    struct hook_code looked_at;
    uint8_t function[32];
    int32_t distance;
    uint64_t start;
    bool result;

    planned_code_init(&code);
    memcpy(function, bytes, size_bytes);
    distance = (int32_t)(target - (PLANNED_CODE + distance_at + sizeof(distance) + behind));
    memcpy(function + distance_at, &distance, sizeof(distance));
    start = planned_code_add(&code, "first", function, size_bytes)->start;
    CHECK_EQUAL(start, PLANNED_CODE);
    planned_code_fill(&code, 0x90, FAR_BYTES - size_bytes);
    goal = PLANNED_ADD(&code, "goal", "\x55\x48\x89\xe5\x31\xc0\x5d\xc3")->start;
    planned_code_fill(&code, 0x90, 64);
    planned_code_survey(&code);
    hook_planner_add_near(&code.planner, goal);
    CHECK(hook_planner_code(&code.planner, start, &looked_at));
    looked_at.end = start + size_bytes;
    result = x86_branch_hints_matter(&code.planner, &looked_at);
    planned_code_deinit(&code);
    return result;
}

#define MATTERS(text, at, behind, target) matters((text), sizeof(text) - 1, (at), (behind), (target))
#define GOAL                              (PLANNED_CODE + FAR_BYTES)

static void branches_into_what_is_near_matter(void)
{
    CHECK(MATTERS("\xe9....\xcc", 1, 0, GOAL + 1));
    CHECK(MATTERS("\xe8....\xc3", 1, 0, GOAL + 4));
    CHECK(MATTERS("\x90\x0f\x84....\xc3", 3, 0, GOAL + 2));
    CHECK(MATTERS("\xc7\xf8....\xc3", 2, 0, GOAL + 2));
}

static void branches_to_a_known_start_do_not(void)
{
    CHECK(!MATTERS("\xe9....\xcc", 1, 0, GOAL));
    CHECK(!MATTERS("\xe8....\xc3", 1, 0, GOAL));
    CHECK(!MATTERS("\x90\x0f\x84....\xc3", 3, 0, GOAL));
    CHECK(!MATTERS("\x48\x8d\x05....\xc3", 3, 0, GOAL));
}

static void addresses_of_what_is_near_matter(void)
{
    /* lea; cmpl of an immediate of four bytes; cmpb of one; a vector's mov */
    CHECK(MATTERS("\x48\x8d\x05....\xc3", 3, 0, GOAL + 1));
    CHECK(MATTERS("\x81\x3d....\x01\x00\x00\x00\xc3", 2, 4, GOAL + 1));
    CHECK(MATTERS("\x80\x3d....\x01\xc3", 2, 1, GOAL + 1));
    CHECK(MATTERS("\xc5\xf9\x6f\x05....\xc3", 4, 0, GOAL + 1));
    /* The distance alone is one to the start. */
    CHECK(MATTERS("\x81\x3d....\x01\x00\x00\x00\xc3", 2, 4, GOAL + 4));
}

static void what_leads_elsewhere_does_not_matter(void)
{
    CHECK(!MATTERS("\xe9....\xcc", 1, 0, PLANNED_CODE + 100));
    CHECK(!MATTERS("\x48\x8b\x05....\xc3", 3, 0, PLANNED_DATA));
    CHECK(!MATTERS("\xe8....\xc3", 1, 0, PLANNED_CODE + 100));
    /* A number that would be a distance, of an instruction that has none: mov $..., %eax */
    CHECK(!MATTERS("\xb8....\xc3", 1, 0, GOAL + 1));
}

static void tables_of_jumps_matter(void)
{
    const int32_t distance = (int32_t)(PLANNED_CODE + 2 - (PLANNED_DATA + 64));
    const uint64_t pointer = PLANNED_CODE + 2;

    for (int is_pointer = 0; is_pointer < 2; is_pointer++) {
        struct hook_code looked_at;
        int32_t to_table = (int32_t)(PLANNED_DATA + 64 - (PLANNED_CODE + 7));
        uint8_t function[8] = {0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3};

        planned_code_init(&code);
        memcpy(function + 3, &to_table, sizeof(to_table));
        planned_code_add(&code, "first", function, sizeof(function));
        planned_code_fill(&code, 0x90, 64);
        if (is_pointer)
            memcpy(code.data + 64, &pointer, sizeof(pointer));
        else
            memcpy(code.data + 64, &distance, sizeof(distance));
        planned_code_survey(&code);
        CHECK(hook_planner_code(&code.planner, PLANNED_CODE, &looked_at));
        looked_at.end = PLANNED_CODE + sizeof(function);
        CHECK(x86_branch_hints_matter(&code.planner, &looked_at));
        planned_code_deinit(&code);
    }
}

static void the_last_bytes_are_left_to_the_survey(void)
{
    struct hook_code looked_at;

    planned_code_init(&code);
    PLANNED_ADD(&code, "first", "\x31\xc0\xc3");
    planned_code_survey(&code);
    CHECK(hook_planner_code(&code.planner, PLANNED_CODE, &looked_at));
    CHECK(x86_branch_hints_matter(&code.planner, &looked_at));
    planned_code_deinit(&code);
}

static const struct check_case cases[] = {
    CHECK_CASE(branches_into_what_is_near_matter),
    CHECK_CASE(branches_to_a_known_start_do_not),
    CHECK_CASE(addresses_of_what_is_near_matter),
    CHECK_CASE(what_leads_elsewhere_does_not_matter),
    CHECK_CASE(tables_of_jumps_matter),
    CHECK_CASE(the_last_bytes_are_left_to_the_survey),
};

CHECK_MAIN(cases)
