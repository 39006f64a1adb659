/* SPDX-License-Identifier: MIT */
/*
 * Branches, calls and system calls. Direct targets inside the run go to their copies, others to the original, through
 * a constant where a displacement does not reach. Indirect targets are original addresses and stay what they are.
 * Invariant: as everywhere in the relocator, the map knows the original registers at each instruction.
 */
#include "arch/x86_64/isa/relocator_parts.h"

#include <asm/errno.h>

/* The copy's label for a target in the run that comes later, or the place of one that was copied already. */
static bool find_internal(struct x86_relocator *relocator, uint64_t target, struct x86_label **later_out,
                          struct cache_pc *place_out)
{
    uint64_t offset = target - relocator->run_start.value;

    if (offset >= relocator->run_size)
        return false;
    *later_out = NULL;
    if (x86_relocation_map_start(relocator->storage.map, app_pc_of(target), place_out) == 0)
        return true;
    *later_out = x86_relocator_later(relocator, X86_FIXUP_INTERNAL, offset);
    return true;
}

/* Where a near branch can go that leads to the original address: there, or to a jump behind the copy. */
static void find_near(struct x86_relocator *relocator, uint64_t target, struct x86_label **later_out,
                      struct cache_pc *place_out)
{
    uint64_t here = code_writer_pc(relocator->storage.writer).value;

    if (find_internal(relocator, target, later_out, place_out))
        return;
    /* No branch is longer than 16 bytes: if both ends of that fit, the branch does. */
    if (address_fits_rel32(here, target) && address_fits_rel32(here + 16, target)) {
        *later_out = NULL;
        *place_out = cache_pc_of(target);
        return;
    }
    *later_out = x86_relocator_later(relocator, X86_FIXUP_JUMP, target);
}

void x86_relocator_jump(struct x86_relocator *relocator, uint64_t target)
{
    struct code_writer *writer = relocator->storage.writer;
    uint64_t here = code_writer_pc(writer).value;
    struct x86_label *later = NULL;
    struct cache_pc place;

    if (find_internal(relocator, target, &later, &place)) {
        if (later != NULL)
            x86_jmp_label(writer, later, X86_REACH_NEAR);
        else
            x86_jmp_pc(writer, place, X86_REACH_AUTO);
    } else if (address_fits_rel32(here + 5, target)) {
        x86_jmp_pc(writer, cache_pc_of(target), X86_REACH_NEAR);
    } else {
        x86_jmp_mem(writer, x86_mem_label(x86_relocator_later(relocator, X86_FIXUP_CONSTANT, target)));
    }
}

static void put_branch(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    enum x86_condition condition = insn->opcode & 15;
    struct x86_label *later = NULL;
    struct cache_pc place;

    find_near(relocator, insn->target, &later, &place);
    if (later != NULL)
        x86_jcc_label(relocator->storage.writer, condition, later, X86_REACH_NEAR);
    else
        x86_jcc_pc(relocator->storage.writer, condition, place, X86_REACH_AUTO);
}

/*
 * loop and jrcxz only know short displacements: around a jump. Their prefixes are kept, since CPUs take f2 and f3 as
 * another condition; but 66, which may cut the target off, has had its effect when the target was computed.
 */
static void put_branch_count(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;
    struct x86_label taken, done;

    x86_label_init(&taken);
    x86_label_init(&done);
    for (unsigned i = 0; i <= insn->opcode_offset; i++)
        if (bytes[i] != 0x66)
            code_writer_put_u8(writer, bytes[i]);
    code_writer_put_u8(writer, 0);
    /* Without room the byte before the cursor is not ours. */
    if (code_writer_overflowed(writer))
        return;
    x86_label_use_short(&taken, writer, code_writer_offset(writer) - 1);
    x86_relocator_note(relocator, x86_insn_next(insn), x86_undo_nothing);
    x86_jmp_label(writer, &done, X86_REACH_SHORT);
    x86_label_bind(&taken, writer);
    x86_relocator_note(relocator, app_pc_of(insn->target), x86_undo_nothing);
    x86_relocator_jump(relocator, insn->target);
    x86_label_bind(&done, writer);
}

static void put_transaction(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct x86_label *later = NULL;
    struct cache_pc place;

    find_near(relocator, insn->target, &later, &place);
    if (later != NULL)
        x86_xbegin_label(relocator->storage.writer, later);
    else
        x86_xbegin_pc(relocator->storage.writer, place);
}

/* Pushes an address in one store, so that whoever reads it back can be served from it. */
static void push_address(struct x86_relocator *relocator, uint64_t address)
{
    struct code_writer *writer = relocator->storage.writer;

    if ((uint64_t)(int32_t)address == address)
        x86_push_imm(writer, (int32_t)address);
    else
        x86_push_mem(writer, x86_mem_label(x86_relocator_later(relocator, X86_FIXUP_CONSTANT, address)));
}

