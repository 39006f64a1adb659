/* SPDX-License-Identifier: MIT */
/*
 * At each instruction it is known how far the return address is from rsp, or from rbp: .eh_frame says it, where it has
 * something about the function; else it follows from what pushes, pops and additions do, in the order of the code, with
 * the distance at a branch remembered for where it leads. Hand-written code often does not say what it pushes: where
 * both differ before the first branch, .eh_frame is not believed. Where nothing is known, nothing is said to look at
 * it.
 *
 * A call of what is in the function itself, as `call 1f; 1: pop %rbx` of code that looks for its own address, leaves a
 * word on the stack that is no return address of the function's, and that .eh_frame mostly does not know of: as long as
 * the instructions say that it is there, places are one word further than .eh_frame has them.
 *
 * Taking the address of it is no use: that is how loops over an array that ends there know when to stop.
 */
#include "arch/x86_64/hook/return_use.h"

#include "arch/x86_64/isa/decoder.h"
#include "elf/frame_rows.h"
#include "hook/hook_planner.h"

#define WORD 8

/* As .eh_frame counts registers. */
#define FRAME_RBP            6
#define FRAME_RSP            7
#define FRAME_RETURN_ADDRESS 16

/* Branches whose distance is remembered, the last ones. A power of two. */
#define BRANCHES_MAX 32

/* Where the return address is from a register; as long as that is known. */
struct known_distance {
    int64_t distance;
    bool is_known;
};

struct branch_distance {
    uint64_t target;
    struct known_distance from_rsp;
};

/* The same from both registers that frames are found by. */
struct frame_distances {
    struct known_distance from_rsp;
    struct known_distance from_rbp;
};

struct return_walk {
    const struct hook_planner *planner;
    struct hook_code code; /* the function's */
    const struct hook_plan *plan;
    struct hook_return_use *use;
    struct frame_distances told;    /* by .eh_frame */
    struct frame_distances tracked; /* by the instructions */
    bool is_told_wrong;
    bool has_branched;
    bool has_own_word; /* a call of the next instruction has left its address, and .eh_frame does not say so, */
    int64_t own_word;  /* as long as the distance is at least this */
    uint64_t row_end;  /* of the last row of .eh_frame */
    struct branch_distance branches[BRANCHES_MAX];
    unsigned branch_count;
};

static bool is_at(const struct known_distance *told, const struct known_distance *tracked, int64_t displacement)
{
    const struct known_distance *slot = told->is_known ? told : tracked;

    return slot->is_known && displacement >= slot->distance && displacement < slot->distance + WORD;
}

static bool uses_slot(const struct return_walk *walk, const struct frame_distances *told, const struct x86_insn *insn)
{
    const struct frame_distances *tracked = &walk->tracked;

    if (insn->mnemonic == X86_MNEMONIC_pop && is_at(&told->from_rsp, &tracked->from_rsp, 0))
        return true;
    /* An atomic operation that changes nothing is there to wait for earlier writes. */
    if (!insn->is_memory || insn->index != X86_GPR_NONE || insn->properties & (X86_SEGMENT_USE | X86_LOCKED) ||
        !(insn->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE)))
        return false;
    return (insn->base == X86_RSP && is_at(&told->from_rsp, &tracked->from_rsp, insn->displacement)) ||
           (insn->base == X86_RBP && is_at(&told->from_rbp, &tracked->from_rbp, insn->displacement));
}

/* ---- addresses that the function has put there itself ------------------------------------------------------------ */

static bool is_call_of_own(const struct return_walk *walk, const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_CALL && insn->target > insn->pc.value && insn->target < walk->code.end;
}

static bool is_call_of_next(const struct return_walk *walk, const struct x86_insn *insn)
{
    return is_call_of_own(walk, insn) && insn->target == x86_insn_next(insn).value;
}

static void begin_own_word(struct return_walk *walk)
{
    walk->tracked.from_rsp.distance += WORD;
    if (!walk->tracked.from_rsp.is_known)
        return;
    walk->has_own_word = true;
    walk->own_word = walk->tracked.from_rsp.distance;
}

/* What .eh_frame says, as it would be if it knew of the word. */
static struct frame_distances with_own_word(struct return_walk *walk)
{
    struct frame_distances told = walk->told;
    const struct known_distance *tracked = &walk->tracked.from_rsp;

