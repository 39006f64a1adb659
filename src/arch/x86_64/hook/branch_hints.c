/* SPDX-License-Identifier: MIT */
/*
 * Nothing is decoded: each four bytes, wherever they begin, are taken for the distance of a branch, or of an operand,
 * from behind them. What is a distance is among them, so what leads near to a plan is found, and a little else. Short
 * branches have a byte only; but who branches shortly to what is near is near itself, and surveyed. Tables of jumps are
 * known by what is at an address that the code takes (lea): the survey believes in them if their first entry leads to
 * code.
 */
#include "arch/x86_64/hook/branch_hints.h"

#include "hook/hook_planner.h"

static bool is_code(const struct hook_planner *planner, uint64_t address)
{
    struct hook_code code;

    return hook_planner_code(planner, address, &code);
}

static bool may_be_table(const struct hook_planner *planner, uint64_t address)
{
    uint64_t pointer;
    int32_t distance;

    return (hook_planner_read(planner, address, &distance, sizeof(distance)) &&
            is_code(planner, address + (uint64_t)(int64_t)distance)) ||
           (hook_planner_read(planner, address, &pointer, sizeof(pointer)) &&
            is_code(planner, pointer - planner->module->load_bias));
}

/* What the bytes before a distance are of, if they are of an instruction that has one. */
enum user {
    USER_NONE,
    USER_BRANCH,  /* a call, a jump: ends behind it */
    USER_ADDRESS, /* lea, likewise */
    USER_OPERAND, /* in memory; an immediate may follow, and the distance counts from behind that */
};

static enum user find_user(const uint8_t *distance, uint64_t room_before)
{
    uint8_t last = room_before > 0 ? distance[-1] : 0, before = room_before > 1 ? distance[-2] : 0;

    if (last == 0xe8 || last == 0xe9 || (before == 0x0f && (last & 0xf0) == 0x80) || (before == 0xc7 && last == 0xf8))
        return USER_BRANCH;
    if ((last & 0xc7) != 0x05)
        return USER_NONE;
    return before == 0x8d ? USER_ADDRESS : USER_OPERAND;
}

/* Everybody may go to a known start; that is marked anyway. */
static bool is_known_start(const struct hook_planner *planner, uint64_t address)
{
    const struct elf_function *function = elf_function_list_find(planner->module->functions, address);

    return function != NULL && function->start == address;
}

/* A distance from behind itself leads there. */
static bool does_matter(const struct hook_planner *planner, const uint8_t *distance, uint64_t room_before,
                        uint64_t target)
{
    enum user user = find_user(distance, room_before);

    if (user == USER_NONE)
        return false;
    if (user == USER_ADDRESS && may_be_table(planner, target))
        return true;
    return hook_planner_is_near(planner, target) && (user == USER_OPERAND || !is_known_start(planner, target));
}

bool x86_branch_hints_matter(const struct hook_planner *planner, const struct hook_code *code)
{
    uint64_t size_bytes = code->end - code->start;
    uint64_t module_bytes = planner->module_end - planner->module_start;
    /* Where a distance of zero at the code's start leads to, from the module's start. */
    uint64_t first = code->start - planner->module_start + sizeof(int32_t);
    const uint8_t *bytes = code->bytes;

    /* The last bytes that can be read have no room for one. */
    if (size_bytes + sizeof(int32_t) > code->readable_end - code->start)
        return true;
    for (uint64_t at = 1; at < size_bytes; at++) {
        int32_t distance;
        uint64_t target;

        __builtin_memcpy(&distance, bytes + at, sizeof(distance));
        target = first + at + (uint64_t)(int64_t)distance;
        if (__builtin_expect(target < module_bytes, 0) &&
            does_matter(planner, bytes + at, at, planner->module_start + target))
            return true;
    }
    return false;
}
