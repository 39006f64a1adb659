/* SPDX-License-Identifier: MIT */
/*
 * x86-64 functions and how to get a jump into them: five bytes over whole instructions, behind an endbr64 if that is
 * possible; with the help of padding behind a short function; two bytes that lead to padding near by; one byte, a trap.
 * Invariant: of the bytes that are overwritten nobody goes to any but the first, and nothing that is on its way
 * (a call, a system call) comes back to one.
 */
#include "arch/x86_64/hook/branch_hints.h"
#include "arch/x86_64/hook/branch_survey.h"
#include "arch/x86_64/hook/padding.h"
#include "arch/x86_64/hook/return_use.h"
#include "arch/x86_64/hook/system_call_sites.h"
#include "arch/x86_64/isa/decoder.h"
#include "hook/hook_surveyor.h"

#define MACHINE_X86_64 62
#define JUMP_BYTES     5
#define HOP_BYTES      2
#define TRAP_BYTES     1
#define HOP_REACH_BACK 128
#define HOP_REACH      127

struct entry {
    struct hook_planner *planner;
    struct hook_code code; /* from the function's start to the end of the span */
    uint64_t function_end;
    unsigned mark_bytes; /* of an endbr64 at the start */
    uint64_t places[2];  /* where the patch may begin, the better one first */
    unsigned place_count;
    struct hook_plan *plan;
};

/* What has to move away for a patch. */
struct displacement {
    uint64_t end;
    bool is_padded; /* the patch needs padding behind the last instruction */
};

static bool goes_on(const struct x86_insn *insn)
{
    return insn->flow != X86_FLOW_JUMP && insn->flow != X86_FLOW_JUMP_INDIRECT && insn->flow != X86_FLOW_JUMP_FAR &&
           insn->flow != X86_FLOW_RETURN && insn->flow != X86_FLOW_RETURN_FAR && insn->flow != X86_FLOW_TRAP;
}

static bool comes_back(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_CALL || insn->flow == X86_FLOW_CALL_INDIRECT || insn->flow == X86_FLOW_CALL_FAR ||
           insn->flow == X86_FLOW_SYSTEM_CALL;
}

/* What the relocator refuses wherever the copy is. */
static bool is_movable(const struct x86_insn *insn)
{
    bool is_far =
        insn->flow == X86_FLOW_JUMP_FAR || insn->flow == X86_FLOW_CALL_FAR || insn->flow == X86_FLOW_RETURN_FAR;

    return !is_far && !(insn->properties & X86_OPERAND_SIZE_BY_VENDOR);
}

static bool decode(const struct entry *entry, uint64_t at, struct x86_insn *insn_out)
{
    return at < entry->code.end && x86_decode(entry->code.bytes + (at - entry->code.start), entry->code.end - at,
                                              app_pc_of(at), entry->planner->module->decode_options, insn_out) == 0;
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
    struct x86_insn insn = {0};

    if (obstacle != HOOK_NO_OBSTACLE)
        return obstacle;
    while (pc < end) {
        if (!decode(entry, pc, &insn))
            return HOOK_NOT_CODE;
        if (!is_movable(&insn))
            return HOOK_NOT_MOVABLE;
        pc += insn.length;
        if (comes_back(&insn) && pc < end)
            return HOOK_RETURN_INSIDE;
        if (!goes_on(&insn))
            break;
    }
    displacement_out->is_padded = pc < end;
    displacement_out->end = pc;
    if (pc < end && !x86_padding_is_free(entry->planner, pc, end, entry->function_end))
        return HOOK_TOO_SHORT;
    return HOOK_NO_OBSTACLE;
}

