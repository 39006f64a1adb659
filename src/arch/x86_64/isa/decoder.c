/* SPDX-License-Identifier: MIT */
/*
 * One pass over the bytes: prefixes, opcode, modrm; then the tables say which form it is, and the form says the rest.
 * Invariant: no byte past `available` is read - near the end of what is readable the bytes are first copied into a
 * padded buffer, and an instruction that turns out longer than what there was is reported as cut off. No state.
 *
 * This runs for every instruction that is ever translated: what is known of most instructions decides the shape of the
 * code, and the functions are parts of one, joined by the compiler.
 */
#include "arch/x86_64/isa/decoder.h"

#include <asm/errno.h>
#include <stdbool.h>

#define PART      static inline __attribute__((always_inline))
#define RARELY(x) __builtin_expect(!!(x), 0)

/*
 * What may be touched before an instruction is found to be too long: fifteen prefixes, evex and opcode, modrm, sib, a
 * displacement, and an immediate that is read as eight bytes - 15 + 5 + 1 + 1 + 4 + 8.
 */
#define READABLE_BYTES 34

/* What a byte means where a prefix or an opcode may stand. */
enum lead {
    LEAD_OPCODE,
    LEAD_ESCAPE,
    LEAD_VEX2,
    LEAD_VEX3,
    LEAD_EVEX,
    LEAD_XOP,
    LEAD_REX, /* from here on: prefixes */
    LEAD_66,
    LEAD_67,
    LEAD_F2,
    LEAD_F3,
    LEAD_LOCK,
    LEAD_SEGMENT, /* es and ss: ignored */
    LEAD_2E,
    LEAD_3E,
    LEAD_FS,
    LEAD_GS,
};

static const uint8_t leads[256] = {
    [0x0f] = LEAD_ESCAPE,       [0x26] = LEAD_SEGMENT, [0x2e] = LEAD_2E,   [0x36] = LEAD_SEGMENT, [0x3e] = LEAD_3E,
    [0x40 ... 0x4f] = LEAD_REX, [0x62] = LEAD_EVEX,    [0x64] = LEAD_FS,   [0x65] = LEAD_GS,      [0x66] = LEAD_66,
    [0x67] = LEAD_67,           [0x8f] = LEAD_XOP,     [0xc4] = LEAD_VEX3, [0xc5] = LEAD_VEX2,    [0xf0] = LEAD_LOCK,
    [0xf2] = LEAD_F2,           [0xf3] = LEAD_F3,
};

/* What has been read of an instruction before its form is known. */
struct reading {
    const uint8_t *bytes;
    const uint8_t *cursor;
    uint64_t selectors;       /* a byte each, by enum x86_selector */
    unsigned extensions;      /* r, x and b in bits 2, 1 and 0 */
    unsigned r_high;          /* the fifth bit of modrm.reg, in its place */
    unsigned v_high;          /* the fifth bit of vvvv or of a vector index, in its place */
    unsigned fields;          /* of enum x86_field */
    uint32_t properties;      /* of enum x86_property */
    unsigned options;         /* of enum x86_decode_option */
    enum x86_modrm_use modrm; /* none, memory (used), or a register */
    bool is_vector;           /* vex, evex or xop */
};

/* The fourth bit of a register's number, in its place. */
#define R_BIT(reading) (((reading)->extensions & 4) << 1)
#define X_BIT(reading) (((reading)->extensions & 2) << 2)
#define B_BIT(reading) (((reading)->extensions & 1) << 3)

/* The value of a selector at its place in the word. */
#define SELECTED(selector, value) ((uint64_t)(value) << 8 * (selector))

PART uint32_t read_u32(const uint8_t *bytes)
{
    uint32_t value;

    __builtin_memcpy(&value, bytes, sizeof(value));
    return value;
}

PART uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;

    __builtin_memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Reads less than eight bytes, by two reads that may overlap, and zeros behind them. */
static uint64_t read_part(const uint8_t *bytes, size_t size)
{
    if (size >= 4)
        return read_u32(bytes) | (uint64_t)read_u32(bytes + size - 4) << 8 * (size - 4);
    if (size == 0)
        return 0;
    return bytes[0] | (uint64_t)bytes[size / 2] << 8 * (size / 2) | (uint64_t)bytes[size - 1] << 8 * (size - 1);
}

