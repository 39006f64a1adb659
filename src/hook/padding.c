/* SPDX-License-Identifier: MIT */
/*
 * Padding is fillers, which are for the CPU to know (no-operations, of GNU as and ld, and breakpoints, of lld), or
 * zeroes. Zeroes may be data as well: they are taken for padding only if nothing else comes up to the next function and
 * nothing refers to them. Pieces for jumps are cut from the end of a run: a short function in front may need its
 * beginning.
 */
#include "hook/padding.h"

#include "arch/engine.h"
#include "hook/hook_planner.h"

static bool look(const struct hook_planner *planner, const struct hook_code *code, uint64_t at,
                 struct hook_instruction *instruction_out)
{
    return planner->machine->look(planner, code, at, instruction_out);
}

/* Whether [start, end) is nothing but zeroes, and nobody asks for them. */
static bool is_zero_gap(const struct hook_planner *planner, uint64_t start, uint64_t end)
{
    struct hook_code code;

    if (start >= end || !hook_planner_code(planner, start, &code) || code.end < end ||
        hook_planner_is_taken(planner, start, end))
        return false;
    for (uint64_t i = 0; i < end - start; i++)
        if (code.bytes[i] != 0)
            return false;
    return true;
}

/* Where a run of padding that starts here ends, at `limit` at the latest. */
static uint64_t find_run_end(const struct hook_planner *planner, uint64_t start, uint64_t limit, uint64_t function_end)
{
    uint64_t at = start;
    struct hook_code code;
    struct hook_instruction insn;

    if (start >= limit || !hook_planner_code(planner, start, &code))
        return start;
    while (at < limit && look(planner, &code, at, &insn) && insn.flags & HOOK_INSTRUCTION_IS_FILLER &&
           at + insn.length <= limit)
        at += insn.length;
    if (at < limit && at >= function_end && is_zero_gap(planner, at, limit))
        at = limit;
    return at;
}

bool hook_padding_is_free(const struct hook_planner *planner, uint64_t start, uint64_t end, uint64_t function_end)
{
    uint64_t limit = hook_planner_next_start(planner, start);

    return end <= limit && !hook_planner_is_taken(planner, start, end) &&
           find_run_end(planner, start, limit, function_end) >= end;
}

/* What is looked for: so many bytes that start in [low, high]. */
struct window {
    uint64_t low;
    uint64_t high;
    unsigned size_bytes;
};

/* The last piece of a run that is free and starts in the window. */
static bool find_in_run(const struct hook_planner *planner, const struct hook_code *run, const struct window *window,
                        uint64_t *start_out)
{
    uint64_t at;

    if (run->end - run->start < window->size_bytes)
        return false;
    at = run->end - window->size_bytes;
    if (at > window->high)
        at = window->high;
    for (; at >= run->start && at >= window->low; at--) {
        if (!hook_planner_is_taken(planner, at, at + window->size_bytes)) {
            *start_out = at;
            return true;
        }
        if (at == 0)
            break;
    }
    return false;
}

/* Between this function and the next one. */
static bool find_behind(const struct hook_planner *planner, const struct elf_function *function,
                        const struct window *window, uint64_t *start_out)
{
    uint64_t start = function->covered_end;
    uint64_t limit = hook_planner_next_start(planner, function->start);
    struct hook_code run = {.start = start, .end = find_run_end(planner, start, limit, start)};

    return start < limit && find_in_run(planner, &run, window, start_out);
}

/* Within this function, where a loop behind a jump is aligned. */
static bool find_inside(const struct hook_planner *planner, const struct elf_function *function,
                        const struct window *window, uint64_t *start_out)
{
    uint64_t end = hook_planner_next_start(planner, function->start);
    bool is_dead = false;
    struct hook_code code;
    struct hook_instruction insn;

    if (!hook_planner_code(planner, function->start, &code))
        return false;
    code.end = end;
    for (uint64_t at = code.start; at < end && at <= window->high; at += insn.length) {
        struct hook_code run = {.start = at, .end = end};

        if (!look(planner, &code, at, &insn))
            return false;
        if (is_dead && insn.flags & HOOK_INSTRUCTION_IS_FILLER) {
            run.end = find_run_end(planner, at, end, end);
            if (!hook_planner_is_taken(planner, run.start, run.end) && find_in_run(planner, &run, window, start_out))
                return true;
        }
        is_dead = insn.flags & HOOK_INSTRUCTION_IS_END;
    }
    return false;
}

bool hook_padding_find(const struct hook_planner *planner, uint64_t low, uint64_t high, unsigned size_bytes,
                       uint64_t *start_out)
{
    const struct elf_function_list *list = planner->module->functions;
    const struct elf_function *first = elf_function_list_find(list, low), *end = list->functions + list->count;
    struct window window = {low, high, size_bytes};

    if (first == NULL)
        first = list->functions;
    for (const struct elf_function *function = first; function < end && function->start <= high; function++)
        if (find_behind(planner, function, &window, start_out))
            return true;
    for (const struct elf_function *function = first; function < end && function->start <= high; function++)
        if (find_inside(planner, function, &window, start_out))
            return true;
    return false;
}
