/* SPDX-License-Identifier: MIT */
/*
 * Instructions with a pc-relative operand that the copy cannot reach. lea becomes a constant, moves of the accumulator
 * have a form with a 64-bit address; all others get the address in a scratch register, whose value is kept meanwhile.
 * Invariant: at each instruction written the map knows where every original register is.
 */
#include "arch/x86_64/isa/relocator_parts.h"

#include <asm/errno.h>

static enum x86_size operand_size(const struct x86_insn *insn)
{
    static const uint8_t sizes[] = {X86_SIZE_16, X86_SIZE_32, X86_SIZE_64};

    return sizes[insn->size_index];
}

/* mov between the accumulator and memory, which can name any address. */
static bool put_accumulator_move(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    enum x86_size size = insn->opcode & 1 ? operand_size(insn) : X86_SIZE_8;

    if (insn->map != X86_MAP_PRIMARY || insn->opcode < 0x88 || insn->opcode > 0x8b || insn->reg != X86_RAX)
        return false;
    /* xacquire and xrelease would get lost. */
    if (insn->prefixes & (X86_PREFIX_F2 | X86_PREFIX_F3))
        return false;
    if (insn->opcode >= 0x8a)
        x86_movabs_load(relocator->storage.writer, size, insn->segment, insn->target);
    else
        x86_movabs_store(relocator->storage.writer, size, insn->segment, insn->target);
    return true;
}

/* Where the rex prefix stands, if there is one: right before the opcode with its escapes. */
static unsigned rex_offset(const struct x86_insn *insn)
{
    unsigned escapes = insn->map == X86_MAP_PRIMARY ? 0 : insn->map == X86_MAP_0F || insn->map == X86_MAP_3DNOW ? 1 : 2;

    return insn->opcode_offset - escapes - 1;
}

/* Makes the prefix say that the base is one of the low eight registers. */
static void clear_base_extension(const struct x86_insn *insn, uint8_t *bytes)
{
    switch (insn->encoding) {
    case X86_ENCODING_EVEX:
        bytes[insn->opcode_offset - 3] |= 0x20;
        break;
    case X86_ENCODING_VEX:
    case X86_ENCODING_XOP:
        /* The short prefix cannot extend the base; no prefix that may stand before it looks like the long ones. */
        if (insn->opcode_offset >= 3 &&
            (bytes[insn->opcode_offset - 3] == 0xc4 || bytes[insn->opcode_offset - 3] == 0x8f))
            bytes[insn->opcode_offset - 2] |= 0x20;
        break;
    default:
        if (insn->rex != 0)
            bytes[rex_offset(insn)] &= (uint8_t)~1u;
        break;
    }
}

/* Puts another low register where the instruction names rsp, in modrm.reg or in vvvv. */
static void replace_sp(const struct x86_insn *insn, uint8_t *bytes, enum x86_gpr substitute)
{
    uint32_t roles = x86_traits_of(insn->form)->roles;

    if (insn->reg == X86_RSP && X86_ROLE_OF(roles, X86_ROLE_REG))
        bytes[insn->modrm_offset] = (uint8_t)((bytes[insn->modrm_offset] & ~0x38u) | (unsigned)substitute << 3);
    if (insn->vvvv == X86_RSP && X86_ROLE_OF(roles, X86_ROLE_VVVV))
        bytes[insn->opcode_offset - 1] =
            (uint8_t)((bytes[insn->opcode_offset - 1] & ~0x78u) | (~(unsigned)substitute & 15) << 3);
}

/* Copies the instruction with [base] for its operand; what belonged to the old one behind modrm is still there. */
static void rebase(const struct x86_insn *insn, const uint8_t *bytes, enum x86_gpr base, uint8_t *changed_out)
{
    for (unsigned i = 0; i < insn->length; i++)
        changed_out[i] = bytes[i];
    clear_base_extension(insn, changed_out);
    changed_out[insn->modrm_offset] = (uint8_t)((changed_out[insn->modrm_offset] & 0x38u) | (unsigned)base);
}

static bool is_legacy_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

static bool is_address_prefix(uint8_t byte)
{
    return is_legacy_prefix(byte) && byte != 0x66 && byte < 0xf0;
}

void x86_relocator_put_flat(struct code_writer *writer, const struct x86_insn *insn, const uint8_t *bytes,
                            enum x86_gpr base)
{
    uint8_t changed[X86_MAX_INSN_BYTES];
    unsigned has_sib = (bytes[insn->modrm_offset] & 7) == 4, modrm_end = insn->modrm_offset + 1u;
    unsigned behind = modrm_end + has_sib + insn->displacement_size, start = 0;