/* After the return address was pushed the call can still be taken back. */
static void note_pushed(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct x86_undo undo = x86_undo_nothing;

    undo.sp_add = 8;
    x86_relocator_note(relocator, insn->pc, undo);
}

static void put_call(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct code_writer *writer = relocator->storage.writer;
    uint64_t next = x86_insn_next(insn).value;
    struct x86_label *later = NULL;
    struct cache_pc place;

    /* A call of the next instruction wants to know where it is: in the original. */
    if (relocator->options.return_address == X86_RETURN_TO_ORIGINAL || insn->target == next) {
        push_address(relocator, next);
        if (insn->target != next) {
            note_pushed(relocator, insn);
            x86_relocator_jump(relocator, insn->target);
        }
        return;
    }
    find_near(relocator, insn->target, &later, &place);
    if (later != NULL)
        x86_call_label(writer, later);
    else
        x86_call_pc(writer, place);
}

/* The operand of an indirect branch with another base and displacement. */
static struct x86_mem pointer_operand(const struct x86_insn *insn, enum x86_gpr base, int32_t displacement)
{
    struct x86_mem memory = x86_mem_index(base, insn->index, insn->scale, displacement);

    if (insn->address_bits == 32)
        memory = x86_mem_address_32(memory);
    return x86_mem_segment(insn->segment, memory);
}

/* Loads the pointer that an indirect branch goes through, while rsp is sp_moved lower than it was. */
static void load_pointer(struct x86_relocator *relocator, const struct x86_insn *insn, enum x86_gpr into,
                         int32_t sp_moved)
{
    struct code_writer *writer = relocator->storage.writer;
    int32_t displacement = (int32_t)insn->displacement;
    enum x86_gpr base = insn->base;

    if (insn->properties & X86_PC_RELATIVE) {
        x86_mov_reg_imm(writer, X86_SIZE_64, into, insn->target);
        x86_mov_reg_mem(writer, X86_SIZE_64, into, x86_mem_segment(insn->segment, x86_mem_base(into, 0)));
        return;
    }
    if (base == X86_RSP && __builtin_add_overflow(displacement, sp_moved, &displacement)) {
        x86_lea(writer, X86_SIZE_64, into, x86_mem_base(X86_RSP, sp_moved));
        base = into;
        displacement = (int32_t)insn->displacement;
    }
    x86_mov_reg_mem(writer, X86_SIZE_64, into, pointer_operand(insn, base, displacement));
}

/* Leaves the pointer in slot 1, with all registers as they were. */
static void load_pointer_into_slot(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_gpr scratch = x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
    struct x86_undo undo = x86_undo_nothing;

    undo.saved[0] = (struct x86_saved_register){(uint8_t)scratch, 0};
    x86_mov_mem_reg(writer, X86_SIZE_64, x86_relocator_slot(relocator, 0), scratch);
    x86_relocator_note(relocator, insn->pc, undo);
    load_pointer(relocator, insn, scratch, 0);
    x86_mov_mem_reg(writer, X86_SIZE_64, x86_relocator_slot(relocator, 1), scratch);
    x86_mov_reg_mem(writer, X86_SIZE_64, scratch, x86_relocator_slot(relocator, 0));
    x86_relocator_note(relocator, insn->pc, x86_undo_nothing);
}

/* What an indirect branch by way of the stack leaves there before it goes. */
enum stack_branch { STACK_JUMP, STACK_CALL };

/*
 * Without slots: the pointer, and for a call the return address, are put on the stack at their places while rsp is
 * below them; a return that drops the red zone then goes there.
 */
static void put_branch_by_stack(struct x86_relocator *relocator, const struct x86_insn *insn, enum stack_branch branch)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_gpr scratch = x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
    int32_t down = X86_RED_ZONE_BYTES + 8 + (branch == STACK_CALL ? 8 : 0);
    struct x86_undo undo = x86_undo_nothing;
    struct x86_label behind;

    x86_label_init(&behind);
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, -down));
    undo.sp_add = (uint16_t)down;
    x86_relocator_note(relocator, insn->pc, undo);
    x86_push_reg(writer, scratch);
    undo.sp_add += 8;
    undo.saved[0] = (struct x86_saved_register){(uint8_t)scratch, 0};
    x86_relocator_note(relocator, insn->pc, undo);
    if (insn->is_memory)
        load_pointer(relocator, insn, scratch, down + 8);
    else
        x86_lea(writer, X86_SIZE_64, scratch, x86_mem_base(X86_RSP, down + 8)); /* rsp itself is the target */
    x86_mov_mem_reg(writer, X86_SIZE_64, x86_mem_base(X86_RSP, 8), scratch);
    if (branch == STACK_CALL) {
        if (relocator->options.return_address == X86_RETURN_TO_COPY)
            x86_lea(writer, X86_SIZE_64, scratch, x86_mem_label(&behind));
        else
            x86_mov_reg_imm(writer, X86_SIZE_64, scratch, x86_insn_next(insn).value);
        x86_mov_mem_reg(writer, X86_SIZE_64, x86_mem_base(X86_RSP, down), scratch);
    }
    x86_pop_reg(writer, scratch);
    undo.sp_add -= 8;
    undo.saved[0].gpr = X86_GPR_NONE;
    x86_relocator_note(relocator, insn->pc, undo);
    x86_ret(writer, X86_RED_ZONE_BYTES);
    x86_label_bind(&behind, writer);
}

