/* SPDX-License-Identifier: MIT */
/*
 * The sets of registers and flags are derived here from libZydis' operands anew, independently of how the tables were
 * made from them: a mistake in the tool that makes the tables shows as a difference.
 */
#include "support/zydis_oracle.h"

#include "arch/x86_64/isa/operands.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ORACLE_PC 0x123456789000u

static ZydisDecoder decoders[2];

struct side_by_side {
    const uint8_t *bytes;
    struct x86_insn ours;
    ZydisDecodedInstruction theirs;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct oracle_difference *difference;
};

void zydis_oracle_init(void)
{
    for (int i = 0; i < 2; i++)
        ZydisDecoderInit(&decoders[i], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&decoders[X86_DECODE_AMD], ZYDIS_DECODER_MODE_AMD_BRANCHES, ZYAN_TRUE);
}

static bool differ(struct side_by_side *pair, const char *field, uint64_t ours, uint64_t theirs)
{
    struct oracle_difference *difference = pair->difference;
    size_t used = 0;

    if (ours == theirs)
        return false;
    difference->field = field;
    used += (size_t)snprintf(difference->text, sizeof(difference->text), "%s %s:", field, difference->mnemonic);
    for (int i = 0; i < X86_MAX_INSN_BYTES; i++)
        used += (size_t)snprintf(difference->text + used, sizeof(difference->text) - used, " %02x", pair->bytes[i]);
    snprintf(difference->text + used, sizeof(difference->text) - used, " ours %" PRIx64 " theirs %" PRIx64, ours, theirs);
    return true;
}

static uint32_t gpr_bit(ZydisRegister reg)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return 1u << ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
    default:
        return 0;
    }
}

static bool registers_differ(struct side_by_side *pair)
{
    uint32_t read = 0, written = 0, kept = 0;

    for (int i = 0; i < pair->theirs.operand_count; i++) {
        const ZydisDecodedOperand *operand = &pair->operands[i];

        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            read |= gpr_bit(operand->mem.base) | gpr_bit(operand->mem.index);
        } else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint32_t bit = gpr_bit(operand->reg.value);

            if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                read |= bit;
            if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                written |= bit;
            if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
                (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE || ZydisRegisterGetWidth(
                    ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) < 32))
                kept |= bit;
        }
    }
    return differ(pair, "gpr_read", pair->ours.gpr_read, read) ||
           differ(pair, "gpr_written", pair->ours.gpr_written, written) ||
           differ(pair, "gpr_kept", pair->ours.gpr_kept, kept);
}

static bool flags_differ(struct side_by_side *pair)
{
    const ZydisAccessedFlags *flags = pair->theirs.cpu_flags;
    ZydisAccessedFlags none = {0};

    if (flags == NULL)
        flags = &none;
    return differ(pair, "flags_read", pair->ours.flags.read, flags->tested) ||
           differ(pair, "flags_written", pair->ours.flags.written,
                  flags->modified | flags->set_0 | flags->set_1 | flags->undefined) ||
           differ(pair, "flags_undefined", pair->ours.flags.undefined, flags->undefined);
}

