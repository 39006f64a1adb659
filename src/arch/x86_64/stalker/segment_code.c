/* SPDX-License-Identifier: MIT */
/*
 * The program's base is kept in the thread. A memory operand gets its whole address, base included, in a register that
 * the instruction does not use, computed by lea so that flags stay; reading and writing the base are moves. What has no
 * operand of the usual form - string instructions, vector indexes, branches - is not translated.
 */
#include "arch/x86_64/stalker/segment_code.h"

#include "arch/host_cpu.h"
#include "arch/x86_64/isa/relocator_parts.h"
#include "arch/x86_64/stalker/translate.h"

bool x86_touches_our_segment(const struct x86_insn *insn)
{
    if (insn->segment == X86_GS && insn->properties & X86_SEGMENT_USE)
        return true;
    if (insn->properties & X86_SEGMENT_CHANGE)
        return insn->mnemonic != X86_MNEMONIC_wrfsbase;
    /* Selectors are the program's, unless it loads another one into gs, which nobody follows: only bases are not. */
    return insn->properties & X86_SEGMENT_STORE && insn->mnemonic == X86_MNEMONIC_rdgsbase;
}

static bool is_base_move(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_rdgsbase || insn->mnemonic == X86_MNEMONIC_wrgsbase;
}

static enum x86_gpr scratch_for(const struct x86_insn *insn)
{
    return x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
}

bool x86_segment_can_be_put(const struct x86_insn *insn)
{
    static const uint32_t unusual = X86_SEGMENT_CHANGE | X86_SEGMENT_STORE | X86_MEMORY_SCATTERED | X86_PC_RELATIVE |
                                    X86_FORM_VECTOR_INDEX | X86_FORM_STRING;

    /* Without the system's leave they fault, wherever they stand. */
    if (is_base_move(insn))
        return host_cpu_has_base_insns();
    if (insn->flow != X86_FLOW_NEXT || insn->properties & unusual)
        return false;
    /* pop finds an address that rsp is part of behind its own change of rsp. */
    if (insn->mnemonic == X86_MNEMONIC_pop && insn->base == X86_RSP)
        return false;
    return insn->is_memory && insn->modrm_offset != 0 && insn->address_bits == 64 && scratch_for(insn) != X86_GPR_NONE;
}

static void put_base_move(struct translation *translation, const struct x86_insn *insn)
{
    struct code_writer *hot = &translation->hot;
    enum x86_size size = insn->size_index == 2 ? X86_SIZE_64 : X86_SIZE_32;

    if (insn->mnemonic == X86_MNEMONIC_rdgsbase) {
        x86_mov_reg_mem(hot, size, insn->rm, thread_field(THREAD_BASE));
        return;
    }
    x86_mov_mem_reg(hot, size, thread_field(THREAD_BASE), insn->rm);
    if (size == X86_SIZE_32)
        x86_mov_mem_imm(hot, X86_SIZE_32, thread_field(THREAD_BASE + 4), 0);
}

static void put_address(struct code_writer *hot, const struct x86_insn *insn, enum x86_gpr address)
{
    int32_t displacement = (int32_t)insn->displacement;

    x86_mov_reg_mem(hot, X86_SIZE_64, address, thread_field(THREAD_BASE));
    if (insn->base != X86_GPR_NONE)
        x86_lea(hot, X86_SIZE_64, address, x86_mem_index(insn->base, address, 1, displacement));
    else if (displacement != 0)
        x86_lea(hot, X86_SIZE_64, address, x86_mem_base(address, displacement));
    if (insn->index != X86_GPR_NONE)
        x86_lea(hot, X86_SIZE_64, address, x86_mem_index(address, insn->index, insn->scale, 0));
}

static void put_access(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *hot = &translation->hot;
    enum x86_gpr address = scratch_for(insn);
    struct trail_state state = {.homes = X86_GPR_BIT(address)};

    x86_mov_mem_reg(hot, X86_SIZE_64, register_home(address), address);
    block_draft_note(translation, insn->pc, state);
    put_address(hot, insn, address);
    x86_relocator_put_flat(hot, insn, bytes, address);
    block_draft_note(translation, x86_insn_next(insn), state);
    x86_mov_reg_mem(hot, X86_SIZE_64, address, register_home(address));
}

void x86_put_segment_use(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    block_draft_note(translation, insn->pc, trail_plain);
    if ((insn->gpr_read | insn->gpr_written) & X86_GPR_BIT(POSITION_REGISTER)) {
        x86_take_register(translation);
        block_draft_note(translation, insn->pc, trail_plain);
    }
    if (is_base_move(insn))
        put_base_move(translation, insn);
    else
        put_access(translation, insn, bytes);
}