    walk->has_own_word &= tracked->is_known && tracked->distance >= walk->own_word;
    if (walk->has_own_word && told.from_rsp.is_known && told.from_rsp.distance + WORD == tracked->distance)
        told.from_rsp.distance = tracked->distance;
    return told;
}

/* ---- what instructions do ---------------------------------------------------------------------------------------- */

/* In the displaced copy a branch to the patched place leads to the copy of that. */
static bool goes_to_entry(const struct return_walk *walk, const struct x86_insn *insn)
{
    const struct hook_plan *plan = walk->plan;
    bool is_displaced = insn->pc.value >= plan->patch_at && insn->pc.value < plan->displaced_end;

    if (insn->target < walk->code.start || insn->target > plan->patch_at)
        return false;
    return insn->target != plan->patch_at || !is_displaced;
}

static void note_branch(struct return_walk *walk, const struct x86_insn *insn)
{
    struct known_distance from_rsp = walk->tracked.from_rsp;
    bool is_call = is_call_of_own(walk, insn);

    if (insn->flow != X86_FLOW_JUMP && insn->flow != X86_FLOW_BRANCH && insn->flow != X86_FLOW_BRANCH_COUNT && !is_call)
        return;
    from_rsp.distance += is_call ? WORD : 0;
    walk->use->goes_to_entry |= goes_to_entry(walk, insn);
    walk->branches[walk->branch_count++ % BRANCHES_MAX] = (struct branch_distance){insn->target, from_rsp};
}

static bool ends_path(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_JUMP || insn->flow == X86_FLOW_JUMP_INDIRECT || insn->flow == X86_FLOW_RETURN ||
           insn->flow == X86_FLOW_TRAP;
}

static void move_rsp(struct return_walk *walk, int64_t down)
{
    walk->tracked.from_rsp.distance += down;
}

/* What an instruction that changes rsp does to the distance. */
static void track_stack(struct return_walk *walk, const struct x86_insn *insn)
{
    bool is_immediate = !insn->is_memory && insn->rm == X86_RSP && insn->immediate_size != 0;

    switch (insn->mnemonic) {
    case X86_MNEMONIC_push:
    case X86_MNEMONIC_pushf:
        move_rsp(walk, WORD);
        return;
    case X86_MNEMONIC_pop:
    case X86_MNEMONIC_popf:
        move_rsp(walk, -WORD);
        walk->tracked.from_rsp.is_known &= !(insn->gpr_written & X86_GPR_BIT(X86_RSP)) || !insn->is_memory;
        return;
    case X86_MNEMONIC_sub:
    case X86_MNEMONIC_add:
        walk->tracked.from_rsp.is_known &= is_immediate;
        move_rsp(walk, insn->mnemonic == X86_MNEMONIC_sub ? (int64_t)insn->immediate : -(int64_t)insn->immediate);
        return;
    case X86_MNEMONIC_lea:
        walk->tracked.from_rsp.is_known &= insn->base == X86_RSP && insn->index == X86_GPR_NONE;
        move_rsp(walk, -insn->displacement);
        return;
    case X86_MNEMONIC_leave:
        walk->tracked.from_rsp =
            (struct known_distance){walk->tracked.from_rbp.distance - WORD, walk->tracked.from_rbp.is_known};
        return;
    default:
        walk->tracked.from_rsp.is_known = false;
    }
}

static bool is_frame_setup(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_mov && !insn->is_memory && insn->size_index == 2 &&
           ((insn->opcode == 0x89 && insn->reg == X86_RSP && insn->rm == X86_RBP) ||
            (insn->opcode == 0x8b && insn->reg == X86_RBP && insn->rm == X86_RSP));
}