/* Reads prefixes of any kind and number. Returns the byte behind them, or NULL where none can be. */
PART const uint8_t *read_prefixes(const uint8_t *bytes, struct x86_insn *insn)
{
    const uint8_t *cursor = bytes;
    const uint8_t *limit = cursor + X86_MAX_INSN_BYTES;
    unsigned prefixes = 0, rex = 0, segment = X86_SEGMENT_NONE, lead;

    for (; (lead = leads[*cursor]) >= LEAD_REX; cursor++) {
        if (cursor == limit)
            return NULL;
        /* A rex that does not stand right before the opcode does not count. */
        rex = 0;
        switch (lead) {
        case LEAD_REX:
            rex = *cursor;
            break;
        case LEAD_66:
            prefixes |= X86_PREFIX_66;
            break;
        case LEAD_67:
            prefixes |= X86_PREFIX_67;
            break;
        case LEAD_F2:
            prefixes = (prefixes & ~(unsigned)X86_PREFIX_F3) | X86_PREFIX_F2;
            break;
        case LEAD_F3:
            prefixes = (prefixes & ~(unsigned)X86_PREFIX_F2) | X86_PREFIX_F3;
            break;
        case LEAD_LOCK:
            prefixes |= X86_PREFIX_LOCK;
            break;
        case LEAD_2E:
            prefixes = (prefixes & ~(unsigned)X86_PREFIX_3E) | X86_PREFIX_2E | X86_PREFIX_SEGMENT;
            break;
        case LEAD_3E:
            prefixes = (prefixes & ~(unsigned)X86_PREFIX_2E) | X86_PREFIX_3E | X86_PREFIX_SEGMENT;
            break;
        case LEAD_FS:
            prefixes |= X86_PREFIX_SEGMENT;
            segment = X86_FS;
            break;
        case LEAD_GS:
            prefixes |= X86_PREFIX_SEGMENT;
            segment = X86_GS;
            break;
        default:
            prefixes |= X86_PREFIX_SEGMENT;
            break;
        }
    }
    insn->prefixes = (uint8_t)prefixes;
    insn->rex = (uint8_t)rex;
    insn->segment = (uint8_t)segment;
    return cursor;
}

PART void select_legacy(struct reading *reading, struct x86_insn *insn)
{
    unsigned prefixes = insn->prefixes, rex = insn->rex;

    reading->extensions = rex;
    reading->fields = X86_FIELD_ANY | (rex & X86_FIELD_R);
    reading->selectors = SELECTED(X86_SELECT_W, rex >> 3 & 1);
    insn->size_index = (uint8_t)(1 + (rex >> 3 & 1));
    if (RARELY(prefixes)) {
        reading->selectors |= SELECTED(X86_SELECT_PREFIX, prefixes & (X86_PREFIX_66 | X86_PREFIX_F3 | X86_PREFIX_F2)) |
                              SELECTED(X86_SELECT_ADDRESS_SIZE, (prefixes & X86_PREFIX_67) != 0);
        if (prefixes & X86_PREFIX_66 && !(rex & 8))
            insn->size_index = 0;
        if (prefixes & X86_PREFIX_LOCK)
            reading->fields |= X86_FIELD_LOCK;
    }
}

/* Reads the opcode behind 0f. Returns the map. */
PART unsigned read_escaped_opcode(struct reading *reading, struct x86_insn *insn)
{
    uint8_t opcode = reading->cursor[1];
    unsigned map = X86_MAP_0F;

    reading->cursor += 2;
    insn->encoding = X86_ENCODING_LEGACY;
    if (opcode == 0x38 || opcode == 0x3a) {
        map = opcode == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
        opcode = *reading->cursor++;
    } else if (opcode == 0x0f) {
        /* The opcode that counts stands behind the memory operand. */
        insn->encoding = X86_ENCODING_3DNOW;
        map = X86_MAP_3DNOW;
    }
    insn->opcode = opcode;
    return map;
}

/* Legacy prefixes and rex must not stand before vex, evex and xop. */
PART bool has_conflicting_prefix(const struct x86_insn *insn)
{
    return insn->rex != 0 || (insn->prefixes & (X86_PREFIX_66 | X86_PREFIX_F2 | X86_PREFIX_F3 | X86_PREFIX_LOCK));
}

/* Takes over the fields that vex and xop have in their second and third byte. */
PART void select_vex(struct reading *reading, struct x86_insn *insn, unsigned second, unsigned third)
{
    unsigned vvvv = ~third >> 3 & 15;

    reading->extensions = ~second >> 5 & 7;
    reading->fields = X86_FIELD_ANY | (reading->extensions & X86_FIELD_R) | (vvvv ? X86_FIELD_V : 0) |
                      (vvvv & 8 ? X86_FIELD_V_EIGHT : 0) | (insn->prefixes & X86_PREFIX_67 ? X86_FIELD_ADDRESS_32 : 0);
    reading->selectors = SELECTED(X86_SELECT_PREFIX, third & 3) | SELECTED(X86_SELECT_W, third >> 7 & 1) |
                         SELECTED(X86_SELECT_LENGTH, third >> 2 & 1);
    insn->size_index = third >> 2 & 1;
    insn->vvvv = (uint8_t)vvvv;
}

