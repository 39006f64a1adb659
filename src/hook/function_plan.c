/* SPDX-License-Identifier: MIT */
/*
 * How to get a jump into a function: over whole instructions, behind a landing mark if that is possible; with the help
 * of padding behind a short function; a short jump that leads to padding near by; a trap. Invariant: of the bytes that
 * are overwritten nobody goes to any but the first, and nothing that is on its way (a call, a system call) comes back
 * to one. What instructions are, and how long patches, is for the CPU to say.
 */
#include "hook/function_plan.h"

#include "arch/engine.h"
#include "hook/hook_planner.h"
#include "hook/padding.h"

struct entry {
    struct hook_planner *planner;
    struct hook_code code; /* from the function's start to the end of the span */
    uint64_t function_end;
    unsigned mark_bytes; /* of a landing mark at the start */
    uint64_t checked_at; /* behind a check for room on the stack, where the patch may begin; 0: there is none */
    uint64_t places[3];  /* where the patch may begin, the better one first */
    unsigned place_count;
    struct hook_plan *plan;
};

/* What has to move away for a patch. */
struct displacement {
    uint64_t end;
    bool is_padded; /* the patch needs padding behind the last instruction */
};

static const struct engine_patch_sizes *sizes_of(const struct entry *entry)
{
    return &entry->planner->machine->sizes;
}

static bool look(const struct entry *entry, uint64_t at, struct hook_instruction *instruction_out)
{
    return at < entry->code.end && entry->planner->machine->look(entry->planner, &entry->code, at, instruction_out);
}

/* Why nobody may overwrite some bytes behind the first. */
static enum hook_obstacle find_taker(const struct entry *entry, uint64_t at, uint64_t end)
{
    uint64_t next = hook_planner_next_start(entry->planner, at);

    if (!hook_planner_is_taken(entry->planner, at + 1, end))
        return HOOK_NO_OBSTACLE;
    if (next < end && !hook_planner_is_taken(entry->planner, at + 1, next))
        return HOOK_TOO_SHORT;
    return HOOK_BRANCH_INSIDE;
}

/* Which instructions have to move for patch_bytes at a place. */
static enum hook_obstacle displace(const struct entry *entry, uint64_t at, unsigned patch_bytes,
                                   struct displacement *displacement_out)
{
    uint64_t end = at + patch_bytes, pc = at;
    enum hook_obstacle obstacle = find_taker(entry, at, end);
    struct hook_instruction insn;

    if (obstacle != HOOK_NO_OBSTACLE)
        return obstacle;
    while (pc < end) {
        if (!look(entry, pc, &insn))
            return HOOK_NOT_CODE;
        if (!(insn.flags & HOOK_INSTRUCTION_IS_MOVABLE))
            return HOOK_NOT_MOVABLE;
        pc += insn.length;
        if (insn.flags & HOOK_INSTRUCTION_COMES_BACK && pc < end)
            return HOOK_RETURN_INSIDE;
        if (!(insn.flags & HOOK_INSTRUCTION_GOES_ON))
            break;
    }
    displacement_out->is_padded = pc < end;
    displacement_out->end = pc;
    if (pc < end && !hook_padding_is_free(entry->planner, pc, end, entry->function_end))
        return HOOK_TOO_SHORT;
    return HOOK_NO_OBSTACLE;
}

static bool can_move_alone(const struct hook_instruction *insn)
{
    return (insn->flags & (HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_COMES_BACK |
                           HOOK_INSTRUCTION_JUMPS_ANYWHERE)) == HOOK_INSTRUCTION_IS_MOVABLE;
}

/* Whether it is one of the functions that are known, and not what begins in the middle of one. */
static bool is_listed(const struct entry *entry)
{
    const struct elf_function *listed = elf_function_list_find(entry->planner->module->functions, entry->code.start);

    return listed != NULL && listed->start == entry->code.start;
}

/*
 * All of a small function, which goes back into the bytes that are overwritten: its copy goes back into the copy. For
 * that nothing may come to the original any more, neither from other code nor back from a call, nor by a pointer. Of an
 * instruction in the middle nobody knows that: what comes before it may go there, too.
 */
static bool displace_all(const struct entry *entry, uint64_t at, struct displacement *displacement_out)
{
    uint64_t end = entry->function_end, pc = at;
    struct hook_instruction insn;

    if (!is_listed(entry) || end < at + sizes_of(entry)->jump || end - at > HOOK_DISPLACED_BYTES_MAX ||
        end > hook_planner_next_start(entry->planner, at) || hook_planner_is_entered(entry->planner, at + 1, end))
        return false;
    for (; pc < end; pc += insn.length)
        if (!look(entry, pc, &insn) || !can_move_alone(&insn))
            return false;
    *displacement_out = (struct displacement){.end = pc};
    return pc == end;
}

static void settle(const struct entry *entry, enum hook_method method, uint64_t at, unsigned patch_bytes,
                   const struct displacement *displacement)
{
    struct hook_plan *plan = entry->plan;

    plan->method = (uint8_t)method;
    plan->patch_at = at;
    plan->patch_bytes = patch_bytes;
    plan->displaced_end = displacement->end;
    if (displacement->is_padded)
        hook_planner_take(entry->planner, displacement->end, at + patch_bytes);
}

/* Notes what is in the way of a plain jump at the best place; the first reason is the one to tell. */
static void note_obstacle(const struct entry *entry, enum hook_obstacle obstacle)
{
    if (entry->plan->obstacle == HOOK_NO_OBSTACLE)
        entry->plan->obstacle = (uint8_t)obstacle;
}

