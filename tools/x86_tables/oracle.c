/* SPDX-License-Identifier: MIT */
/*
 * Reads forms out of libZydis by decoding samples. Corrections to what it says are in corrections.c; instructions that
 * are younger than it are in supplement.c.
 */
#include "oracle.h"

#include "classify.h"
#include "corrections.h"
#include "supplement.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ZydisDecoder decoder;

struct answer {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderContext context;
};

void oracle_init(void)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* Knights Corner had instructions of its own that no x86-64 CPU understands otherwise. */
static bool is_for_other_cpus(const ZydisDecodedInstruction *insn)
{
    return insn->meta.isa_ext == ZYDIS_ISA_EXT_KNC || insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
           insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCV || insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

/* Under f3, 90 is pause and not an exchange of rax with itself; with rex.b it is the exchange with r8 that it says. */
static bool is_exchange_under_f3(const struct sample *sample)
{
    return sample->encoding == SAMPLE_LEGACY && sample->map == 0 && sample->opcode == 0x90 && sample->prefix_f3 &&
           sample->b;
}

static bool ask(const struct sample *asked, struct answer *answer)
{
    uint8_t bytes[SAMPLE_SIZE];
    struct sample sample = *asked;

    if (is_exchange_under_f3(asked))
        sample.prefix_f3 = false;
    sample_encode(&sample, bytes);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &answer->context, bytes, sizeof(bytes), &answer->insn)))
        return false;
    if (is_for_other_cpus(&answer->insn))
        return false;
    return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder, &answer->context, &answer->insn, answer->operands,
                                                   answer->insn.operand_count));
}

bool oracle_accepts(const struct sample *sample)
{
    struct answer answer;

    if (supplement_covers(sample))
        return supplement_accepts(sample);
    return ask(sample, &answer);
}

enum x86_modrm_use oracle_modrm_use(const struct sample *sample)
{
    struct answer answer;

