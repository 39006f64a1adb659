/* SPDX-License-Identifier: MIT */
/*
 * What plans of hooks ask of an x86-64 instruction. Of patches, a jump has five bytes, a short one two, a trap one; a
 * landing mark, endbr64, has four.
 */
#include "arch/x86_64/hook/branch_hints.h"
#include "arch/x86_64/hook/branch_survey.h"
#include "arch/x86_64/hook/hook_code.h"
#include "arch/x86_64/hook/return_use.h"
#include "arch/x86_64/hook/stack_check.h"
#include "arch/x86_64/hook/system_call_sites.h"
#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/x86_engine.h"
#include "hook/hook_planner.h"

static unsigned flags_of_flow(enum x86_flow flow)
{
    switch (flow) {
    case X86_FLOW_NEXT:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_GOES_ON | HOOK_INSTRUCTION_IS_COPYABLE;
    case X86_FLOW_JUMP:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_IS_END;
    case X86_FLOW_RETURN:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_IS_END | HOOK_INSTRUCTION_IS_RETURN;
    case X86_FLOW_JUMP_INDIRECT:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_IS_END | HOOK_INSTRUCTION_JUMPS_ANYWHERE;
    case X86_FLOW_TRAP:
        return HOOK_INSTRUCTION_IS_MOVABLE;
    case X86_FLOW_CALL:
    case X86_FLOW_CALL_INDIRECT:
    case X86_FLOW_SYSTEM_CALL:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_GOES_ON | HOOK_INSTRUCTION_COMES_BACK;
    case X86_FLOW_CALL_FAR:
        return HOOK_INSTRUCTION_GOES_ON | HOOK_INSTRUCTION_COMES_BACK;
    case X86_FLOW_JUMP_FAR:
    case X86_FLOW_RETURN_FAR:
        return 0;
    default:
        return HOOK_INSTRUCTION_IS_MOVABLE | HOOK_INSTRUCTION_GOES_ON;
    }
}

static unsigned flags_of_mnemonic(enum x86_mnemonic mnemonic)
{
    switch (mnemonic) {
    case X86_MNEMONIC_nop:
        return HOOK_INSTRUCTION_IS_FILLER;
    case X86_MNEMONIC_int3:
        return HOOK_INSTRUCTION_IS_FILLER | HOOK_INSTRUCTION_IS_TRAP;
    case X86_MNEMONIC_syscall:
        return HOOK_INSTRUCTION_IS_CALL;
    case X86_MNEMONIC_ud2:
        return HOOK_INSTRUCTION_IS_END;
    case X86_MNEMONIC_endbr64:
        return HOOK_INSTRUCTION_IS_MARK;
    default:
        return 0;
    }
}

static bool look(const struct hook_planner *planner, const struct hook_code *code, uint64_t at,
                 struct hook_instruction *instruction_out)
{
    struct x86_insn insn;

    if (x86_decode(code->bytes + (at - code->start), code->end - at, app_pc_of(at), planner->module->decode_options,
                   &insn) != 0)
        return false;
    *instruction_out =
        (struct hook_instruction){insn.length, flags_of_flow(insn.flow) | flags_of_mnemonic(insn.mnemonic)};
    if (!insn.is_memory || (insn.base == X86_RSP && insn.index == X86_GPR_NONE) || insn.mnemonic == X86_MNEMONIC_lea ||
        insn.mnemonic == X86_MNEMONIC_nop)
        instruction_out->flags |= HOOK_INSTRUCTION_STAYS_HOME;
    /* What the relocator refuses wherever the copy is. */
    if (insn.properties & X86_OPERAND_SIZE_BY_VENDOR)
        instruction_out->flags &= ~(unsigned)HOOK_INSTRUCTION_IS_MOVABLE;
    if (insn.properties & (X86_PC_RELATIVE | X86_OPERAND_SIZE_BY_VENDOR))
        instruction_out->flags &= ~(unsigned)HOOK_INSTRUCTION_IS_COPYABLE;
    return true;
}

const struct engine_hook x86_hook = {
    .sizes = {.jump = 5, .hop = 2, .trap = 1, .hop_reach_back = 128, .hop_reach = 127, .entry = 9},
    .system_call_bytes = X86_SYSTEM_CALL_BYTES,
    .goroutine_register = X86_R14,
    .survey = x86_branch_survey,
    .may_matter = x86_branch_hints_matter,
    .next_system_call = x86_system_call_next,
    .is_known_call = x86_system_call_is_known,
    .look = look,
    .find_return_use = x86_return_use_find,
    .find_stack_check = x86_stack_check_find,
    .make_redirect = x86_redirect_make,
    .reaches = x86_redirect_reaches,
    .put_jump = x86_redirect_jump,
    .put_stub = x86_hook_stub_put,
    .put_system_call_stub = x86_system_call_stub_put,
    .system_call_context = x86_system_call_context,
};
