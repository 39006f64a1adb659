/* SPDX-License-Identifier: MIT */
/*
 * `syscall` has two bytes, a jump five. What stands before it is taken along, the number that is loaded mostly; or what
 * stands behind it, a comparison mostly; or a short jump takes its place exactly, to padding near by. Instructions that
 * are taken along do the same wherever they are: bytes are copied, nothing is translated. Nobody comes to any byte that
 * is overwritten but to the first, except from the kernel: behind the call, and, when it is made again, to it.
 */
#include "arch/x86_64/hook/system_call_sites.h"

#include "arch/x86_64/isa/decoder.h"
#include "hook/hook_planner.h"
#include "hook/padding.h"

#define JUMP_BYTES       5
#define CALL_BYTES       2
#define HOP_REACH_BACK   128
#define HOP_REACH        127
#define NUMBER_OF_RETURN 15 /* rt_sigreturn */

/* So many instructions before the call are remembered: none is shorter than a byte. */
#define BEFORE_MAX 4

/* The first bytes of a function are those that a hook of it needs: a mark for indirect branches, and a jump. */
#define ENTRY_BYTES 9

struct walk {
    struct hook_planner *planner;
    const struct hook_code *code;
    struct x86_insn before[BEFORE_MAX]; /* the nearest first */
    unsigned before_count;              /* that stand one behind the other, right before this place */
};

static bool decode(const struct walk *walk, uint64_t at, struct x86_insn *insn_out)
{
    return at < walk->code->readable_end &&
           x86_decode(walk->code->bytes + (at - walk->code->start), walk->code->readable_end - at, app_pc_of(at),
                      walk->planner->module->decode_options, insn_out) == 0;
}

/* Whether a copy of its bytes does the same. */
static bool is_copyable(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_NEXT && !(insn->properties & (X86_PC_RELATIVE | X86_OPERAND_SIZE_BY_VENDOR));
}

static void settle(const struct walk *walk, struct hook_plan *plan, enum hook_method method, uint64_t end)
{
    uint64_t patch_end;

    plan->method = (uint8_t)method;
    plan->obstacle = HOOK_NO_OBSTACLE;
    plan->patch_bytes = method == HOOK_HOP ? CALL_BYTES : JUMP_BYTES;
    plan->displaced_end = end;
    patch_end = plan->patch_at + plan->patch_bytes;
    hook_planner_take(walk->planner, plan->patch_at, patch_end > end ? patch_end : end);
}

static bool plan_before(const struct walk *walk, uint64_t at, struct hook_plan *plan)
{
    uint64_t start = at, end = at + CALL_BYTES;

    for (unsigned i = 0; i < walk->before_count && end - start < JUMP_BYTES; i++) {
        if (!is_copyable(&walk->before[i]))
            return false;
        start -= walk->before[i].length;
    }
    if (end - start < JUMP_BYTES || start < walk->code->start + ENTRY_BYTES ||
        hook_planner_is_taken(walk->planner, start + 1, end))
        return false;
    plan->patch_at = start;
    settle(walk, plan, HOOK_JUMP, end);
    return true;
}

static bool plan_behind(const struct walk *walk, uint64_t at, struct hook_plan *plan)
{
    uint64_t end = at + JUMP_BYTES, pc = at + CALL_BYTES;
    bool goes_on = true;
    struct x86_insn insn;

    while (pc < end && goes_on) {
        if (!decode(walk, pc, &insn))
            return false;
        goes_on = insn.flow == X86_FLOW_NEXT;
        if (!is_copyable(&insn) && insn.flow != X86_FLOW_RETURN)
            return false;
        pc += insn.length;
    }
    if (pc > walk->code->end || hook_planner_is_taken(walk->planner, at + 1, pc < end ? pc : end))
        return false;
    if (pc < end && !hook_padding_is_free(walk->planner, pc, end, walk->code->end))
        return false;
    plan->patch_at = at;
    settle(walk, plan, pc < end ? HOOK_JUMP_INTO_PADDING : HOOK_JUMP, pc);
    return true;
}

static bool plan_hop(const struct walk *walk, uint64_t at, struct hook_plan *plan)
{
    uint64_t from = at + CALL_BYTES, low = from < HOP_REACH_BACK ? 0 : from - HOP_REACH_BACK, jump_at;

    if (hook_planner_is_taken(walk->planner, at + 1, from) ||
        !hook_padding_find(walk->planner, low, from + HOP_REACH, JUMP_BYTES, &jump_at))
        return false;
    hook_planner_take(walk->planner, jump_at, jump_at + JUMP_BYTES);
    plan->hop_at = jump_at;
    plan->hop_bytes = JUMP_BYTES;
    plan->patch_at = at;
    settle(walk, plan, HOOK_HOP, from);
    return true;
}

