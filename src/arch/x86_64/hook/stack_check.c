/* SPDX-License-Identifier: MIT */
/*
 * A function that may need more stack than there is compares the stack pointer with a limit of the goroutine, which r14
 * points to, and branches to the end of its code where that is not enough. There arguments are put on the stack, the
 * runtime is called, which moves the stack to where there is more room, and the function begins again:
 *
 *     begin:  cmp 16(%r14), %rsp         or, with a large frame: lea -N(%rsp), %r12; cmp 16(%r14), %r12
 *             jbe more
 *     behind: ...
 *     more:   mov %rax, 8(%rsp)          and others
 *             call runtime.morestack_noctxt
 *             mov 8(%rsp), %rax
 *             jmp begin
 *
 * All of it must be as that, or it is no such check.
 */
#include "arch/x86_64/hook/stack_check.h"

#include "arch/x86_64/isa/decoder.h"
#include "hook/hook_planner.h"

#include <stdbool.h>

/* Of struct g: its limits, one for the system's stack. */
#define LIMIT        0x10
#define SYSTEM_LIMIT 0x18

/* With a frame of any size there are five instructions; the way back has two for each register with an argument. */
#define CHECK_INSTRUCTIONS_MAX 6
#define BACK_INSTRUCTIONS_MAX  48

static bool decode(const struct hook_planner *planner, const struct hook_code *code, uint64_t at, struct x86_insn *insn)
{
    return at >= code->start && at < code->end &&
           x86_decode(code->bytes + (at - code->start), code->end - at, app_pc_of(at), planner->module->decode_options,
                      insn) == 0;
}

static bool is_comparison(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_cmp && insn->is_memory && insn->base == X86_R14 &&
           insn->index == X86_GPR_NONE && (insn->displacement == LIMIT || insn->displacement == SYSTEM_LIMIT);
}

/* Computes how far down the stack will go. */
static bool is_preparation(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_BRANCH ||
           (insn->flow == X86_FLOW_NEXT && !(insn->gpr_written & X86_GPR_BIT(X86_RSP)) &&
            !(insn->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE)));
}

/* From where there is not enough room, back to the beginning by way of one call. */
static bool leads_back(const struct hook_planner *planner, const struct hook_code *code, uint64_t at, uint64_t end)
{
    unsigned calls = 0;
    struct x86_insn insn;

    for (unsigned i = 0; i < BACK_INSTRUCTIONS_MAX && at < end; i++, at += insn.length) {
        if (!decode(planner, code, at, &insn))
            return false;
        if (insn.flow == X86_FLOW_JUMP)
            return calls == 1 && insn.target == code->start;
        if (insn.flow == X86_FLOW_CALL)
            calls++;
        else if (insn.flow != X86_FLOW_NEXT)
            return false;
    }
    return false;
}

uint64_t x86_stack_check_find(const struct hook_planner *planner, const struct hook_code *code, uint64_t function_end)
{
    bool is_compared = false;
    uint64_t at = code->start;
    struct x86_insn insn;

    for (unsigned i = 0; i < CHECK_INSTRUCTIONS_MAX && at < function_end; i++, at += insn.length) {
        if (!decode(planner, code, at, &insn))
            return code->start;
        if (is_compared)
            return insn.flow == X86_FLOW_BRANCH && leads_back(planner, code, insn.target, function_end)
                       ? at + insn.length
                       : code->start;
        is_compared = is_comparison(&insn);
        if (!is_compared && !is_preparation(&insn))
            return code->start;
    }
    return code->start;
}
