/* SPDX-License-Identifier: MIT */
/*
 * The sets of registers and flags are derived here from libZydis' operands anew, independently of how the tables were
 * made from them: a mistake in the tool that makes the tables shows as a difference.
 */
#include "support/zydis_oracle.h"

#include "arch/x86_64/isa/operands.h"
#include "support/difference_conditions.h"
#include "support/difference_list.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ORACLE_PC 0x123456789000u

static ZydisDecoder decoders[2];

struct side_by_side {
    struct difference_list *list;
    const uint8_t *bytes;
    size_t available;
    const char *mnemonic;
    struct x86_insn ours;
    ZydisDecodedInstruction theirs;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

void zydis_oracle_init(void)
{
    for (int i = 0; i < 2; i++)
        ZydisDecoderInit(&decoders[i], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&decoders[X86_DECODE_AMD], ZYDIS_DECODER_MODE_AMD_BRANCHES, ZYAN_TRUE);
}

/* Whether the two values differ and the list does not explain it. */
static bool differ(struct side_by_side *pair, const char *field, uint64_t ours, uint64_t theirs)
{
    if (ours == theirs)
        return false;

    struct difference difference = {
        .field = field,
        .mnemonic = pair->mnemonic,
        .bytes = pair->bytes,
        .available = pair->available,
        .insn = pair->ours.form != NULL ? &pair->ours : NULL,
        .ours = ours,
        .theirs = theirs,
    };

    return !difference_list_judge(pair->list, &difference);
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
                (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
                 ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, operand->reg.value) < 32))
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
            is_different =
                differ(pair, "kind", ours.kind, X86_OPERAND_REGISTER) || register_operand_differs(pair, &ours, theirs);
            break;
        case ZYDIS_OPERAND_TYPE_MEMORY:
            is_different =
                differ(pair, "kind", ours.kind, X86_OPERAND_MEMORY) || memory_operand_differs(pair, &ours, theirs);
            break;
        default:
            is_different =
                differ(pair, "kind", ours.kind, theirs->imm.is_relative ? X86_OPERAND_TARGET : X86_OPERAND_IMMEDIATE) ||
                (!theirs->imm.is_relative && differ(pair, "immediate", ours.value, theirs->imm.value.u));
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
           differ(pair, "opcode", pair->ours.opcode, pair->theirs.opcode) ||
           differ(pair, "address_bits", pair->ours.address_bits, pair->theirs.address_width);
}

static bool encoding_differs(struct side_by_side *pair)
{
    static const uint8_t encodings[] = {
        [ZYDIS_INSTRUCTION_ENCODING_LEGACY] = X86_ENCODING_LEGACY,
        [ZYDIS_INSTRUCTION_ENCODING_3DNOW] = X86_ENCODING_3DNOW,
        [ZYDIS_INSTRUCTION_ENCODING_XOP] = X86_ENCODING_XOP,
        [ZYDIS_INSTRUCTION_ENCODING_VEX] = X86_ENCODING_VEX,
        [ZYDIS_INSTRUCTION_ENCODING_EVEX] = X86_ENCODING_EVEX,
    };

    if (differ(pair, "encoding", pair->ours.encoding, encodings[pair->theirs.encoding]))
        return true;
    if (pair->ours.encoding != X86_ENCODING_EVEX)
        return false;
    return differ(pair, "mask", pair->ours.mask, pair->theirs.raw.evex.aaa) ||
           differ(pair, "zeroing", pair->ours.zeroing, pair->theirs.raw.evex.z) ||
           differ(pair, "broadcast", pair->ours.broadcast, pair->theirs.raw.evex.b) ||
           differ(pair, "rounding", pair->ours.rounding,
                  (unsigned)pair->theirs.raw.evex.L2 << 1 | pair->theirs.raw.evex.L);
}

static bool property_differs(struct side_by_side *pair, const char *field, uint32_t property, bool theirs)
{
    return differ(pair, field, (pair->ours.properties & property) != 0, theirs);
}