    rebase(insn, bytes, base, changed);
    for (; is_legacy_prefix(changed[start]); start++)
        if (!is_address_prefix(changed[start]))
            code_writer_put_u8(writer, changed[start]);
    code_writer_put_bytes(writer, changed + start, modrm_end - start);
    code_writer_put_bytes(writer, changed + behind, insn->length - behind);
}

/* Writes the instruction with [base] for its operand and, where it names rsp, sp_substitute instead. */
static void put_rebased(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes,
                        enum x86_gpr base, enum x86_gpr sp_substitute)
{
    uint8_t changed[X86_MAX_INSN_BYTES];
    unsigned behind = insn->displacement_offset + insn->displacement_size;

    rebase(insn, bytes, base, changed);
    if (sp_substitute != X86_GPR_NONE)
        replace_sp(insn, changed, sp_substitute);
    code_writer_put_bytes(relocator->storage.writer, changed, insn->displacement_offset);
    code_writer_put_bytes(relocator->storage.writer, changed + behind, insn->length - behind);
}

/* Keeps the scratch register in a slot of the thread's segment. */
static void put_by_segment(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_gpr scratch = x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
    struct x86_undo undo = x86_undo_nothing;

    undo.saved[0] = (struct x86_saved_register){(uint8_t)scratch, 0};
    x86_mov_mem_reg(writer, X86_SIZE_64, x86_relocator_slot(relocator, 0), scratch);
    x86_relocator_note(relocator, insn->pc, undo);
    x86_mov_reg_imm(writer, X86_SIZE_64, scratch, insn->target);
    x86_relocator_note(relocator, insn->pc, undo);
    put_rebased(relocator, insn, bytes, scratch, X86_GPR_NONE);
    x86_relocator_note(relocator, x86_insn_next(insn), undo);
    x86_mov_reg_mem(writer, X86_SIZE_64, scratch, x86_relocator_slot(relocator, 0));
}

/* Keeps the scratch register below the red zone. */
static void put_by_stack(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_gpr scratch = x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
    struct x86_undo moved = x86_undo_nothing, pushed;

    moved.sp_add = X86_RED_ZONE_BYTES;
    pushed = moved;
    pushed.sp_add += 8;
    pushed.saved[0] = (struct x86_saved_register){(uint8_t)scratch, 0};
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, -X86_RED_ZONE_BYTES));
    x86_relocator_note(relocator, insn->pc, moved);
    x86_push_reg(writer, scratch);
    x86_relocator_note(relocator, insn->pc, pushed);
    x86_mov_reg_imm(writer, X86_SIZE_64, scratch, insn->target);
    put_rebased(relocator, insn, bytes, scratch, X86_GPR_NONE);
    x86_relocator_note(relocator, x86_insn_next(insn), pushed);
    x86_pop_reg(writer, scratch);
    x86_relocator_note(relocator, x86_insn_next(insn), moved);
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, X86_RED_ZONE_BYTES));
}

/* Two scratch registers on the stack, for what happens to rsp itself. */
struct stack_pair {
    enum x86_gpr address, value;
    struct x86_undo undo;
    uint16_t size; /* how far rsp was moved down */
};

static struct stack_pair push_pair(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct code_writer *writer = relocator->storage.writer;
    x86_gpr_set used = insn->gpr_read | insn->gpr_written;
    struct stack_pair pair = {.undo = x86_undo_nothing, .size = X86_RED_ZONE_BYTES + 16};

    pair.address = x86_relocator_scratch(used);
    pair.value = x86_relocator_scratch((x86_gpr_set)(used | X86_GPR_BIT(pair.address)));
    pair.undo.sp_add = X86_RED_ZONE_BYTES;
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, -X86_RED_ZONE_BYTES));
    x86_relocator_note(relocator, insn->pc, pair.undo);
    x86_push_reg(writer, pair.address);
    pair.undo.sp_add += 8;
    x86_relocator_note(relocator, insn->pc, pair.undo);
    x86_push_reg(writer, pair.value);
    pair.undo.sp_add += 8;
    pair.undo.saved[0] = (struct x86_saved_register){(uint8_t)pair.address, 8};
    pair.undo.saved[1] = (struct x86_saved_register){(uint8_t)pair.value, 0};
    x86_relocator_note(relocator, insn->pc, pair.undo);
    return pair;
}

/* An instruction that names rsp as an operand works on a register that holds rsp's value. */
static void put_sp_operand_by_stack(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct code_writer *writer = relocator->storage.writer;
    struct stack_pair pair = push_pair(relocator, insn);
    struct x86_undo done = pair.undo;

    x86_lea(writer, X86_SIZE_64, pair.value, x86_mem_base(X86_RSP, pair.size));
    x86_mov_reg_imm(writer, X86_SIZE_64, pair.address, insn->target);
    put_rebased(relocator, insn, bytes, pair.address, pair.value);
    done.sp_from = (uint8_t)pair.value;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_exchange_mem_reg(writer, X86_XCHG, X86_SIZE_64, x86_mem_base(X86_RSP, 0), pair.value);
    done.sp_from = X86_GPR_NONE;
    done.sp_add = 0;
    done.saved[1] = (struct x86_saved_register){X86_RSP, 0};
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_mov_reg_mem(writer, X86_SIZE_64, pair.address, x86_mem_base(X86_RSP, 8));
    done.saved[0].gpr = X86_GPR_NONE;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_mov_reg_mem(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, 0));
}