PART unsigned read_vex2(struct reading *reading, struct x86_insn *insn)
{
    const uint8_t *bytes = reading->cursor;

    insn->encoding = X86_ENCODING_VEX;
    select_vex(reading, insn, (bytes[1] & 0x80) | 0x61, bytes[1] & 0x7f);
    insn->opcode = bytes[2];
    reading->cursor += 3;
    return has_conflicting_prefix(insn) ? X86_MAP_INVALID : X86_MAP_VEX1;
}

PART unsigned read_vex3(struct reading *reading, struct x86_insn *insn)
{
    static const uint8_t maps[32] = {
        [0] = X86_MAP_INVALID, [1] = X86_MAP_VEX1,    [2] = X86_MAP_VEX2,
        [3] = X86_MAP_VEX3,    [4] = X86_MAP_INVALID, [5] = X86_MAP_VEX5,
        [6] = X86_MAP_INVALID, [7] = X86_MAP_VEX7,    [8 ... 31] = X86_MAP_INVALID,
    };
    const uint8_t *bytes = reading->cursor;

    insn->encoding = X86_ENCODING_VEX;
    select_vex(reading, insn, bytes[1], bytes[2]);
    insn->opcode = bytes[3];
    reading->cursor += 4;
    return has_conflicting_prefix(insn) ? X86_MAP_INVALID : maps[bytes[1] & 31];
}

PART unsigned read_xop(struct reading *reading, struct x86_insn *insn)
{
    const uint8_t *bytes = reading->cursor;
    unsigned map = bytes[1] & 31;

    insn->encoding = X86_ENCODING_XOP;
    select_vex(reading, insn, bytes[1], bytes[2]);
    insn->opcode = bytes[3];
    reading->cursor += 4;
    if (has_conflicting_prefix(insn) || map > 10)
        return X86_MAP_INVALID;
    return X86_MAP_XOP8 + map - 8;
}

PART unsigned read_evex(struct reading *reading, struct x86_insn *insn)
{
    static const uint8_t maps[16] = {
        [0] = X86_MAP_INVALID, [1] = X86_MAP_EVEX1, [2] = X86_MAP_EVEX2, [3] = X86_MAP_EVEX3,
        [4] = X86_MAP_INVALID, [5] = X86_MAP_EVEX5, [6] = X86_MAP_EVEX6, [7 ... 15] = X86_MAP_INVALID,
    };
    const uint8_t *bytes = reading->cursor;
    unsigned fourth = bytes[3];

    insn->encoding = X86_ENCODING_EVEX;
    select_vex(reading, insn, bytes[1], bytes[2] & ~4u);
    reading->r_high = ~(unsigned)bytes[1] & 0x10;
    reading->v_high = (~fourth & 8) << 1;
    insn->vvvv |= (uint8_t)reading->v_high;
    insn->mask = fourth & 7;
    insn->zeroing = (uint8_t)(fourth >> 7);
    insn->broadcast = fourth >> 4 & 1;
    insn->rounding = fourth >> 5 & 3;
    insn->size_index = insn->rounding == 3 ? 2 : insn->rounding;
    insn->opcode = bytes[4];
    reading->selectors |= SELECTED(X86_SELECT_LENGTH, insn->rounding) | SELECTED(X86_SELECT_BROADCAST, insn->broadcast);
    reading->fields |= (reading->r_high ? X86_FIELD_R_HIGH : 0) | (reading->v_high ? X86_FIELD_V_HIGH : 0) |
                       (insn->mask ? X86_FIELD_MASKED : X86_FIELD_UNMASKED) | (insn->zeroing ? X86_FIELD_ZEROING : 0);
    reading->cursor += 5;
    /* Zeroing without a mask is refused for every form; bit 2 of the third byte is fixed. */
    if (has_conflicting_prefix(insn) || !(bytes[2] & 4) || (insn->zeroing && insn->mask == 0))
        return X86_MAP_INVALID;
    return maps[bytes[1] & 15];
}

/* Reads the opcode of a vex, evex or xop instruction. Returns its map or X86_MAP_INVALID. */
PART unsigned read_vector_opcode(struct reading *reading, struct x86_insn *insn, unsigned lead)
{
    switch (lead) {
    case LEAD_VEX2:
        return read_vex2(reading, insn);
    case LEAD_VEX3:
        return read_vex3(reading, insn);
    case LEAD_EVEX:
        return read_evex(reading, insn);
    default:
        return read_xop(reading, insn);
    }
}