static void track(struct return_walk *walk, const struct x86_insn *insn)
{
    bool is_call = insn->flow == X86_FLOW_CALL || insn->flow == X86_FLOW_CALL_INDIRECT;

    if (ends_path(insn)) {
        uint64_t next = x86_insn_next(insn).value;

        walk->tracked.from_rsp.is_known = false;
        for (unsigned i = 0; i < BRANCHES_MAX && i < walk->branch_count; i++)
            if (walk->branches[i].target == next && walk->branches[i].from_rsp.is_known)
                walk->tracked.from_rsp = walk->branches[i].from_rsp;
        return;
    }
    if (is_call_of_next(walk, insn))
        begin_own_word(walk);
    /* leave still needs the old rbp. */
    if (insn->gpr_written & X86_GPR_BIT(X86_RSP) && !is_call)
        track_stack(walk, insn);
    if (is_frame_setup(insn))
        walk->tracked.from_rbp = walk->tracked.from_rsp;
    else if (insn->gpr_written & X86_GPR_BIT(X86_RBP))
        walk->tracked.from_rbp.is_known = false;
}

/* What was told wins from the first branch on: behind a call that does not return, anything may follow. */
static void compare(struct return_walk *walk, const struct known_distance *told)
{
    struct known_distance *tracked = &walk->tracked.from_rsp;

    if (walk->is_told_wrong || !told->is_known || !tracked->is_known || told->distance == tracked->distance)
        return;
    if (walk->has_branched)
        *tracked = *told;
    else
        walk->is_told_wrong = true;
}

static void walk_code(struct return_walk *walk, uint64_t start, uint64_t end)
{
    struct frame_distances told;
    struct x86_insn insn;

    for (uint64_t at = start; at < end; at += insn.length) {
        if (x86_decode(walk->code.bytes + (at - walk->code.start), walk->code.end - at, app_pc_of(at),
                       walk->planner->module->decode_options, &insn) != 0)
            return;
        told = with_own_word(walk);
        compare(walk, &told.from_rsp);
        if (walk->is_told_wrong)
            walk->told = told = (struct frame_distances){0};
        walk->use->is_used |= uses_slot(walk, &told, &insn);
        walk->has_branched |= insn.flow != X86_FLOW_NEXT;
        note_branch(walk, &insn);
        track(walk, &insn);
    }
}

/* A function that is called finds its return address where rsp points. */
static bool is_called(const struct frame_row *row)
{
    return row->frame.kind == FRAME_IN_REGISTER && row->frame.other_register == FRAME_RSP &&
           row->frame.offset == WORD && row->registers[FRAME_RETURN_ADDRESS].kind != FRAME_UNDEFINED;
}

static bool take_row(void *context, const struct frame_row *row)
{
    struct return_walk *walk = context;
    bool is_known = row->frame.kind == FRAME_IN_REGISTER;
    uint64_t start = row->start < walk->code.start ? walk->code.start : row->start;
    uint64_t end = row->end < walk->code.end ? row->end : walk->code.end;

    if (start >= end)
        return start >= walk->code.end;
    if (start == walk->code.start)
        walk->use->is_used |= !is_called(row);
    walk->told.from_rsp =
        (struct known_distance){row->frame.offset - WORD, is_known && row->frame.other_register == FRAME_RSP};
    walk->told.from_rbp =
        (struct known_distance){row->frame.offset - WORD, is_known && row->frame.other_register == FRAME_RBP};
    walk_code(walk, start, end);
    walk->row_end = end;
    return false;
}

static bool find_frame(const struct hook_planner *planner, const struct elf_function *function,
                       struct eh_frame_entry *entry_out)
{
    size_t offset = function->frame_offset - 1;

    return function->frame_offset != 0 && planner->module->frame != NULL &&
           eh_frame_next(planner->module->frame, &offset, entry_out) == 1 && entry_out->start == function->start;
}

void x86_return_use_find(const struct hook_planner *planner, const struct elf_function *function,
                         const struct hook_plan *plan, struct hook_return_use *use_out)
{
    struct return_walk walk = {.planner = planner, .plan = plan, .use = use_out, .tracked.from_rsp = {0, true}};
    struct eh_frame_entry frame;

    *use_out = (struct hook_return_use){0};
    if (!hook_planner_code(planner, function->start, &walk.code))
        return;
    walk.code.end = hook_planner_function_end(planner, function);
    walk.row_end = walk.code.start;
    /* What a program tells that makes no sense from somewhere on is good up to there. */
    if (find_frame(planner, function, &frame) && frame_rows_visit(&frame, planner->rows, take_row, &walk) != 0)
        walk.tracked.from_rsp.is_known = false;
    walk.told = (struct frame_distances){0};
    walk_code(&walk, walk.row_end, walk.code.end);
}