static bool properties_differ(struct side_by_side *pair)
{
    const ZyanU64 repeated = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    ZyanU64 attributes = pair->theirs.attributes;
    bool is_read = false, is_written = false, uses_segment = false, is_scattered = false;

    for (int i = 0; i < pair->theirs.operand_count; i++) {
        const ZydisDecodedOperand *operand = &pair->operands[i];

        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
            continue;
        is_read |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
        is_written |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
        uses_segment |= segment_of(operand->mem.segment) != X86_SEGMENT_NONE;
        is_scattered |= operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
    }
    return property_differs(pair, "privileged", X86_PRIVILEGED, (attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0) ||
           property_differs(pair, "locked", X86_LOCKED, (attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) ||
           property_differs(pair, "repeated", X86_REPEATED, (attributes & repeated) != 0) ||
           property_differs(pair, "memory_read", X86_MEMORY_READ, is_read) ||
           property_differs(pair, "memory_write", X86_MEMORY_WRITE, is_written) ||
           property_differs(pair, "segment_use", X86_SEGMENT_USE, uses_segment) ||
           (is_scattered && property_differs(pair, "scattered", X86_MEMORY_SCATTERED, true));
}

/* Knights Corner had instructions of its own that no x86-64 CPU understands otherwise. */
static bool is_for_other_cpus(const ZydisDecodedInstruction *insn)
{
    return insn->meta.isa_ext == ZYDIS_ISA_EXT_KNC || insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
           insn->meta.isa_ext == ZYDIS_ISA_EXT_KNCV || insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

static void compare_fields(struct side_by_side *pair)
{
    if (strcmp(x86_mnemonic_name(pair->ours.mnemonic), ZydisMnemonicGetString(pair->theirs.mnemonic)) != 0 &&
        differ(pair, "mnemonic", pair->ours.mnemonic, ~0u))
        return;
    if (registers_differ(pair) || flags_differ(pair) || flow_differs(pair) || target_differs(pair))
        return;
    if (layout_differs(pair) || encoding_differs(pair) || properties_differ(pair))
        return;
    (void)operands_differ(pair);
}

size_t zydis_oracle_compare(struct difference_list *list, const uint8_t *bytes, size_t available, unsigned options,
                            bool *is_valid_out)
{
    struct side_by_side pair = {.list = list, .bytes = bytes, .available = available};
    bool is_ours = x86_decode(bytes, available, app_pc_of(ORACLE_PC), options, &pair.ours) == 0;
    ZyanStatus status = ZydisDecoderDecodeFull(&decoders[options], bytes, available, &pair.theirs, pair.operands);
    bool is_theirs = ZYAN_SUCCESS(status) && !is_for_other_cpus(&pair.theirs);

    *is_valid_out = is_ours || is_theirs;
    if (!is_ours && !is_theirs)
        return 1;
    pair.mnemonic = is_ours ? x86_mnemonic_name(pair.ours.mnemonic) : ZydisMnemonicGetString(pair.theirs.mnemonic);
    if (!is_ours)
        pair.ours.form = NULL;
    if (is_ours && is_theirs && !differ(&pair, "length", pair.ours.length, pair.theirs.length))
        compare_fields(&pair);
    else if (is_ours != is_theirs)
        differ(&pair, "validity", is_ours, is_theirs);
    return is_ours ? pair.ours.length : pair.theirs.length;
}

/* ---- conditions of the list ----------------------------------------------------------------------------------------
 */

/* Accepted by us, by an entry of tools/x86_tables/supplement.def with this name, map and opcode. */
static bool is_supplement(const struct difference *difference)
{
    enum { LEGACY, VEX, EVEX };
    static const uint8_t maps[3][8] = {
        [LEGACY] = {[2] = X86_MAP_0F38},
        [VEX] = {[1] = X86_MAP_VEX1, [2] = X86_MAP_VEX2, [3] = X86_MAP_VEX3, [5] = X86_MAP_VEX5, [7] = X86_MAP_VEX7},
        [EVEX] =
            {[1] = X86_MAP_EVEX1, [2] = X86_MAP_EVEX2, [3] = X86_MAP_EVEX3, [5] = X86_MAP_EVEX5, [6] = X86_MAP_EVEX6},
    };
    static const struct {
        const char *name;
        uint8_t encoding, map, opcode;
    } entries[] = {
#define SUPPLEMENT(encoding, map, pp, w, opcode, digit, kind, broadcast, lengths, name, ...)                           \
    {#name, encoding, map, opcode},
#include "../../tools/x86_tables/supplement.def"
#undef SUPPLEMENT
    };
    const struct x86_insn *insn = difference->insn;

    for (size_t i = 0; insn != NULL && i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (insn->opcode == entries[i].opcode && insn->map == maps[entries[i].encoding][entries[i].map] &&
            strcmp(difference->mnemonic, entries[i].name) == 0)
            return true;
    }
    return false;
}

/* No base, written as base 101 with mod 00, with an extension bit that counts for nothing, under 67. */
static bool is_extended_no_base(const struct difference *difference)
{
    const struct x86_insn *insn = difference->insn;
    const uint8_t *bytes = difference->bytes;

    if (insn == NULL || !insn->is_memory || !(insn->prefixes & X86_PREFIX_67) || (insn->modrm & 0xc7) != 0x04 ||
        (bytes[insn->modrm_offset + 1] & 7) != 5)
        return false;
    /* The extension is rex.b, or the inverted bit 5 behind the lead of vex, xop and evex. */
    for (unsigned i = 0; i < insn->opcode_offset; i++) {
        if ((bytes[i] == 0xc4 || bytes[i] == 0x62 || bytes[i] == 0x8f) && insn->encoding != X86_ENCODING_LEGACY)
            return !(bytes[i + 1] & 0x20);
    }
    return insn->rex & 1;
}

static bool is_r13_without_base(const struct difference *difference)
{
    return is_extended_no_base(difference) && difference->ours == X86_GPR_NONE && difference->theirs == X86_R13;
}

static bool is_r13_read_without_base(const struct difference *difference)
{
    return is_extended_no_base(difference) && difference->theirs == (difference->ours | X86_GPR_BIT(X86_R13));
}

static bool is_displacement_lost(const struct difference *difference)
{
    return is_extended_no_base(difference) && difference->theirs == 0;
}

static bool is_stack_slot_cut(const struct difference *difference)
{
    return difference->insn->properties & X86_OPERAND_SIZE_BY_VENDOR && difference->ours == 64 &&
           difference->theirs == 16;
}

static bool is_not_ours(const struct difference *difference)
{
    return difference->ours == 0 && difference->theirs == 1;
}

static bool is_destination_kept(const struct difference *difference)
{
    return difference->theirs == 0 && difference->ours == difference->insn->gpr_written;
}

static bool is_al_forgotten(const struct difference *difference)
{
    return difference->ours == (difference->theirs | X86_GPR_BIT(X86_RAX));
}

/* Ours has all that theirs has, and more. */
static bool is_more(const struct difference *difference)
{
    return (difference->ours & difference->theirs) == difference->theirs;
}

static bool is_counted_more(const struct difference *difference)
{
    return difference->ours > difference->theirs;
}

static bool is_fewer(const struct difference *difference)
{
    return (difference->ours & difference->theirs) == difference->ours;
}

static bool is_ours_alone(const struct difference *difference)
{
    return difference->ours == 1 && difference->theirs == 0;
}

static bool is_f3_90_rex_b(const struct difference *difference)
{
    const struct x86_insn *insn = difference->insn;

    return insn->map == X86_MAP_PRIMARY && insn->opcode == 0x90 && insn->prefixes & X86_PREFIX_F3 && insn->rex & 1;
}

static bool is_read_too(const struct difference *difference)
{
    return difference->ours == (difference->theirs | X86_READ);
}

int zydis_oracle_read_list(struct difference_list *list)
{
    static const struct difference_condition conditions[] = {
        {"supplement", is_supplement},
        {"no_base_is_r13", is_r13_without_base},
        {"no_base_reads_r13", is_r13_read_without_base},
        {"no_base_loses_displacement", is_displacement_lost},
        {"target_has_16_bits", difference_has_cut_target},
        {"stack_slot_has_16_bits", is_stack_slot_cut},
        {"not_ours", is_not_ours},
        {"destination_kept", is_destination_kept},
        {"al_forgotten", is_al_forgotten},
        {"read_too", is_read_too},
        {"more", is_more},
        {"counted_more", is_counted_more},
        {"fewer", is_fewer},
        {"ours_alone", is_ours_alone},
        {"f3_90_rex_b", is_f3_90_rex_b},
        {NULL, NULL},
    };

    return difference_list_init(list, ZYDIS_DIFFERENCES, conditions);
}