static bool can_move_alone(const struct x86_insn *insn)
{
    return is_movable(insn) && !comes_back(insn) && insn->flow != X86_FLOW_JUMP_INDIRECT;
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
    struct x86_insn insn;

    if (!is_listed(entry) || end < at + JUMP_BYTES || end - at > HOOK_DISPLACED_BYTES_MAX ||
        end > hook_planner_next_start(entry->planner, at) || hook_planner_is_entered(entry->planner, at + 1, end))
        return false;
    for (; pc < end; pc += insn.length)
        if (!decode(entry, pc, &insn) || !can_move_alone(&insn))
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
        enum hook_obstacle obstacle = displace(entry, entry->places[i], JUMP_BYTES, &displacement);

        if (obstacle == HOOK_NO_OBSTACLE && displacement.is_padded == is_padded) {
            settle(entry, is_padded ? HOOK_JUMP_INTO_PADDING : HOOK_JUMP, entry->places[i], JUMP_BYTES, &displacement);
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
    settle(entry, HOOK_JUMP, at, JUMP_BYTES, &displacement);
    return true;
}

static bool plan_hop(const struct entry *entry)
{
    struct displacement displacement;
    uint64_t jump_at;

    for (unsigned i = 0; i < entry->place_count; i++) {
        uint64_t at = entry->places[i], from = at + HOP_BYTES;
        uint64_t low = from < HOP_REACH_BACK ? 0 : from - HOP_REACH_BACK;

        if (displace(entry, at, HOP_BYTES, &displacement) != HOOK_NO_OBSTACLE)
            continue;
        /* Its own second byte must not be given to the jump. */
        if (displacement.is_padded)
            hook_planner_take(entry->planner, displacement.end, from);
        if (x86_padding_find(entry->planner, low, from + HOP_REACH, JUMP_BYTES, &jump_at)) {
            settle(entry, HOOK_HOP, at, HOP_BYTES, &displacement);
            hook_planner_take(entry->planner, jump_at, jump_at + JUMP_BYTES);
            entry->plan->hop_at = jump_at;
            entry->plan->hop_bytes = JUMP_BYTES;
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
    struct x86_insn insn;

    for (unsigned i = 0; i < entry->place_count; i++) {
        enum hook_obstacle obstacle = displace(entry, entry->places[i], TRAP_BYTES, &displacement);

        if (obstacle == HOOK_NO_OBSTACLE && decode(entry, entry->places[i], &insn) &&
            insn.mnemonic == X86_MNEMONIC_int3)
            obstacle = HOOK_IS_A_TRAP;
        if (obstacle == HOOK_NO_OBSTACLE) {
            settle(entry, HOOK_TRAP, entry->places[i], TRAP_BYTES, &displacement);
            return true;
        }
        entry->plan->obstacle = (uint8_t)obstacle;
    }
    return false;
}

/* Behind the mark that indirect branches look for, unless the function goes back to there: then before it only. */
static void find_places(struct entry *entry)
{
    uint64_t start = entry->code.start;
    struct x86_insn insn;

    if (decode(entry, start, &insn) && insn.mnemonic == X86_MNEMONIC_endbr64) {
        uint64_t behind = start + insn.length;

        entry->mark_bytes = insn.length;
        if (hook_planner_is_taken(entry->planner, behind, behind + 1))
            note_obstacle(entry, behind < entry->function_end ? HOOK_LOOP_TO_ENTRY : HOOK_TOO_SHORT);
        else
            entry->places[entry->place_count++] = behind;
    }
    entry->places[entry->place_count++] = start;
}

static void plan(struct hook_planner *planner, const struct elf_function *function, struct hook_plan *plan_out)
{
    struct entry entry = {.planner = planner, .plan = plan_out};
    struct x86_return_use use;

    if (!hook_planner_code(planner, function->start, &entry.code))
        return;
    entry.function_end = hook_planner_function_end(planner, function);
    find_places(&entry);
    if (plan_jump(&entry, false))
        plan_out->obstacle = HOOK_NO_OBSTACLE;
    else if (!(goes_back(plan_out) && plan_whole(&entry)) && !plan_jump(&entry, true) && !plan_hop(&entry) &&
             !plan_trap(&entry))
        return;
    x86_return_use_find(planner, function, plan_out, &use);
    plan_out->is_entry_only |= use.is_used;
    /* A loop that would come by the hook each time is better displaced as well. */
    plan_out->is_loop_head = use.goes_to_entry && !(plan_out->method == HOOK_JUMP && plan_whole(&entry));
}

const struct hook_surveyor surveyor_x86_64 = {
    .machine = MACHINE_X86_64,
    .survey = x86_branch_survey,
    .may_matter = x86_branch_hints_matter,
    .mark_system_calls = x86_system_call_sites_mark,
    .plan = plan,
    .find_system_calls = x86_system_call_sites_find,
};