/* Direct and indirect branches as libZydis' categories tell them; only what these tell is compared. */
static bool flow_differs(struct side_by_side *pair)
{
    const ZydisDecodedInstruction *theirs = &pair->theirs;
    bool is_relative = theirs->raw.imm[0].is_relative;
    bool is_far = theirs->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    unsigned expected = X86_FLOW_NEXT, ours = pair->ours.flow;

    switch (theirs->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        expected = is_far ? X86_FLOW_CALL_FAR : is_relative ? X86_FLOW_CALL : X86_FLOW_CALL_INDIRECT;
        break;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (theirs->mnemonic == ZYDIS_MNEMONIC_JMP)
            expected = is_far ? X86_FLOW_JUMP_FAR : is_relative ? X86_FLOW_JUMP : X86_FLOW_JUMP_INDIRECT;
        break;
    case ZYDIS_CATEGORY_COND_BR:
        expected = X86_FLOW_BRANCH;
        if (ours == X86_FLOW_BRANCH_COUNT && (pair->ours.gpr_read & X86_GPR_BIT(X86_RCX)))
            ours = X86_FLOW_BRANCH;
        if (theirs->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
            expected = X86_FLOW_TRANSACTION;
        if (theirs->mnemonic == ZYDIS_MNEMONIC_XEND || theirs->mnemonic == ZYDIS_MNEMONIC_XABORT)
            expected = X86_FLOW_NEXT;
        break;
    case ZYDIS_CATEGORY_RET:
        expected = theirs->mnemonic == ZYDIS_MNEMONIC_RET && !is_far ? X86_FLOW_RETURN : X86_FLOW_RETURN_FAR;
        break;
    default:
        if (ours == X86_FLOW_SYSTEM_CALL || ours == X86_FLOW_TRAP || ours == X86_FLOW_RETURN_FAR)
            ours = X86_FLOW_NEXT;
        break;
    }
    return differ(pair, "flow", ours, expected);
}

static bool target_differs(struct side_by_side *pair)
{
    uint64_t expected = 0;

    for (int i = 0; i < pair->theirs.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &pair->operands[i];
        bool is_relative = operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative;
        bool is_pc_memory = operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
                            (operand->mem.base == ZYDIS_REGISTER_RIP || operand->mem.base == ZYDIS_REGISTER_EIP);

        if (is_pc_memory && differ(pair, "pc_relative", (pair->ours.properties & X86_PC_RELATIVE) != 0, 1))
            return true;
        if (!is_relative && !is_pc_memory)
            continue;
        if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&pair->theirs, operand, ORACLE_PC, &expected)))
            return differ(pair, "target", 1, 0);
    }
    return differ(pair, "target", pair->ours.target, expected);
}

static unsigned class_of(ZydisRegister reg)
{
    if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
        return X86_REGISTER_GPR8_HIGH;
    switch (ZydisRegisterGetClass(reg)) {
#define SAME(theirs, ours)                                                                                             \
    case ZYDIS_REGCLASS_##theirs:                                                                                      \
        return X86_REGISTER_##ours
        SAME(GPR8, GPR8);
        SAME(GPR16, GPR16);
        SAME(GPR32, GPR32);
        SAME(GPR64, GPR64);
        SAME(X87, X87);
        SAME(MMX, MMX);
        SAME(XMM, XMM);
        SAME(YMM, YMM);
        SAME(ZMM, ZMM);
        SAME(MASK, MASK);
        SAME(TMM, TILE);
        SAME(BOUND, BOUND);
        SAME(SEGMENT, SEGMENT);
        SAME(CONTROL, CONTROL);
        SAME(DEBUG, DEBUG);
        SAME(FLAGS, FLAGS);
        SAME(IP, PC);
#undef SAME
    default:
        return X86_REGISTER_OTHER;
    }
}

static bool register_operand_differs(struct side_by_side *pair, const struct x86_operand *ours,
                                     const ZydisDecodedOperand *theirs)
{
    unsigned expected_class = class_of(theirs->reg.value);

    if (differ(pair, "register_class", ours->register_class, expected_class))
        return true;
    if (expected_class >= X86_REGISTER_FLAGS)
        return false;
    if (expected_class <= X86_REGISTER_GPR64)
        return differ(pair, "register", 1u << ours->number, gpr_bit(theirs->reg.value));
    return differ(pair, "register", ours->number, (uint64_t)ZydisRegisterGetId(theirs->reg.value));
}