/* Reads the opcode of any other. Returns its map. */
PART unsigned read_legacy_opcode(struct reading *reading, struct x86_insn *insn, unsigned lead)
{
    select_legacy(reading, insn);
    if (lead == LEAD_ESCAPE)
        return read_escaped_opcode(reading, insn);
    insn->encoding = X86_ENCODING_LEGACY;
    insn->opcode = *reading->cursor++;
    return X86_MAP_PRIMARY;
}

/*
 * Reads sib and displacement of a memory operand. Whether there is a sib and how long the displacement is changes from
 * one instruction to the next: nothing here branches on it.
 */
PART void read_memory(struct reading *reading, struct x86_insn *insn, unsigned modrm)
{
    unsigned mod = modrm >> 6, rm = modrm & 7, sib = *reading->cursor;
    bool has_sib = rm == 4;
    unsigned low_base = has_sib ? sib & 7 : rm;
    bool has_no_base = mod == 0 && low_base == 5;
    unsigned size = has_no_base || mod == 2 ? 4 : mod;
    bool is_pc_relative = has_no_base && !has_sib;

    reading->cursor += has_sib;

    /* A byte is moved to the top of the word and back, for its sign. */
    unsigned shift = size == 1 ? 24 : 0;
    int32_t displacement = (int32_t)(read_u32(reading->cursor) << shift) >> shift;

    insn->is_memory = 1;
    insn->base = (uint8_t)(has_no_base ? X86_GPR_NONE : low_base | B_BIT(reading));
    insn->index = (uint8_t)(has_sib ? (sib >> 3 & 7) | X_BIT(reading) : X86_GPR_NONE);
    insn->scale = (uint8_t)(has_sib ? 1u << (sib >> 6) : 1);
    reading->properties = is_pc_relative ? X86_PC_RELATIVE : 0;
    reading->fields |= is_pc_relative ? X86_FIELD_PC_BASE : 0;
    insn->displacement = size == 0 ? 0 : displacement;
    insn->displacement_size = (uint8_t)size;
    insn->displacement_offset = (uint8_t)(size == 0 ? 0 : reading->cursor - reading->bytes);
    reading->cursor += size;
}

/* Modrm names a register if it is not below. */
#define MODRM_REGISTER 0xc0

/* What switches may ask of modrm. */
PART uint64_t modrm_selectors(unsigned modrm)
{
    return SELECTED(X86_SELECT_REG, modrm >> 3 & 7) | SELECTED(X86_SELECT_RM, modrm & 7) |
           SELECTED(X86_SELECT_MOD_REGISTER, modrm >= MODRM_REGISTER);
}

/* Reads modrm and what belongs to it. */
PART void read_modrm(struct reading *reading, struct x86_insn *insn, enum x86_modrm_use use)
{
    unsigned modrm = *reading->cursor;

    insn->modrm_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->modrm = (uint8_t)modrm;
    insn->reg = (uint8_t)((modrm >> 3 & 7) | R_BIT(reading) | reading->r_high);
    reading->cursor++;
    if (modrm < MODRM_REGISTER && use == X86_MODRM_USED) {
        reading->modrm = X86_MODRM_USED;
        read_memory(reading, insn, modrm);
        return;
    }
    reading->modrm = X86_MODRM_REGISTER;
    insn->rm = (uint8_t)((modrm & 7) | B_BIT(reading));
    reading->fields |= reading->extensions & (X86_FIELD_X | X86_FIELD_B);
}

/* The number of the form that a node leads to. */
PART unsigned find_form(const struct reading *reading, unsigned node)
{
    while (X86_NODE_IS_SWITCH(node)) {
        const uint16_t *entry = &x86_switches[X86_NODE_PLACE(node)];

        node = entry[1 + (reading->selectors >> 8 * entry[0] & 0xff)];
    }
    return node;
}

/* The sets that a register belongs to by a role that may be none, without a branch. */
PART uint64_t gprs_of_role(unsigned role, unsigned number)
{
#define LANES(role)                                                                                                    \
    (X86_GPRS(X86_GPRS_READ, (role)&1) | X86_GPRS(X86_GPRS_WRITTEN, (role) >> 1 & 1) |                                 \
     X86_GPRS(X86_GPRS_KEPT, (role) >> 2 & 1) | X86_GPRS(X86_GPRS_KEPT_16, (role) >> 3 & 1))
    static const uint64_t lanes[16] = {
        LANES(0), LANES(1), LANES(2),  LANES(3),  LANES(4),  LANES(5),  LANES(6),  LANES(7),
        LANES(8), LANES(9), LANES(10), LANES(11), LANES(12), LANES(13), LANES(14), LANES(15),
    };
#undef LANES

    return lanes[role & 15] << (number & 15);
}

