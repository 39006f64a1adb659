/* SPDX-License-Identifier: MIT */
/* Puts together what the form says of an operand and what the instruction's fields say. Stateless. */
#include "arch/x86_64/isa/operands.h"

#include "base/assert.h"

/* The number of the register that a field names. */
static uint8_t register_number(const struct x86_insn *insn, const struct x86_operand_form *form)
{
    switch (form->source) {
    case X86_SOURCE_REG:
        return insn->reg;
    case X86_SOURCE_RM:
        return insn->rm;
    case X86_SOURCE_OPCODE:
        return (uint8_t)((insn->opcode & 7) | (insn->rex & 1) << 3);
    case X86_SOURCE_VVVV:
        return insn->vvvv;
    case X86_SOURCE_IMMEDIATE_HIGH:
        return insn->immediate >> 4 & 15;
    case X86_SOURCE_MASK:
        return insn->mask;
    default:
        return form->fixed;
    }
}

static void describe_register(const struct x86_insn *insn, const struct x86_operand_form *form,
                              struct x86_operand *operand)
{
    operand->number = register_number(insn, form);
    switch (operand->register_class) {
    case X86_REGISTER_GPR8:
        if (form->source != X86_SOURCE_FIXED && insn->rex == 0 && insn->encoding == X86_ENCODING_LEGACY &&
            operand->number >= 4) {
            operand->register_class = X86_REGISTER_GPR8_HIGH;
            operand->number -= 4;
        }
        break;
    case X86_REGISTER_X87:
    case X86_REGISTER_MMX:
    case X86_REGISTER_MASK:
    case X86_REGISTER_SEGMENT:
    case X86_REGISTER_TILE:
        /* There are eight of them: extensions that are not forbidden are ignored. */
        operand->number &= 7;
        break;
    case X86_REGISTER_GPR16:
    case X86_REGISTER_GPR32:
    case X86_REGISTER_GPR64:
        operand->number &= 15;
        break;
    default:
        break;
    }
}

static void describe_memory(const struct x86_insn *insn, const struct x86_operand_form *form,
                            struct x86_operand *operand)
{
    operand->memory_kind = form->memory_kind;
    operand->segment = form->is_overridable ? insn->segment : X86_SEGMENT_NONE;
    operand->base = operand->index = X86_GPR_NONE;
    operand->scale = 1;
    if (form->source == X86_SOURCE_FIXED) {
        operand->base = form->fixed;
        return;
    }
    if (form->source == X86_SOURCE_REG) {
        operand->base = insn->reg;
        return;
    }
    operand->displacement = insn->displacement;
    if (form->source == X86_SOURCE_OFFSET)
        return;
    operand->base = insn->base;
    operand->index = insn->index;
    operand->scale = insn->scale;
    if (insn->properties & X86_PC_RELATIVE) {
        operand->is_pc_relative = 1;
        operand->value = insn->target;
    }
}

static void describe_immediate(const struct x86_insn *insn, const struct x86_operand_form *form,
                               struct x86_operand *operand)
{
    const struct x86_immediate_form *immediate = &x86_traits_of(insn->form)->immediate;
    unsigned first_bits = 8u * insn->immediate_size;

    operand->value = insn->immediate;
    if (form->source == X86_SOURCE_FIXED)
        operand->value = form->fixed;
    else if (form->source == X86_SOURCE_IMMEDIATE_SECOND)
        operand->value = insn->immediate >> first_bits;
    else if (immediate->size_second != 0)
        operand->value = insn->immediate & ((1u << first_bits) - 1);
    else if (form->source == X86_SOURCE_IMMEDIATE_HIGH)
        operand->value = insn->immediate & 15;
}

void x86_insn_operand(const struct x86_insn *insn, unsigned which, struct x86_operand *operand_out)
{
    const struct x86_operand_form *form = &x86_operand_forms[insn->form->operands + which];
    const struct x86_operand_type *type = &x86_operand_types[form->type];

    ASSERT(which < insn->form->operand_count, "asking for an operand that the instruction does not have");
    *operand_out = (struct x86_operand){
        .kind = form->kind,
        .access = form->access,
        .visibility = form->visibility,
        .register_class = type->register_class[insn->size_index],
        .size_bits = type->size_bits[insn->size_index],
        .segment = X86_SEGMENT_NONE,
    };
    if (which == 0 && insn->mask != 0 && !insn->zeroing && x86_traits_of(insn->form)->properties & X86_FORM_MASK_MERGES)
        operand_out->access = form->kind == X86_OPERAND_REGISTER ? X86_READ | X86_MAY_WRITE : X86_MAY_WRITE;
    switch (form->kind) {
    case X86_OPERAND_REGISTER:
        describe_register(insn, form, operand_out);
        break;
    case X86_OPERAND_MEMORY:
        describe_memory(insn, form, operand_out);
        break;
    case X86_OPERAND_TARGET:
        operand_out->value = insn->target;
        /* By what was read, not by the form: vendors differ about the operand-size prefix. */
        operand_out->size_bits = (uint16_t)(8u * insn->immediate_size);
        break;
    default:
        describe_immediate(insn, form, operand_out);
        break;
    }
}