static uint64_t number_of(ZydisRegister reg)
{
    if (reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
        return X86_GPR_NONE;
    return (uint64_t)ZydisRegisterGetId(reg);
}

static uint64_t segment_of(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_FS ? X86_FS : reg == ZYDIS_REGISTER_GS ? X86_GS : X86_SEGMENT_NONE;
}

/* An absolute address under 67 has 32 bits; libZydis shows it with the upper ones set where bit 31 is. */
static uint64_t expected_displacement(const struct side_by_side *pair, const ZydisDecodedOperand *theirs)
{
    bool is_absolute = theirs->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64;

    return is_absolute && pair->theirs.address_width == 32 ? (uint32_t)theirs->mem.disp.value
                                                           : (uint64_t)theirs->mem.disp.value;
}

static bool memory_operand_differs(struct side_by_side *pair, const struct x86_operand *ours,
                                   const ZydisDecodedOperand *theirs)
{
    return differ(pair, "base", ours->base, number_of(theirs->mem.base)) ||
           differ(pair, "index", ours->index, number_of(theirs->mem.index)) ||
           (theirs->mem.index != ZYDIS_REGISTER_NONE && differ(pair, "scale", ours->scale, theirs->mem.scale)) ||
           differ(pair, "displacement", (uint64_t)ours->displacement, expected_displacement(pair, theirs)) ||
           differ(pair, "segment", ours->segment, segment_of(theirs->mem.segment));
}

static bool operands_differ(struct side_by_side *pair)
{
    if (differ(pair, "operand_count", x86_insn_operand_count(&pair->ours), pair->theirs.operand_count))
        return true;
    for (unsigned i = 0; i < pair->theirs.operand_count; i++) {
        const ZydisDecodedOperand *theirs = &pair->operands[i];
        struct x86_operand ours;
        bool is_different = false;

        x86_insn_operand(&pair->ours, i, &ours);
        if (differ(pair, "access", ours.access, theirs->actions) ||
            differ(pair, "visibility", ours.visibility, theirs->visibility) ||
            differ(pair, "size", ours.size_bits, theirs->size))
            return true;
        switch (theirs->type) {
        case ZYDIS_OPERAND_TYPE_REGISTER:
            is_different = differ(pair, "kind", ours.kind, X86_OPERAND_REGISTER) ||
                           register_operand_differs(pair, &ours, theirs);
            break;
        case ZYDIS_OPERAND_TYPE_MEMORY:
            is_different = differ(pair, "kind", ours.kind, X86_OPERAND_MEMORY) ||
                           memory_operand_differs(pair, &ours, theirs);
            break;
        default:
            if (!theirs->imm.is_relative)
                is_different = differ(pair, "immediate", ours.value, theirs->imm.value.u);
            break;
        }
        if (is_different)
            return true;
    }
    return false;
}

static bool layout_differs(struct side_by_side *pair)
{
    const ZydisDecodedInstructionRaw *raw = &pair->theirs.raw;

    return differ(pair, "displacement_size", pair->ours.displacement_size, raw->disp.size / 8u) ||
           (raw->disp.size && differ(pair, "displacement_offset", pair->ours.displacement_offset, raw->disp.offset)) ||
           differ(pair, "immediate_size", pair->ours.immediate_size, raw->imm[0].size / 8u) ||
           (raw->imm[0].size && differ(pair, "immediate_offset", pair->ours.immediate_offset, raw->imm[0].offset)) ||
           differ(pair, "modrm_offset", pair->ours.modrm_offset, raw->modrm.offset) ||
           differ(pair, "privileged", (pair->ours.properties & X86_PRIVILEGED) != 0,
                  (pair->theirs.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0);
}

/* Knights Corner had instructions of its own that no x86-64 CPU understands otherwise. */
static bool is_for_other_cpus(const ZydisDecodedInstruction *insn)
{
    return insn->meta.isa_ext == ZYDIS_ISA_EXT_KNC || insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
           insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCV || insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

bool zydis_oracle_agrees(const uint8_t *bytes, size_t available, unsigned options,
                         struct oracle_difference *difference_out, size_t *length_out)
{
    struct side_by_side pair = {.bytes = bytes, .difference = difference_out};
    int result = x86_decode(bytes, available, app_pc_of(ORACLE_PC), options, &pair.ours);
    ZyanStatus status = ZydisDecoderDecodeFull(&decoders[options], bytes, available, &pair.theirs, pair.operands);
    bool is_theirs = ZYAN_SUCCESS(status) && !is_for_other_cpus(&pair.theirs);

    *length_out = result == 0 ? pair.ours.length : is_theirs ? pair.theirs.length : 1;
    if (result != 0 && !is_theirs)
        return true;
    snprintf(difference_out->mnemonic, sizeof(difference_out->mnemonic), "%s",
             is_theirs ? ZydisMnemonicGetString(pair.theirs.mnemonic) : x86_mnemonic_name(pair.ours.mnemonic));
    if (differ(&pair, "validity", result == 0, is_theirs) ||
        differ(&pair, "length", pair.ours.length, pair.theirs.length))
        return false;
    if (strcmp(x86_mnemonic_name(pair.ours.mnemonic), difference_out->mnemonic) != 0) {
        differ(&pair, "mnemonic", pair.ours.mnemonic, ~0u);
        return false;
    }
    return !registers_differ(&pair) && !flags_differ(&pair) && !flow_differs(&pair) && !target_differs(&pair) &&
           !layout_differs(&pair) && !operands_differ(&pair);
}