/* The same for a role that may be about a byte, for which 4 to 7 mean other registers without rex. */
static uint64_t gprs_of_any_role(const struct x86_insn *insn, unsigned role, unsigned number)
{
    if (role & X86_ROLE_BYTE && insn->rex == 0 && insn->encoding == X86_ENCODING_LEGACY)
        number &= 3;
    return gprs_of_role(role, number);
}

/* The registers of an address. An index that says 4 without an extension is none. */
PART uint64_t settle_address(struct x86_insn *insn)
{
    unsigned index = insn->index == X86_RSP ? X86_GPR_NONE : insn->index;

    insn->index = (uint8_t)index;
    return X86_GPR_BIT(insn->base & 31) | X86_GPR_BIT(index & 31);
}

/* Which general registers it reads and writes: those the form names, those the fields name, those of the address. */
static void settle_registers(const struct reading *reading, struct x86_insn *insn)
{
    const struct x86_traits *traits = x86_traits_of(insn->form);
    uint64_t gprs = traits->gprs;

    gprs |= gprs_of_any_role(insn, X86_ROLE_OF(traits->roles, X86_ROLE_REG), insn->reg);
    gprs |= gprs_of_any_role(insn, X86_ROLE_OF(traits->roles, X86_ROLE_OPCODE), (insn->opcode & 7) | B_BIT(reading));
    gprs |= gprs_of_any_role(insn, X86_ROLE_OF(traits->roles, X86_ROLE_VVVV), insn->vvvv);
    if (!insn->is_memory) {
        gprs |= gprs_of_any_role(insn, X86_ROLE_OF(traits->roles, X86_ROLE_RM), insn->rm);
    } else if (traits->properties & X86_FORM_VECTOR_INDEX) {
        insn->index |= (uint8_t)reading->v_high;
        gprs |= X86_GPR_BIT(insn->base & 31);
    } else {
        gprs |= settle_address(insn);
    }
    if (insn->size_index == 0)
        gprs |= X86_GPRS(X86_GPRS_KEPT, X86_GPRS_OF(gprs, X86_GPRS_KEPT_16));
    insn->gprs = gprs;
}

static unsigned first_operand_bits(const struct x86_insn *insn)
{
    return x86_operand_types[x86_operand_forms[insn->form->operands].type].size_bits[insn->size_index];
}

static void settle_flags(struct x86_insn *insn)
{
    const struct x86_traits *traits = x86_traits_of(insn->form);
    uint32_t properties = traits->properties;
    unsigned count_mask = first_operand_bits(insn) == 64 ? 63 : 31;

    insn->flags = x86_flag_effects[traits->flags];
    if (properties & X86_FORM_FLAGS_MAY_STAY || insn->properties & X86_REPEATED ||
        (properties & X86_FORM_COUNT_IN_IMMEDIATE && (insn->immediate & count_mask) == 0))
        insn->flags.kept = insn->flags.written;
}

/* Sign- or zero-extends an immediate of 1 to 8 bytes, by moving it to the top of the word and back. */
PART uint64_t read_immediate(const uint8_t *bytes, unsigned size, bool is_signed)
{
    unsigned shift = 64 - 8 * size;
    uint64_t top = read_u64(bytes) << shift;

    return is_signed ? (uint64_t)((int64_t)top >> shift) : top >> shift;
}

PART void read_usual_immediate(struct reading *reading, struct x86_insn *insn, unsigned size, bool is_signed)
{
    insn->immediate_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->immediate_size = (uint8_t)size;
    insn->immediate = read_immediate(reading->cursor, size, is_signed);
    reading->cursor += size;
}

static void read_immediates(struct reading *reading, struct x86_insn *insn, unsigned options)
{
    struct x86_immediate_form form = x86_traits_of(insn->form)->immediate;
    unsigned size = form.size[insn->size_index];

    if (form.is_offset) {
        /* mov's forms with an absolute address. */
        insn->displacement_offset = (uint8_t)(reading->cursor - reading->bytes);
        insn->displacement_size = insn->prefixes & X86_PREFIX_67 ? 4 : 8;
        insn->displacement = (int64_t)read_immediate(reading->cursor, insn->displacement_size, false);
        reading->cursor += insn->displacement_size;
        return;
    }
    if (size == 0)
        return;
    if (insn->properties & X86_OPERAND_SIZE_BY_VENDOR && options & X86_DECODE_AMD && form.is_relative && size == 4)
        size = 2;
    read_usual_immediate(reading, insn, size, form.is_signed);
    if (form.size_second)
        insn->immediate |= (uint64_t)*reading->cursor++ << 8 * size;
}