/* Whether the instruction can stay as it is, its pc-relative operand adjusted at the most. */
static bool put_unchanged(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    if (insn->properties & X86_PC_RELATIVE)
        return x86_relocator_put_near(relocator->storage.writer, insn, bytes);
    code_writer_put_bytes(relocator->storage.writer, bytes, insn->length);
    return true;
}

static void put_far_jump_indirect(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    if (relocator->options.spill == X86_SPILL_STACK) {
        put_branch_by_stack(relocator, insn, STACK_JUMP);
        return;
    }
    load_pointer_into_slot(relocator, insn);
    x86_jmp_mem(relocator->storage.writer, x86_relocator_slot(relocator, 1));
}

/* The same call, from the copy: its return address is in the copy. */
static void put_call_from_copy(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    if (put_unchanged(relocator, insn, bytes))
        return;
    if (relocator->options.spill == X86_SPILL_STACK) {
        put_branch_by_stack(relocator, insn, STACK_CALL);
        return;
    }
    load_pointer_into_slot(relocator, insn);
    x86_call_mem(relocator->storage.writer, x86_relocator_slot(relocator, 1));
}

static void put_call_indirect(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;

    if (relocator->options.return_address == X86_RETURN_TO_COPY) {
        put_call_from_copy(relocator, insn, bytes);
        return;
    }
    if (!insn->is_memory && insn->rm != X86_RSP) {
        push_address(relocator, x86_insn_next(insn).value);
        note_pushed(relocator, insn);
        x86_jmp_reg(writer, insn->rm);
        return;
    }
    if (relocator->options.spill == X86_SPILL_STACK) {
        put_branch_by_stack(relocator, insn, STACK_CALL);
        return;
    }
    if (insn->is_memory)
        load_pointer_into_slot(relocator, insn);
    else
        x86_mov_mem_reg(writer, X86_SIZE_64, x86_relocator_slot(relocator, 1), X86_RSP);
    push_address(relocator, x86_insn_next(insn).value);
    note_pushed(relocator, insn);
    x86_jmp_mem(writer, x86_relocator_slot(relocator, 1));
}

/* The kernel leaves the address behind the instruction in rcx: the original one is put there instead. */
static void put_system_call(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;
    struct x86_undo undo = x86_undo_nothing;

    code_writer_put_bytes(writer, bytes, insn->length);
    if (insn->mnemonic != X86_MNEMONIC_syscall)
        return;
    undo.is_rcx_next = 1;
    x86_relocator_note(relocator, x86_insn_next(insn), undo);
    x86_mov_reg_imm(writer, X86_SIZE_64, X86_RCX, x86_insn_next(insn).value);
}

/* Near branches under 66 as AMD's CPUs read them: only what goes to a 16-bit address can be done elsewhere. */
static bool is_short_of_bits(const struct x86_relocator *relocator, const struct x86_insn *insn)
{
    return insn->properties & X86_OPERAND_SIZE_BY_VENDOR && relocator->options.decode_options & X86_DECODE_AMD;
}

void x86_relocator_put_flow(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    switch (insn->flow) {
    case X86_FLOW_JUMP:
        x86_relocator_jump(relocator, insn->target);
        return;
    case X86_FLOW_BRANCH:
        put_branch(relocator, insn);
        return;
    case X86_FLOW_BRANCH_COUNT:
        put_branch_count(relocator, insn, bytes);
        return;
    case X86_FLOW_TRANSACTION:
        put_transaction(relocator, insn);
        return;
    case X86_FLOW_SYSTEM_CALL:
        put_system_call(relocator, insn, bytes);
        return;
    case X86_FLOW_JUMP_INDIRECT:
        if (put_unchanged(relocator, insn, bytes))
            return;
        if (!is_short_of_bits(relocator, insn)) {
            put_far_jump_indirect(relocator, insn);
            return;
        }
        break;
    case X86_FLOW_CALL:
        if (!is_short_of_bits(relocator, insn)) {
            put_call(relocator, insn);
            return;
        }
        break;
    case X86_FLOW_CALL_INDIRECT:
        if (!is_short_of_bits(relocator, insn)) {
            put_call_indirect(relocator, insn, bytes);
            return;
        }
        break;
    case X86_FLOW_TRAP:
        /* An operand of theirs is never looked at: wherever it points now, it does the same. */
        code_writer_put_bytes(relocator->storage.writer, bytes, insn->length);
        return;
    case X86_FLOW_CALL_FAR:
        break;
    default:
        if (put_unchanged(relocator, insn, bytes))
            return;
        break;
    }
    x86_relocator_fail(relocator, -EOPNOTSUPP);
}