/* `mov $15, %rax` or `%eax` right before it: others know that by its bytes. */
static bool is_signal_return(const struct walk *walk)
{
    const struct x86_insn *last = &walk->before[0];
    const uint8_t *bytes;

    if (walk->before_count == 0)
        return false;
    bytes = walk->code->bytes + (last->pc.value - walk->code->start);
    return (last->length == 5 && bytes[0] == 0xb8 && bytes[1] == NUMBER_OF_RETURN && bytes[2] == 0) ||
           (last->length == 7 && bytes[0] == 0x48 && bytes[1] == 0xc7 && bytes[2] == 0xc0 &&
            bytes[3] == NUMBER_OF_RETURN && bytes[4] == 0);
}

static void plan_site(const struct walk *walk, const struct x86_insn *insn, struct hook_plan *plan)
{
    uint64_t at = insn->pc.value;

    *plan = (struct hook_plan){
        .address = at,
        .patch_at = at,
        .displaced_end = at + insn->length,
        .method = HOOK_IMPOSSIBLE,
        .obstacle = HOOK_NOT_MOVABLE,
        .is_entry_only = true,
    };
    if (insn->length != CALL_BYTES)
        return;
    plan->obstacle = is_signal_return(walk) ? HOOK_KNOWN_BY_BYTES : HOOK_BRANCH_INSIDE;
    if (plan->obstacle == HOOK_KNOWN_BY_BYTES)
        return;
    if (!plan_before(walk, at, plan) && !plan_behind(walk, at, plan))
        (void)plan_hop(walk, at, plan);
}

static void remember(struct walk *walk, const struct x86_insn *insn)
{
    for (unsigned i = BEFORE_MAX - 1; i > 0; i--)
        walk->before[i] = walk->before[i - 1];
    walk->before[0] = *insn;
    walk->before_count += walk->before_count < BEFORE_MAX;
}

#define EACH_BYTE(value) (0x0101010101010101u * (value))

/* Whether the second to eighth byte are 0x05 behind 0x0f anywhere; says so where they nearly are, too. */
static bool may_have_call(const uint8_t *bytes)
{
    uint64_t word, difference;

    __builtin_memcpy(&word, bytes, sizeof(word));
    difference = (word ^ EACH_BYTE(0x05u)) | ((word << 8) ^ EACH_BYTE(0x0fu));
    return ((difference - EACH_BYTE(0x01u)) & ~difference & EACH_BYTE(0x80u)) != 0;
}

/* The next place, from an address on, that has the two bytes, whatever they are there; or the code's end. */
static uint64_t find_bytes(const struct hook_code *code, uint64_t from)
{
    uint64_t size_bytes = code->end - code->start, readable_bytes = code->readable_end - code->start;
    uint64_t at = from - code->start;

    while (at < size_bytes && at + CALL_BYTES <= readable_bytes) {
        if (at + sizeof(uint64_t) <= readable_bytes && !may_have_call(code->bytes + at)) {
            at += sizeof(uint64_t) - 1;
            continue;
        }
        if (code->bytes[at] == 0x0f && code->bytes[at + 1] == 0x05)
            return code->start + at;
        at++;
    }
    return code->end;
}

void x86_system_call_sites_mark(struct hook_planner *planner, const struct hook_code *code)
{
    for (uint64_t at = find_bytes(code, code->start); at < code->end; at = find_bytes(code, at + 1))
        hook_planner_add_near(planner, at);
}

void x86_system_call_sites_find(struct hook_planner *planner, const struct hook_code *code, hook_system_call_taker take,
                                void *context)
{
    struct walk walk = {.planner = planner, .code = code};
    struct x86_insn insn;
    struct hook_plan plan;
    uint64_t at = code->start;

    /* Hardly any code makes system calls: that is seen without decoding it. */
    if (find_bytes(code, at) == code->end)
        return;
    while (at < code->end) {
        /* What is no instruction is data: the next function starts at its own place. */
        if (!decode(&walk, at, &insn)) {
            walk.before_count = 0;
            at++;
            continue;
        }
        if (insn.mnemonic == X86_MNEMONIC_syscall) {
            plan_site(&walk, &insn, &plan);
            take(context, &plan);
        }
        remember(&walk, &insn);
        at += insn.length;
    }
}