/* Needs the length. */
static void settle_target(struct x86_insn *insn, unsigned options)
{
    uint64_t next = insn->pc.value + insn->length;

    if (insn->properties & X86_PC_RELATIVE) {
        insn->target = next + (uint64_t)insn->displacement;
        if (insn->address_bits == 32)
            insn->target = (uint32_t)insn->target;
    } else if (x86_traits_of(insn->form)->immediate.is_relative) {
        insn->target = next + insn->immediate;
        if (insn->properties & X86_OPERAND_SIZE_BY_VENDOR && options & X86_DECODE_AMD)
            insn->target = (uint16_t)insn->target;
    }
}

/* What prefixes add to the properties of the form. */
static uint32_t properties_of_prefixes(const struct x86_insn *insn)
{
    const unsigned repeats = X86_PREFIX_F3 | X86_PREFIX_F2;
    uint32_t form = x86_traits_of(insn->form)->properties, properties = 0;

    if (insn->prefixes & X86_PREFIX_LOCK)
        properties |= X86_LOCKED;
    if (insn->segment != X86_SEGMENT_NONE && form & X86_FORM_SEGMENT_OVERRIDE)
        properties |= X86_SEGMENT_USE;
    if (insn->prefixes & repeats && form & X86_FORM_STRING)
        properties |= X86_REPEATED;
    if (form & X86_FORM_NEAR_BRANCH) {
        if (insn->prefixes & (X86_PREFIX_F2 | X86_PREFIX_2E | X86_PREFIX_3E))
            properties |= X86_BRANCH_HINTED;
        if (insn->prefixes & X86_PREFIX_66 && insn->size_index == 0)
            properties |= X86_OPERAND_SIZE_BY_VENDOR;
    }
    return properties;
}

static bool are_distinct(const struct x86_insn *insn, unsigned rule)
{
    switch (rule) {
    case X86_DISTINCT_NONE:
        return true;
    case X86_DISTINCT_GATHER_VEX:
        return insn->reg != insn->index && insn->reg != insn->vvvv && insn->index != insn->vvvv;
    case X86_DISTINCT_GATHER_EVEX:
        return insn->reg != insn->index;
    case X86_DISTINCT_TILES:
        return insn->reg != insn->rm && insn->reg != insn->vvvv && insn->rm != insn->vvvv;
    default:
        return insn->reg != insn->vvvv && (insn->is_memory || insn->reg != insn->rm);
    }
}

/*
 * The rest of an instruction that has legacy prefixes or whose form is not as most are. Takes apart what the reading
 * keeps, so that the reading itself need not be in memory; v_high comes with the extensions.
 */
static __attribute__((noinline)) int settle_unusual(const uint8_t *bytes, const uint8_t *cursor, unsigned extensions,
                                                    struct x86_insn *insn, unsigned options)
{
    struct reading reading = {.bytes = bytes, .cursor = cursor, .extensions = extensions, .v_high = extensions & 16};
    const struct x86_traits *traits = x86_traits_of(insn->form);

    insn->properties |= properties_of_prefixes(insn);
    if (insn->prefixes & X86_PREFIX_67 && !(traits->properties & X86_FORM_ADDRESS_64))
        insn->address_bits = 32;
    read_immediates(&reading, insn, options);
    insn->length = (uint8_t)(reading.cursor - reading.bytes);
    settle_registers(&reading, insn);
    settle_flags(insn);
    settle_target(insn, options);
    return are_distinct(insn, traits->distinct) && insn->length <= X86_MAX_INSN_BYTES ? 0 : -EILSEQ;
}

/* The rest of any other: it has no prefix but rex, vex or evex. Only a row of rex prefixes can make it too long. */
PART int settle_usual(struct reading *reading, struct x86_insn *insn, const struct x86_traits *traits)
{
    unsigned size = traits->immediate.size[insn->size_index];
    uint64_t gprs = traits->gprs;

    if (size != 0)
        read_usual_immediate(reading, insn, size, traits->immediate.is_signed);

    unsigned length = (unsigned)(reading->cursor - reading->bytes);
    uint64_t next = insn->pc.value + length;

    insn->length = (uint8_t)length;
    if (reading->properties & X86_PC_RELATIVE)
        insn->target = next + (uint64_t)insn->displacement;
    else if (traits->immediate.is_relative)
        insn->target = next + insn->immediate;
    if (reading->modrm == X86_MODRM_NONE) {
        gprs |= gprs_of_role(X86_ROLE_OF(traits->roles, X86_ROLE_OPCODE), (insn->opcode & 7) | B_BIT(reading));
    } else {
        gprs |= gprs_of_role(X86_ROLE_OF(traits->roles, X86_ROLE_REG), insn->reg);
        gprs |= reading->modrm == X86_MODRM_USED ? settle_address(insn)
                                                 : gprs_of_role(X86_ROLE_OF(traits->roles, X86_ROLE_RM), insn->rm);
    }
    insn->gprs = gprs;
    insn->flags = x86_flag_effects[traits->flags];
    return RARELY(length > X86_MAX_INSN_BYTES) ? -EILSEQ : 0;
}