static struct x86_mem operand_at(const struct x86_insn *insn, enum x86_gpr base)
{
    return x86_mem_segment(insn->segment, x86_mem_base(base, 0));
}

/* push: the value goes where push would have put it, above the registers that are kept. */
static void put_push_by_stack(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_size size = insn->size_index == 0 ? X86_SIZE_16 : X86_SIZE_64;
    enum x86_gpr scratch = x86_relocator_scratch(insn->gpr_read | insn->gpr_written);
    struct x86_undo moved = x86_undo_nothing, pushed, done;
    int32_t down = X86_RED_ZONE_BYTES + (int32_t)size;

    moved.sp_add = (uint16_t)down;
    pushed = moved;
    pushed.sp_add += 8;
    pushed.saved[0] = (struct x86_saved_register){(uint8_t)scratch, 0};
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, -down));
    x86_relocator_note(relocator, insn->pc, moved);
    x86_push_reg(writer, scratch);
    x86_relocator_note(relocator, insn->pc, pushed);
    x86_mov_reg_imm(writer, X86_SIZE_64, scratch, insn->target);
    x86_mov_reg_mem(writer, size, scratch, operand_at(insn, scratch));
    x86_mov_mem_reg(writer, size, x86_mem_base(X86_RSP, X86_RED_ZONE_BYTES + 8), scratch);
    done = pushed;
    done.sp_add = X86_RED_ZONE_BYTES + 8;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_pop_reg(writer, scratch);
    done = x86_undo_nothing;
    done.sp_add = X86_RED_ZONE_BYTES;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, X86_RED_ZONE_BYTES));
}

static void put_pop_by_stack(struct x86_relocator *relocator, const struct x86_insn *insn)
{
    struct code_writer *writer = relocator->storage.writer;
    enum x86_size size = insn->size_index == 0 ? X86_SIZE_16 : X86_SIZE_64;
    struct stack_pair pair = push_pair(relocator, insn);
    struct x86_undo done = pair.undo;

    x86_mov_reg_mem(writer, size, pair.value, x86_mem_base(X86_RSP, pair.size));
    x86_mov_reg_imm(writer, X86_SIZE_64, pair.address, insn->target);
    x86_mov_mem_reg(writer, size, operand_at(insn, pair.address), pair.value);
    done.sp_add += (uint16_t)size;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_pop_reg(writer, pair.value);
    done.sp_add -= 8;
    done.saved[0].place = 0;
    done.saved[1].gpr = X86_GPR_NONE;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_pop_reg(writer, pair.address);
    done.sp_add -= 8;
    done.saved[0].gpr = X86_GPR_NONE;
    x86_relocator_note(relocator, x86_insn_next(insn), done);
    x86_lea(writer, X86_SIZE_64, X86_RSP, x86_mem_base(X86_RSP, X86_RED_ZONE_BYTES + (int32_t)size));
}

void x86_relocator_put_far(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes)
{
    bool uses_sp = (insn->gpr_read | insn->gpr_written) & X86_GPR_BIT(X86_RSP);

    if (insn->mnemonic == X86_MNEMONIC_lea)
        x86_mov_reg_imm(relocator->storage.writer, operand_size(insn), insn->reg, insn->target);
    else if (put_accumulator_move(relocator, insn))
        return;
    else if (relocator->options.spill == X86_SPILL_SEGMENT && insn->properties & X86_SEGMENT_CHANGE)
        x86_relocator_fail(relocator, -EOPNOTSUPP); /* the slot may be elsewhere afterwards */
    else if (relocator->options.spill == X86_SPILL_SEGMENT)
        put_by_segment(relocator, insn, bytes);
    else if (!uses_sp)
        put_by_stack(relocator, insn, bytes);
    else if (insn->mnemonic == X86_MNEMONIC_push)
        put_push_by_stack(relocator, insn);
    else if (insn->mnemonic == X86_MNEMONIC_pop)
        put_pop_by_stack(relocator, insn);
    else if (X86_GPRS_OF(x86_traits_of(insn->form)->gprs, X86_GPRS_READ) & X86_GPR_BIT(X86_RSP))
        x86_relocator_fail(relocator,
                           -EOPNOTSUPP); /* rsp by name, and neither push nor pop: nothing of the sort exists */
    else
        put_sp_operand_by_stack(relocator, insn, bytes);
}