static bool plan_jump(const struct entry *entry, bool is_padded)
{
    struct displacement displacement;

    for (unsigned i = 0; i < entry->place_count; i++) {
        enum hook_obstacle obstacle = displace(entry, entry->places[i], sizes_of(entry)->jump, &displacement);

        if (obstacle == HOOK_NO_OBSTACLE && displacement.is_padded == is_padded) {
            settle(entry, is_padded ? HOOK_JUMP_INTO_PADDING : HOOK_JUMP, entry->places[i], sizes_of(entry)->jump,
                   &displacement);
            return true;
        }
        note_obstacle(entry, obstacle == HOOK_NO_OBSTACLE ? HOOK_TOO_SHORT : obstacle);
    }
    return false;
}

/* Whether it is the function itself, or may be, that is in the way. */
static bool goes_back(const struct hook_plan *plan)
{
    return plan->obstacle == HOOK_BRANCH_INSIDE || plan->obstacle == HOOK_LOOP_TO_ENTRY;
}

static bool plan_whole(const struct entry *entry)
{
    uint64_t at = entry->code.start + entry->mark_bytes;
    struct displacement displacement;

    if (!displace_all(entry, at, &displacement))
        return false;
    settle(entry, HOOK_JUMP, at, sizes_of(entry)->jump, &displacement);
    return true;
}

static bool plan_hop(const struct entry *entry)
{
    const struct engine_patch_sizes *sizes = sizes_of(entry);
    struct displacement displacement;
    uint64_t jump_at;

    for (unsigned i = 0; sizes->hop != 0 && i < entry->place_count; i++) {
        uint64_t at = entry->places[i], from = at + sizes->hop;
        uint64_t low = from < sizes->hop_reach_back ? 0 : from - sizes->hop_reach_back;

        if (displace(entry, at, sizes->hop, &displacement) != HOOK_NO_OBSTACLE)
            continue;
        /* Its own second byte must not be given to the jump. */
        if (displacement.is_padded)
            hook_planner_take(entry->planner, displacement.end, from);
        if (hook_padding_find(entry->planner, low, from + sizes->hop_reach, sizes->jump, &jump_at)) {
            settle(entry, HOOK_HOP, at, sizes->hop, &displacement);
            hook_planner_take(entry->planner, jump_at, jump_at + sizes->jump);
            entry->plan->hop_at = jump_at;
            entry->plan->hop_bytes = sizes->jump;
            return true;
        }
        if (displacement.is_padded)
            hook_planner_give_back(entry->planner, displacement.end, from);
    }
    return false;
}

static bool plan_trap(const struct entry *entry)
{
    struct displacement displacement;
    struct hook_instruction insn;

    for (unsigned i = 0; i < entry->place_count; i++) {
        enum hook_obstacle obstacle = displace(entry, entry->places[i], sizes_of(entry)->trap, &displacement);

        if (obstacle == HOOK_NO_OBSTACLE && look(entry, entry->places[i], &insn) &&
            insn.flags & HOOK_INSTRUCTION_IS_TRAP)
            obstacle = HOOK_IS_A_TRAP;
        if (obstacle == HOOK_NO_OBSTACLE) {
            settle(entry, HOOK_TRAP, entry->places[i], sizes_of(entry)->trap, &displacement);
            return true;
        }
        entry->plan->obstacle = (uint8_t)obstacle;
    }
    return false;
}

/*
 * Behind the mark that indirect branches look for, unless the function goes back to there: then before it only. Behind
 * a check for room on the stack, which a call may come by more than once.
 */
static void find_places(struct entry *entry)
{
    uint64_t start = entry->code.start;
    uint64_t checked = entry->planner->machine->find_stack_check(entry->planner, &entry->code, entry->function_end);
    struct hook_instruction insn;

    if (checked != start && !hook_planner_is_taken(entry->planner, checked, checked + 1))
        entry->places[entry->place_count++] = entry->checked_at = checked;
    if (look(entry, start, &insn) && insn.flags & HOOK_INSTRUCTION_IS_MARK) {
        uint64_t behind = start + insn.length;

        entry->mark_bytes = insn.length;
        if (hook_planner_is_taken(entry->planner, behind, behind + 1))
            note_obstacle(entry, behind < entry->function_end ? HOOK_LOOP_TO_ENTRY : HOOK_TOO_SHORT);
        else
            entry->places[entry->place_count++] = behind;
    }
    entry->places[entry->place_count++] = start;
}

void function_plan_make(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan)
{
    struct entry entry = {.planner = planner, .plan = plan};
    struct hook_return_use use;

    if (!hook_planner_code(planner, function->start, &entry.code))
        return;
    entry.function_end = hook_planner_function_end(planner, function);
    find_places(&entry);
    if (plan_jump(&entry, false))
        plan->obstacle = HOOK_NO_OBSTACLE;
    else if (!(goes_back(plan) && plan_whole(&entry)) && !plan_jump(&entry, true) && !plan_hop(&entry) &&
             !plan_trap(&entry))
        return;
    planner->machine->find_return_use(planner, function, plan, &use);
    plan->is_entry_only |= use.is_used;
    /* A loop that would come by the hook each time is better displaced as well. */
    plan->is_checked = plan->patch_at == entry.checked_at;
    plan->is_loop_head = use.goes_to_entry && !plan->is_checked && !(plan->method == HOOK_JUMP && plan_whole(&entry));
}