/* Refuses the instruction. The length says how many bytes that rests on. */
PART int refuse(struct x86_insn *insn, const struct reading *reading)
{
    insn->length = (uint8_t)(reading->cursor - reading->bytes);
    return -EILSEQ;
}

/* What is known of an instruction by its form. */
PART int settle_form(struct reading *reading, struct x86_insn *insn, unsigned node, const struct x86_traits *traits)
{
    const struct x86_form *form = &x86_forms[node];

    /* So that the compiler keeps the pointer, and does not work it out again wherever it is used. */
    __asm__("" : "+r"(traits));
    if (RARELY(reading->fields & traits->forbidden))
        return refuse(insn, reading);
    insn->form = form;
    insn->mnemonic = form->mnemonic;
    insn->flow = traits->flow;
    insn->insn_class = traits->insn_class;
    insn->address_bits = 64;
    insn->properties = reading->properties | (traits->properties & (X86_FORM_UNUSUAL - 1));
    if (reading->is_vector && insn->displacement_size == 1)
        insn->displacement *= 1 << (traits->disp8_shift >> 4 * insn->size_index & 15);
    if (RARELY(insn->prefixes || traits->properties & X86_FORM_UNUSUAL))
        return settle_unusual(reading->bytes, reading->cursor, reading->extensions | reading->v_high, insn,
                              reading->options);
    return settle_usual(reading, insn, traits);
}

/* Decodes what follows the prefixes. The two kinds are two functions in the end, so that each has only its own work. */
PART int decode_opcode(struct reading *reading, struct x86_insn *insn, unsigned lead)
{
    unsigned map =
        reading->is_vector ? read_vector_opcode(reading, insn, lead) : read_legacy_opcode(reading, insn, lead);

    if (reading->is_vector && map == X86_MAP_INVALID)
        return refuse(insn, reading);
    insn->map = (uint8_t)map;
    insn->opcode_offset = (uint8_t)(reading->cursor - reading->bytes - 1);
    if (RARELY(map == X86_MAP_3DNOW)) {
        reading->selectors |= modrm_selectors(*reading->cursor);
        read_modrm(reading, insn, X86_MODRM_USED);
        insn->opcode = *reading->cursor++;
    }

    struct x86_opcode_root root = x86_opcode_roots[map][insn->opcode];

    if (root.modrm_use == X86_MODRM_NONE) {
        reading->selectors |= SELECTED(X86_SELECT_RM, reading->extensions & 1);
    } else if (map != X86_MAP_3DNOW) {
        reading->selectors |= modrm_selectors(*reading->cursor);
        read_modrm(reading, insn, root.modrm_use);
        /* x is the fifth bit of rm in evex alone; elsewhere forms neither use nor forbid it. */
        if (reading->is_vector && insn->encoding == X86_ENCODING_EVEX && reading->modrm == X86_MODRM_REGISTER)
            insn->rm |= (uint8_t)(X_BIT(reading) << 1);
    }

    unsigned node = find_form(reading, root.node);

    return settle_form(reading, insn, node, x86_traits_of(&x86_forms[node]));
}

static __attribute__((noinline)) int decode_vector(const uint8_t *bytes, const uint8_t *cursor, struct x86_insn *insn,
                                                   unsigned options, unsigned lead)
{
    struct reading reading = {.bytes = bytes, .cursor = cursor, .options = options, .is_vector = true};

    return decode_opcode(&reading, insn, lead);
}

/* pop has the byte that xop begins with; its modrm cannot be a map of xop's. */
PART bool is_vector_lead(unsigned lead, const uint8_t *cursor)
{
    return lead > LEAD_ESCAPE && (lead != LEAD_XOP || (cursor[1] & 31) >= 8);
}

/* What every instruction begins with. */
PART void clear(struct x86_insn *insn)
{
    insn->target = insn->immediate = 0;
    insn->displacement = 0;
    insn->base = insn->index = X86_GPR_NONE;
    insn->all_fields[0] = insn->all_fields[1] = 0;
}

