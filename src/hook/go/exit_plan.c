/* SPDX-License-Identifier: MIT */
/*
 * A return has a byte or so, and a jump needs more: so what stands before it is taken along, which takes the frame off
 * the stack mostly, or padding behind it. Only what cannot fault is, since a runtime that looks at where a fault was
 * would not know the place; and nobody comes to any byte of it but to the first.
 */
#include "hook/go/exit_plan.h"

#include "arch/engine.h"
#include "hook/hook_planner.h"
#include "hook/padding.h"

#include <asm/errno.h>

/* So many instructions before a return are remembered. */
#define BEFORE_MAX 4

struct exit_walk {
    struct hook_planner *planner;
    struct hook_code code; /* from the function's start to the end of the span */
    uint64_t function_end;
    uint64_t free_from;          /* no patch may begin before that */
    uint64_t before[BEFORE_MAX]; /* where these began, the nearest first, one behind the other */
    unsigned before_count;
    struct hook_plan *plans;
    size_t count;
};

/* What may be taken along. */
static bool may_go_along(const struct hook_instruction *insn)
{
    return (insn->flags & (HOOK_INSTRUCTION_IS_COPYABLE | HOOK_INSTRUCTION_STAYS_HOME)) ==
           (HOOK_INSTRUCTION_IS_COPYABLE | HOOK_INSTRUCTION_STAYS_HOME);
}

static void settle(struct exit_walk *walk, uint64_t at, uint64_t start, uint64_t end)
{
    unsigned jump_bytes = walk->planner->machine->sizes.jump;
    struct hook_plan *plan = &walk->plans[walk->count++];

    *plan = (struct hook_plan){
        .address = at,
        .patch_at = start,
        .displaced_end = end,
        .patch_bytes = jump_bytes,
        .method = start + jump_bytes > end ? HOOK_JUMP_INTO_PADDING : HOOK_JUMP,
        .is_entry_only = true,
    };
    walk->free_from = start + jump_bytes > end ? start + jump_bytes : end;
    hook_planner_take(walk->planner, start, walk->free_from);
}

/* With as little as possible before it. */
static bool plan_return(struct exit_walk *walk, uint64_t at, unsigned length)
{
    uint64_t end = at + length, start = at;
    unsigned jump_bytes = walk->planner->machine->sizes.jump;

    for (unsigned i = 0;; start = walk->before[i++]) {
        uint64_t patch_end = start + jump_bytes;

        if (start < walk->free_from || hook_planner_is_taken(walk->planner, start + 1, end))
            return false;
        if (patch_end <= end || hook_padding_is_free(walk->planner, end, patch_end, walk->function_end)) {
            settle(walk, at, start, end);
            return true;
        }
        if (i == walk->before_count)
            return false;
    }
}

static void remember(struct exit_walk *walk, uint64_t at, const struct hook_instruction *insn)
{
    if (!may_go_along(insn)) {
        walk->before_count = 0;
        return;
    }
    for (unsigned i = BEFORE_MAX - 1; i > 0; i--)
        walk->before[i] = walk->before[i - 1];
    walk->before[0] = at;
    walk->before_count += walk->before_count < BEFORE_MAX;
}

/* False: there is a return that cannot be patched, or something that is no instruction. */
static bool walk_function(struct exit_walk *walk)
{
    struct hook_instruction insn;

    for (uint64_t at = walk->code.start; at < walk->function_end; at += insn.length) {
        if (!walk->planner->machine->look(walk->planner, &walk->code, at, &insn))
            return false;
        if (insn.flags & HOOK_INSTRUCTION_IS_RETURN &&
            (walk->count == EXIT_PLANS_MAX || !plan_return(walk, at, insn.length)))
            return false;
        remember(walk, at, &insn);
    }
    return walk->count != 0;
}

void exit_plans_release(struct hook_planner *planner, const struct hook_plan *plans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t patch_end = plans[i].patch_at + plans[i].patch_bytes;

        hook_planner_give_back(planner, plans[i].patch_at + 1,
                               patch_end > plans[i].displaced_end ? patch_end : plans[i].displaced_end);
    }
}

int exit_plans_make(struct hook_planner *planner, const struct elf_function *function, const struct hook_plan *entry,
                    struct hook_plan *plans_out, size_t *count_out)
{
    struct exit_walk walk = {.planner = planner, .plans = plans_out};

    if (!hook_planner_code(planner, function->start, &walk.code))
        return -EOPNOTSUPP;
    walk.function_end = hook_planner_function_end(planner, function);
    walk.free_from = entry->patch_at + entry->patch_bytes;
    if (walk.free_from < entry->displaced_end)
        walk.free_from = entry->displaced_end;
    if (!walk_function(&walk)) {
        exit_plans_release(planner, plans_out, walk.count);
        return -EOPNOTSUPP;
    }
    *count_out = walk.count;
    return 0;
}