    if (supplement_covers(sample))
        return X86_MODRM_USED;
    if (!ask(sample, &answer) || !(answer.insn.attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return X86_MODRM_NONE;
    for (int i = 0; i < answer.insn.operand_count; i++)
        if (answer.operands[i].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
            answer.operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER && sample->mod != 3)
            return X86_MODRM_REGISTER;
    return X86_MODRM_USED;
}

static uint8_t register_class(ZydisRegister reg)
{
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return X86_REGISTER_GPR8_HIGH;
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
        return X86_REGISTER_GPR8;
    case ZYDIS_REGCLASS_GPR16:
        return X86_REGISTER_GPR16;
    case ZYDIS_REGCLASS_GPR32:
        return X86_REGISTER_GPR32;
    case ZYDIS_REGCLASS_GPR64:
        return X86_REGISTER_GPR64;
    case ZYDIS_REGCLASS_X87:
        return X86_REGISTER_X87;
    case ZYDIS_REGCLASS_MMX:
        return X86_REGISTER_MMX;
    case ZYDIS_REGCLASS_XMM:
        return X86_REGISTER_XMM;
    case ZYDIS_REGCLASS_YMM:
        return X86_REGISTER_YMM;
    case ZYDIS_REGCLASS_ZMM:
        return X86_REGISTER_ZMM;
    case ZYDIS_REGCLASS_MASK:
        return X86_REGISTER_MASK;
    case ZYDIS_REGCLASS_TMM:
        return X86_REGISTER_TILE;
    case ZYDIS_REGCLASS_BOUND:
        return X86_REGISTER_BOUND;
    case ZYDIS_REGCLASS_SEGMENT:
        return X86_REGISTER_SEGMENT;
    case ZYDIS_REGCLASS_CONTROL:
        return X86_REGISTER_CONTROL;
    case ZYDIS_REGCLASS_DEBUG:
        return X86_REGISTER_DEBUG;
    case ZYDIS_REGCLASS_FLAGS:
        return X86_REGISTER_FLAGS;
    case ZYDIS_REGCLASS_IP:
        return X86_REGISTER_PC;
    default:
        return X86_REGISTER_OTHER;
    }
}

static uint8_t register_number(ZydisRegister reg)
{
    switch (register_class(reg)) {
    case X86_REGISTER_GPR8:
    case X86_REGISTER_GPR8_HIGH:
    case X86_REGISTER_GPR16:
    case X86_REGISTER_GPR32:
    case X86_REGISTER_GPR64:
        return (uint8_t)ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
    case X86_REGISTER_FLAGS:
    case X86_REGISTER_PC:
        return 0;
    case X86_REGISTER_OTHER:
        return (uint8_t)reg;
    default:
        return (uint8_t)ZydisRegisterGetId(reg);
    }
}

static uint8_t operand_source(ZydisOperandEncoding encoding)
{
    switch (encoding) {
    case ZYDIS_OPERAND_ENCODING_NONE:
        return X86_SOURCE_FIXED;
    case ZYDIS_OPERAND_ENCODING_MODRM_REG:
        return X86_SOURCE_REG;
    case ZYDIS_OPERAND_ENCODING_MODRM_RM:
        return X86_SOURCE_RM;
    case ZYDIS_OPERAND_ENCODING_OPCODE:
        return X86_SOURCE_OPCODE;
    case ZYDIS_OPERAND_ENCODING_NDSNDD:
        return X86_SOURCE_VVVV;
    case ZYDIS_OPERAND_ENCODING_IS4:
        return X86_SOURCE_IMMEDIATE_HIGH;
    case ZYDIS_OPERAND_ENCODING_MASK:
        return X86_SOURCE_MASK;
    default:
        if (encoding >= ZYDIS_OPERAND_ENCODING_JIMM8)
            return X86_SOURCE_RELATIVE;
        return encoding >= ZYDIS_OPERAND_ENCODING_UIMM8 ? X86_SOURCE_IMMEDIATE : X86_SOURCE_OFFSET;
    }
}

static void set_type(struct form_operand *operand, uint8_t reg_class, uint16_t size_bits)
{
    for (int size = 0; size < 3; size++) {
        operand->type.register_class[size] = reg_class;
        operand->type.size_bits[size] = size_bits;
    }
}

static uint8_t memory_kind(ZydisMemoryOperandType type)
{
    switch (type) {
    case ZYDIS_MEMOP_TYPE_AGEN:
        return X86_MEMORY_ADDRESS;
    case ZYDIS_MEMOP_TYPE_MIB:
        return X86_MEMORY_BOUND;
    case ZYDIS_MEMOP_TYPE_VSIB:
        return X86_MEMORY_VECTOR;
    default:
        return X86_MEMORY_ACCESS;
    }
}

static void describe_memory(const ZydisDecodedOperand *operand, struct form_operand *out)
{
    uint8_t index_class = X86_REGISTER_NONE;

    out->form.kind = X86_OPERAND_MEMORY;
    out->form.memory_kind = memory_kind(operand->mem.type);
    if (operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
        index_class = register_class(operand->mem.index);
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_NONE)
        out->form.fixed = register_number(operand->mem.base);
    set_type(out, index_class, operand->size);
}

static void describe_register(const ZydisDecodedOperand *operand, struct form_operand *out)
{
    uint8_t reg_class = register_class(operand->reg.value);

    out->form.kind = X86_OPERAND_REGISTER;
    if (out->form.source == X86_SOURCE_FIXED)
        out->form.fixed = register_number(operand->reg.value);
    else if (reg_class == X86_REGISTER_GPR8_HIGH)
        reg_class = X86_REGISTER_GPR8; /* which of the two it is depends on the instruction's rex */
    set_type(out, reg_class, operand->size);
}

static void describe_operand(const ZydisDecodedOperand *operand, int immediates_before, struct form_operand *out)
{
    out->form.source = operand_source(operand->encoding);
    out->form.access = operand->actions;
    out->form.visibility = operand->visibility;
    switch (operand->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        describe_register(operand, out);
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        describe_memory(operand, out);
        break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        out->form.kind = out->form.source == X86_SOURCE_RELATIVE ? X86_OPERAND_TARGET : X86_OPERAND_IMMEDIATE;
        if (out->form.source == X86_SOURCE_FIXED)
            out->form.fixed = (uint8_t)operand->imm.value.u;
        else if (immediates_before > 0)
            out->form.source = X86_SOURCE_IMMEDIATE_SECOND;
        set_type(out, X86_REGISTER_NONE, operand->size);
        break;
    default:
        fprintf(stderr, "x86_tables: an operand of unknown type\n");
        exit(1);
    }
}

static void describe_immediate(const struct answer *answer, struct form *form)
{
    const ZydisDecodedInstructionRaw *raw = &answer->insn.raw;

    for (int size = 0; size < 3; size++)
        form->immediate.size[size] = raw->imm[0].size / 8;
    form->immediate.size_second = raw->imm[1].size / 8;
    form->immediate.is_signed = raw->imm[0].is_signed;
    form->immediate.is_relative = raw->imm[0].is_relative;
    for (int i = 0; i < form->operand_count; i++)
        if (form->operands[i].form.source == X86_SOURCE_OFFSET)
            form->immediate.is_offset = 1;
}

static uint8_t shift_of(unsigned scale)
{
    uint8_t shift = 0;

    while (scale > 1) {
        scale >>= 1;
        shift++;
    }
    return shift;
}

/* A segment prefix applies to an operand when the operand then shows that segment. */
static void describe_overrides(const struct sample *sample, struct form *form)
{
    struct sample with_fs = *sample;
    struct answer answer;

    with_fs.prefix_fs = true;
    if (!ask(&with_fs, &answer))
        return;
    for (int i = 0; i < form->operand_count; i++) {
        if (answer.operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            answer.operands[i].mem.segment == ZYDIS_REGISTER_FS) {
            form->operands[i].form.is_overridable = 1;
            form->properties |= X86_FORM_SEGMENT_OVERRIDE;
        }
    }
}

/* What a mask and an address size prefix change, which no selector stands for. */
static void describe_modifiers(const struct sample *sample, const struct answer *plain, struct form *form)
{
    struct sample changed = *sample;
    struct answer answer;

    changed.aaa = 1;
    if (sample->encoding == SAMPLE_EVEX && form->operand_count > 0 && ask(&changed, &answer) &&
        answer.operands[0].actions != plain->operands[0].actions)
        form->properties |= X86_FORM_MASK_MERGES;
    changed = *sample;
    changed.prefix_67 = true;
    if (ask(&changed, &answer) && answer.insn.address_width == 64)
        form->properties |= X86_FORM_ADDRESS_64;
}

/* movdir64b stores at the address in the register of modrm.reg: its second memory operand follows that field. */
static void describe_stored_address(const struct answer *answer, struct form *form)
{
    if (answer->insn.mnemonic != ZYDIS_MNEMONIC_MOVDIR64B)
        return;
    for (int i = 0; i < form->operand_count; i++) {
        struct x86_operand_form *operand = &form->operands[i].form;

        if (operand->kind == X86_OPERAND_MEMORY && operand->source == X86_SOURCE_FIXED) {
            operand->source = X86_SOURCE_REG;
            operand->fixed = 0;
        }
    }
}

void oracle_describe(const struct sample *sample, struct form *form_out)
{
    struct answer answer;
    struct form form;
    int immediates = 0;

    if (supplement_covers(sample)) {
        supplement_describe(sample, form_out);
        return;
    }
    memset(&form, 0, sizeof(form));
    if (!ask(sample, &answer)) {
        fprintf(stderr, "x86_tables: describing what is not accepted\n");
        exit(1);
    }
    snprintf(form.mnemonic, sizeof(form.mnemonic), "%s", ZydisMnemonicGetString(answer.insn.mnemonic));
    form.operand_count = answer.insn.operand_count;
    for (int i = 0; i < form.operand_count; i++) {
        describe_operand(&answer.operands[i], immediates, &form.operands[i]);
        if (form.operands[i].form.source == X86_SOURCE_IMMEDIATE)
            immediates++;
    }
    describe_stored_address(&answer, &form);
    describe_immediate(&answer, &form);
    describe_overrides(sample, &form);
    describe_modifiers(sample, &answer, &form);
    for (int size = 0; size < 3; size++)
        form.disp8_shift[size] = sample->encoding == SAMPLE_EVEX ? shift_of(answer.context.cd8_scale) : 0;
    if (answer.insn.cpu_flags != NULL) {
        const ZydisAccessedFlags *flags = answer.insn.cpu_flags;

        form.flags.read = flags->tested;
        form.flags.written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
        form.flags.undefined = flags->undefined;
    }
    corrections_apply(&form);
    classify_form(&answer.insn, &form);
    *form_out = form;
}