/* Those that decode_plain does not take. */
static __attribute__((noinline)) int decode_other(const uint8_t *bytes, unsigned options, struct x86_insn *insn)
{
    struct reading reading = {.bytes = bytes, .cursor = read_prefixes(bytes, insn), .options = options};
    unsigned lead;

    clear(insn);
    if (RARELY(reading.cursor == NULL)) {
        reading.cursor = bytes + X86_MAX_INSN_BYTES;
        return refuse(insn, &reading);
    }
    lead = leads[*reading.cursor];
    if (is_vector_lead(lead, reading.cursor))
        return decode_vector(bytes, reading.cursor, insn, options, lead);
    return decode_opcode(&reading, insn, lead);
}

/*
 * Most instructions: of the first two maps, with no prefix but a rex. `reading` is at the opcode, whose root is given.
 * No switch is looked at but for those few opcodes that mean several instructions.
 */
PART int decode_plain(struct reading *reading, struct x86_insn *insn, unsigned map, const struct x86_plain_root *root)
{
    unsigned opcode = *reading->cursor, rex = reading->extensions, modrm = reading->cursor[1];
    unsigned node = root->nodes[0], traits = root->traits[0], modrm_use = X86_PLAIN_MODRM_USE(traits);

    clear(insn);
    insn->encoding = X86_ENCODING_LEGACY;
    insn->map = (uint8_t)map;
    insn->opcode = (uint8_t)opcode;
    insn->opcode_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->rex = (uint8_t)rex;
    insn->prefixes = 0;
    insn->segment = X86_SEGMENT_NONE;
    insn->size_index = (uint8_t)(1 + (rex >> 3 & 1));
    reading->fields = X86_FIELD_ANY | (rex & X86_FIELD_R);
    reading->cursor++;
    if (modrm_use != X86_MODRM_NONE) {
        node = root->nodes[modrm >= MODRM_REGISTER];
        traits = root->traits[modrm >= MODRM_REGISTER];
        read_modrm(reading, insn, modrm_use);
    }
    if (X86_NODE_IS_SWITCH(node)) {
        reading->selectors =
            SELECTED(X86_SELECT_W, rex >> 3 & 1) |
            (reading->modrm == X86_MODRM_NONE ? SELECTED(X86_SELECT_RM, rex & 1) : modrm_selectors(modrm));
        node = find_form(reading, node);
        traits = x86_forms[node].traits;
    }
    return settle_form(reading, insn, node, &x86_form_traits[X86_PLAIN_TRAITS(traits)]);
}

/* Decodes from bytes of which READABLE_BYTES can be read. On failure the length is that of what was looked at. */
PART int decode(const uint8_t *bytes, unsigned options, struct x86_insn *insn)
{
    bool has_rex = (bytes[0] & 0xf0) == 0x40;
    struct reading reading = {
        .bytes = bytes,
        .cursor = bytes + has_rex,
        .extensions = bytes[0] & -(unsigned)has_rex,
        .options = options,
    };
    bool is_escaped = *reading.cursor == 0x0f;
    unsigned map = is_escaped ? X86_MAP_0F : X86_MAP_PRIMARY;

    reading.cursor += is_escaped;

    const struct x86_plain_root *root = &x86_plain_roots[map][*reading.cursor];

    if (RARELY(X86_PLAIN_MODRM_USE(root->traits[0]) == X86_PLAIN_OTHER))
        return decode_other(bytes, options, insn);
    return decode_plain(&reading, insn, map, root);
}

/* The last bytes of what is readable: decodes a padded copy, and believes nothing that rests on the padding. */
static __attribute__((noinline)) int decode_near_end(const uint8_t *bytes, size_t available, unsigned options,
                                                     struct x86_insn *insn)
{
    uint64_t padded[(READABLE_BYTES + 7) / 8] = {0};
    size_t words = available / 8;

    for (size_t i = 0; i < words; i++)
        padded[i] = read_u64(bytes + 8 * i);
    padded[words] = read_part(bytes + 8 * words, available % 8);

    int result = x86_decode((const uint8_t *)padded, sizeof(padded), insn->pc, options, insn);

    if (result == 0 && insn->length > available)
        return -ENODATA;
    /* With fifteen bytes at hand nothing that could follow would make it an instruction. */
    if (result != 0 && insn->length > available && available < X86_MAX_INSN_BYTES)
        return -ENODATA;
    return result;
}

int x86_decode(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options, struct x86_insn *insn_out)
{
    insn_out->pc = pc;
    if (RARELY(available < READABLE_BYTES))
        return decode_near_end(bytes, available, options, insn_out);
    return decode(bytes, options, insn_out);
}
