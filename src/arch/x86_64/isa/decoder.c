/* SPDX-License-Identifier: MIT */
/*
 * One pass over the bytes: prefixes, opcode, modrm; then the tables say which form it is, and the form says the rest.
 * Invariant: no byte past `available` is read - near the end of what is readable the bytes are first copied into a
 * padded buffer, and an instruction that turns out longer than what there was is reported as cut off. No state.
 */
#include "arch/x86_64/isa/decoder.h"

#include <asm/errno.h>
#include <stdbool.h>

/* The longest instruction, and what a look ahead may touch behind it. */
#define READABLE_BYTES 32

/* What a byte means where a prefix or an opcode may stand. */
enum lead {
    LEAD_OPCODE,
    LEAD_REX,
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
    LEAD_ESCAPE,
    LEAD_VEX2,
    LEAD_VEX3,
    LEAD_EVEX,
    LEAD_XOP,
};

static const uint8_t leads[256] = {
    [0x0f] = LEAD_ESCAPE, [0x26] = LEAD_SEGMENT, [0x2e] = LEAD_2E,   [0x36] = LEAD_SEGMENT, [0x3e] = LEAD_3E,
    [0x40 ... 0x4f] = LEAD_REX, [0x62] = LEAD_EVEX, [0x64] = LEAD_FS, [0x65] = LEAD_GS,     [0x66] = LEAD_66,
    [0x67] = LEAD_67,     [0x8f] = LEAD_XOP,     [0xc4] = LEAD_VEX3, [0xc5] = LEAD_VEX2,    [0xf0] = LEAD_LOCK,
    [0xf2] = LEAD_F2,     [0xf3] = LEAD_F3,
};

/* What has been read of an instruction before its form is known. */
struct reading {
    const uint8_t *bytes;
    const uint8_t *cursor;
    uint8_t selectors[X86_SELECTOR_COUNT];
    uint8_t r, x, b, v_high; /* extensions, as bits of the register's number */
    uint16_t fields;         /* of enum x86_field */
};

static inline uint32_t read_u32(const uint8_t *bytes)
{
    uint32_t value;

    __builtin_memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint64_t read_u64(const uint8_t *bytes)
{
    uint64_t value;

    __builtin_memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Reads prefixes up to the opcode's first byte; the cursor is left on it. Returns its lead, or -1 if there is none. */
static inline int read_prefixes(struct reading *reading, struct x86_insn *insn)
{
    const uint8_t *cursor = reading->bytes;
    const uint8_t *limit = cursor + X86_MAX_INSN_BYTES;
    unsigned prefixes = 0, rex = 0, segment = X86_SEGMENT_NONE, lead;

    for (;; cursor++) {
        lead = leads[*cursor];
        if (__builtin_expect(lead == LEAD_OPCODE || lead >= LEAD_ESCAPE, 1))
            break;
        if (cursor == limit)
            return -1;
        if (lead == LEAD_REX) {
            rex = *cursor;
            continue;
        }
        rex = 0; /* a rex that does not stand right before the opcode does not count */
        switch (lead) {
        case LEAD_66:
            prefixes |= X86_PREFIX_66;
            break;
        case LEAD_67:
            prefixes |= X86_PREFIX_67;
            break;
        case LEAD_F2:
            prefixes = (prefixes & ~X86_PREFIX_F3) | X86_PREFIX_F2;
            break;
        case LEAD_F3:
            prefixes = (prefixes & ~X86_PREFIX_F2) | X86_PREFIX_F3;
            break;
        case LEAD_LOCK:
            prefixes |= X86_PREFIX_LOCK;
            break;
        case LEAD_2E:
            prefixes = (prefixes & ~X86_PREFIX_3E) | X86_PREFIX_2E | X86_PREFIX_SEGMENT;
            break;
        case LEAD_3E:
            prefixes = (prefixes & ~X86_PREFIX_2E) | X86_PREFIX_3E | X86_PREFIX_SEGMENT;
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
    reading->cursor = cursor;
    insn->prefixes = (uint8_t)prefixes;
    insn->rex = (uint8_t)rex;
    insn->segment = (uint8_t)segment;
    return (int)lead;
}

static inline void select_legacy(struct reading *reading, struct x86_insn *insn)
{
    unsigned prefixes = insn->prefixes, rex = insn->rex;

    reading->r = (rex & 4) << 1;
    reading->x = (rex & 2) << 2;
    reading->b = (uint8_t)((rex & 1) << 3);
    reading->v_high = 0;
    reading->fields = (uint16_t)((prefixes & X86_PREFIX_LOCK ? X86_FIELD_LOCK : 0) | (rex & 4 ? X86_FIELD_R : 0));
    reading->selectors[X86_SELECT_PREFIX] = prefixes & (X86_PREFIX_66 | X86_PREFIX_F3 | X86_PREFIX_F2);
    reading->selectors[X86_SELECT_W] = rex >> 3 & 1;
    reading->selectors[X86_SELECT_ADDRESS_SIZE] = (prefixes & X86_PREFIX_67) != 0;
    reading->selectors[X86_SELECT_REX_B] = rex & 1;
    insn->size_index = rex & 8 ? 2 : !(prefixes & X86_PREFIX_66);
    insn->vvvv = 0;
    insn->mask = insn->zeroing = insn->broadcast = insn->rounding = 0;
}

/* Reads the opcode behind 0f. Returns the map. */
static inline unsigned read_escaped_opcode(struct reading *reading, struct x86_insn *insn)
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
static inline bool has_conflicting_prefix(const struct x86_insn *insn)
{
    return insn->rex != 0 || (insn->prefixes & (X86_PREFIX_66 | X86_PREFIX_F2 | X86_PREFIX_F3 | X86_PREFIX_LOCK));
}

/* Takes over the fields that vex and xop have in their second and third byte. */
static inline void select_vex(struct reading *reading, struct x86_insn *insn, unsigned second, unsigned third)
{
    unsigned vvvv = ~third >> 3 & 15;

    reading->r = (~second >> 7 & 1) << 3;
    reading->x = (~second >> 6 & 1) << 3;
    reading->b = (~second >> 5 & 1) << 3;
    reading->v_high = 0;
    reading->fields = (uint16_t)((reading->r ? X86_FIELD_R : 0) | (vvvv ? X86_FIELD_V : 0) |
                                 (vvvv & 8 ? X86_FIELD_V_EIGHT : 0));
    reading->selectors[X86_SELECT_PREFIX] = third & 3;
    reading->selectors[X86_SELECT_W] = third >> 7;
    reading->selectors[X86_SELECT_LENGTH] = third >> 2 & 1;
    reading->selectors[X86_SELECT_BROADCAST] = 0;
    insn->size_index = third >> 2 & 1;
    insn->vvvv = (uint8_t)vvvv;
    insn->mask = insn->zeroing = insn->broadcast = insn->rounding = 0;
}

static inline unsigned read_vex2(struct reading *reading, struct x86_insn *insn)
{
    const uint8_t *bytes = reading->cursor;

    insn->encoding = X86_ENCODING_VEX;
    select_vex(reading, insn, (bytes[1] & 0x80) | 0x61, bytes[1] & 0x7f);
    insn->opcode = bytes[2];
    reading->cursor += 3;
    return has_conflicting_prefix(insn) ? X86_MAP_INVALID : X86_MAP_VEX1;
}

static inline unsigned read_vex3(struct reading *reading, struct x86_insn *insn)
{
    static const uint8_t maps[32] = {
        [0] = X86_MAP_INVALID, [1] = X86_MAP_VEX1, [2] = X86_MAP_VEX2, [3] = X86_MAP_VEX3, [4] = X86_MAP_INVALID,
        [5] = X86_MAP_VEX5, [6] = X86_MAP_INVALID, [7] = X86_MAP_VEX7, [8 ... 31] = X86_MAP_INVALID,
    };
    const uint8_t *bytes = reading->cursor;

    insn->encoding = X86_ENCODING_VEX;
    select_vex(reading, insn, bytes[1], bytes[2]);
    insn->opcode = bytes[3];
    reading->cursor += 4;
    return has_conflicting_prefix(insn) ? X86_MAP_INVALID : maps[bytes[1] & 31];
}

static inline unsigned read_xop(struct reading *reading, struct x86_insn *insn)
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

static inline unsigned read_evex(struct reading *reading, struct x86_insn *insn)
{
    static const uint8_t maps[16] = {
        [0] = X86_MAP_INVALID, [1] = X86_MAP_EVEX1, [2] = X86_MAP_EVEX2,        [3] = X86_MAP_EVEX3,
        [4] = X86_MAP_INVALID, [5] = X86_MAP_EVEX5, [6] = X86_MAP_EVEX6,        [7 ... 15] = X86_MAP_INVALID,
    };
    const uint8_t *bytes = reading->cursor;
    unsigned fourth = bytes[3];

    insn->encoding = X86_ENCODING_EVEX;
    select_vex(reading, insn, bytes[1], bytes[2]);
    reading->r |= (uint8_t)(~bytes[1] & 0x10);
    reading->v_high = (uint8_t)((~fourth & 8) << 1);
    insn->vvvv |= reading->v_high;
    insn->mask = fourth & 7;
    insn->zeroing = (uint8_t)(fourth >> 7);
    insn->broadcast = fourth >> 4 & 1;
    insn->rounding = fourth >> 5 & 3;
    insn->size_index = insn->rounding == 3 ? 2 : insn->rounding;
    insn->opcode = bytes[4];
    reading->selectors[X86_SELECT_LENGTH] = insn->rounding;
    reading->selectors[X86_SELECT_BROADCAST] = insn->broadcast;
    reading->fields |=
        (uint16_t)((reading->r & 16 ? X86_FIELD_R_HIGH : 0) | (reading->v_high ? X86_FIELD_V_HIGH : 0) |
                   (insn->mask ? X86_FIELD_MASKED : X86_FIELD_UNMASKED) | (insn->zeroing ? X86_FIELD_ZEROING : 0));
    reading->cursor += 5;
    /* Zeroing without a mask is refused for every form; bit 2 of the third byte is fixed. */
    if (has_conflicting_prefix(insn) || !(bytes[2] & 4) || (insn->zeroing && insn->mask == 0))
        return X86_MAP_INVALID;
    return maps[bytes[1] & 15];
}

/* Reads the opcode in whichever way the lead says. Returns its map or X86_MAP_INVALID. */
static inline unsigned read_opcode(struct reading *reading, struct x86_insn *insn, unsigned lead)
{
    switch (lead) {
    case LEAD_VEX2:
        return read_vex2(reading, insn);
    case LEAD_VEX3:
        return read_vex3(reading, insn);
    case LEAD_EVEX:
        return read_evex(reading, insn);
    case LEAD_XOP:
        if ((reading->cursor[1] & 31) >= 8)
            return read_xop(reading, insn);
        break;
    case LEAD_ESCAPE:
        select_legacy(reading, insn);
        return read_escaped_opcode(reading, insn);
    }
    select_legacy(reading, insn);
    insn->encoding = X86_ENCODING_LEGACY;
    insn->opcode = *reading->cursor++;
    return X86_MAP_PRIMARY;
}

/* Reads sib and displacement of a memory operand. */
static inline void read_memory(struct reading *reading, struct x86_insn *insn)
{
    unsigned mod = insn->modrm >> 6, rm = insn->modrm & 7;
    unsigned base = rm | reading->b, index = X86_GPR_NONE, scale = 1, disp_size = mod == 2 ? 4 : mod;

    if (rm == 4) {
        unsigned sib = *reading->cursor++;

        base = (sib & 7) | reading->b;
        index = (sib >> 3 & 7) | reading->x;
        scale = 1u << (sib >> 6);
        if (mod == 0 && (sib & 7) == 5) {
            base = X86_GPR_NONE;
            disp_size = 4;
        }
    } else if (mod == 0 && rm == 5) {
        base = X86_GPR_NONE;
        disp_size = 4;
        insn->properties = X86_PC_RELATIVE;
        reading->fields |= X86_FIELD_PC_BASE;
    }
    insn->base = (uint8_t)base;
    insn->index = (uint8_t)index;
    insn->scale = (uint8_t)scale;
    insn->displacement_size = (uint8_t)disp_size;
    insn->displacement_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->displacement = 0;
    if (disp_size == 1)
        insn->displacement = (int8_t)*reading->cursor;
    else if (disp_size == 4)
        insn->displacement = (int32_t)read_u32(reading->cursor);
    reading->cursor += disp_size;
}

/* Reads modrm and what belongs to it. */
static inline void read_modrm(struct reading *reading, struct x86_insn *insn, enum x86_modrm_use use)
{
    unsigned modrm = *reading->cursor;

    insn->modrm_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->modrm = (uint8_t)modrm;
    insn->reg = (uint8_t)((modrm >> 3 & 7) | reading->r);
    reading->cursor++;
    reading->selectors[X86_SELECT_REG] = modrm >> 3 & 7;
    reading->selectors[X86_SELECT_RM] = modrm & 7;
    reading->selectors[X86_SELECT_MOD_REGISTER] = modrm >= 0xc0;
    if (modrm < 0xc0 && use == X86_MODRM_USED) {
        insn->is_memory = 1;
        read_memory(reading, insn);
        return;
    }
    /* x is the fifth bit of rm in evex alone; elsewhere forms neither use nor forbid it. */
    insn->rm = (uint8_t)((modrm & 7) | reading->b);
    if (insn->encoding == X86_ENCODING_EVEX)
        insn->rm |= (uint8_t)(reading->x << 1);
    reading->fields |= (uint16_t)((reading->x ? X86_FIELD_X : 0) | (reading->b ? X86_FIELD_B : 0));
}

static inline const struct x86_form *find_form(const struct reading *reading, unsigned node)
{
    while (node & X86_NODE_SWITCH) {
        const uint16_t *entry = &x86_switches[X86_NODE_PLACE(node)];

        node = entry[1 + reading->selectors[entry[0]]];
    }
    return &x86_forms[node];
}

static bool are_distinct(const struct x86_insn *insn, unsigned rule)
{
    switch (rule) {
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

/* A vector index may be register 4; a general one that says 4 without an extension is none. */
static inline void settle_index(const struct reading *reading, struct x86_insn *insn)
{
    if (insn->form->properties & X86_FORM_VECTOR_INDEX)
        insn->index |= reading->v_high;
    else if (insn->index == X86_RSP)
        insn->index = X86_GPR_NONE;
    else
        insn->gpr_read |= X86_GPR_BIT(insn->index & 31);
}

static inline void apply_role(struct x86_insn *insn, unsigned role, unsigned number)
{
    if (role & X86_ROLE_BYTE && insn->rex == 0 && insn->encoding == X86_ENCODING_LEGACY)
        number &= 3;
    x86_gpr_set bit = X86_GPR_BIT(number & 15);

    if (role & X86_ROLE_READ)
        insn->gpr_read |= bit;
    if (role & X86_ROLE_WRITE)
        insn->gpr_written |= bit;
    if (role & X86_ROLE_KEEPS || (role & X86_ROLE_KEEPS_16 && insn->size_index == 0))
        insn->gpr_kept |= bit;
}

/* Which general registers it reads and writes: those the form names, those the fields name, those of the address. */
static inline void settle_registers(const struct reading *reading, struct x86_insn *insn)
{
    const struct x86_form *form = insn->form;

    insn->gpr_read = form->gpr_read;
    insn->gpr_written = form->gpr_written;
    insn->gpr_kept = insn->size_index == 0 ? form->gpr_kept | form->gpr_kept_16 : form->gpr_kept;
    if (form->roles[X86_ROLE_REG])
        apply_role(insn, form->roles[X86_ROLE_REG], insn->reg);
    if (form->roles[X86_ROLE_OPCODE])
        apply_role(insn, form->roles[X86_ROLE_OPCODE], (insn->opcode & 7) | reading->b);
    if (form->roles[X86_ROLE_VVVV])
        apply_role(insn, form->roles[X86_ROLE_VVVV], insn->vvvv);
    if (insn->is_memory) {
        insn->gpr_read |= X86_GPR_BIT(insn->base & 31);
        if (insn->index != X86_GPR_NONE)
            settle_index(reading, insn);
    } else if (form->roles[X86_ROLE_RM]) {
        apply_role(insn, form->roles[X86_ROLE_RM], insn->rm);
    }
}

static inline void settle_flags(struct x86_insn *insn)
{
    const struct x86_flag_effect *effect = &x86_flag_effects[insn->form->flags];
    uint32_t properties = insn->form->properties;

    insn->flags_read = effect->read;
    insn->flags_written = effect->written;
    insn->flags_undefined = effect->undefined;
    insn->flags_kept = 0;
    if (properties & (X86_FORM_COUNT_IN_IMMEDIATE | X86_FORM_FLAGS_MAY_STAY | X86_FORM_STRING)) {
        unsigned count_mask = insn->size_index == 2 ? 63 : 31;

        if (properties & X86_FORM_FLAGS_MAY_STAY || insn->properties & X86_REPEATED ||
            (properties & X86_FORM_COUNT_IN_IMMEDIATE && (insn->immediate & count_mask) == 0))
            insn->flags_kept = effect->written;
    }
}

/* Sign- or zero-extends an immediate of the given size. */
static inline uint64_t read_immediate(const uint8_t *bytes, unsigned size, bool is_signed)
{
    switch (size) {
    case 0:
        return 0;
    case 1:
        return is_signed ? (uint64_t)(int8_t)bytes[0] : bytes[0];
    case 2:
        return is_signed ? (uint64_t)(int16_t)read_u32(bytes) : (uint16_t)read_u32(bytes);
    case 4:
        return is_signed ? (uint64_t)(int32_t)read_u32(bytes) : read_u32(bytes);
    default:
        return read_u64(bytes);
    }
}

static inline void read_immediates(struct reading *reading, struct x86_insn *insn, unsigned options)
{
    const struct x86_immediate_form *form = &x86_immediate_forms[insn->form->immediate];
    unsigned size = form->size[insn->size_index];

    if (form->is_offset) {
        insn->displacement_offset = (uint8_t)(reading->cursor - reading->bytes);
        insn->displacement_size = insn->prefixes & X86_PREFIX_67 ? 4 : 8;
        insn->displacement = (int64_t)read_immediate(reading->cursor, insn->displacement_size, false);
        reading->cursor += insn->displacement_size;
        return;
    }
    if (__builtin_expect(insn->properties & X86_OPERAND_SIZE_BY_VENDOR && options & X86_DECODE_AMD, 0) &&
        form->is_relative && size == 4)
        size = 2;
    insn->immediate_offset = (uint8_t)(reading->cursor - reading->bytes);
    insn->immediate_size = (uint8_t)size;
    insn->immediate = read_immediate(reading->cursor, size, form->is_signed);
    reading->cursor += size + form->size_second;
    if (form->size_second)
        insn->immediate |= (uint64_t)reading->cursor[-1] << 8 * size;
}

static inline void settle_target(struct x86_insn *insn, unsigned options)
{
    uint64_t next = insn->pc.value + insn->length;

    if (insn->properties & X86_PC_RELATIVE) {
        insn->target = next + (uint64_t)insn->displacement;
        if (insn->address_bits == 32)
            insn->target = (uint32_t)insn->target;
    } else if (x86_immediate_forms[insn->form->immediate].is_relative) {
        insn->target = next + insn->immediate;
        if (insn->properties & X86_OPERAND_SIZE_BY_VENDOR && options & X86_DECODE_AMD)
            insn->target = (uint16_t)insn->target;
    }
}

/* The properties that this very instruction adds to those of its form. */
static inline void settle_properties(struct x86_insn *insn)
{
    const unsigned repeats = X86_PREFIX_F3 | X86_PREFIX_F2;
    uint32_t form = insn->form->properties;
    uint32_t properties = insn->properties | (form & 0x00ffffff);

    if (insn->prefixes) {
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
    }
    insn->properties = properties;
}

/* Decodes from bytes of which READABLE_BYTES can be read. On failure *examined_out says how many it looked at. */
static inline int decode(const uint8_t *bytes, unsigned options, struct x86_insn *insn, size_t *examined_out)
{
    struct reading reading = {.bytes = bytes};
    int lead = read_prefixes(&reading, insn);

    insn->modrm_offset = insn->displacement_offset = insn->displacement_size = 0;
    insn->immediate_offset = insn->immediate_size = insn->is_memory = insn->modrm = 0;
    insn->reg = insn->rm = 0;
    insn->base = insn->index = X86_GPR_NONE;
    insn->properties = 0;
    insn->immediate = insn->target = 0;
    insn->displacement = 0;
    if (lead < 0) {
        *examined_out = X86_MAX_INSN_BYTES;
        return -EILSEQ;
    }

    unsigned map = read_opcode(&reading, insn, (unsigned)lead);

    *examined_out = (size_t)(reading.cursor - bytes);
    if (map == X86_MAP_INVALID)
        return -EILSEQ;
    insn->map = (uint8_t)map;
    insn->opcode_offset = (uint8_t)(reading.cursor - bytes - 1);
    if (__builtin_expect(map == X86_MAP_3DNOW, 0)) {
        read_modrm(&reading, insn, X86_MODRM_USED);
        insn->opcode = *reading.cursor++;
    }

    struct x86_opcode_root root = x86_opcode_roots[map][insn->opcode];

    if (root.modrm_use != X86_MODRM_NONE && map != X86_MAP_3DNOW)
        read_modrm(&reading, insn, root.modrm_use);
    insn->form = find_form(&reading, root.node);
    *examined_out = (size_t)(reading.cursor - bytes);
    if (insn->form == &x86_forms[X86_FORM_INVALID] || reading.fields & insn->form->forbidden)
        return -EILSEQ;
    insn->address_bits = insn->prefixes & X86_PREFIX_67 && !(insn->form->properties & X86_FORM_ADDRESS_64) ? 32 : 64;
    settle_properties(insn);
    if (insn->encoding == X86_ENCODING_EVEX && insn->displacement_size == 1)
        insn->displacement = insn->displacement * (1 << (insn->form->disp8_shift >> 4 * insn->size_index & 15));
    read_immediates(&reading, insn, options);
    insn->length = (uint8_t)(reading.cursor - bytes);
    settle_registers(&reading, insn);
    settle_flags(insn);
    settle_target(insn, options);
    insn->mnemonic = insn->form->mnemonic;
    insn->flow = insn->form->flow;
    insn->insn_class = insn->form->insn_class;
    *examined_out = insn->length;
    if (__builtin_expect(insn->form->distinct, 0) && !are_distinct(insn, insn->form->distinct))
        return -EILSEQ;
    return insn->length <= X86_MAX_INSN_BYTES ? 0 : -EILSEQ;
}

/* The last bytes of what is readable: decodes a padded copy, and believes nothing that rests on the padding. */
static int decode_near_end(const uint8_t *bytes, size_t available, unsigned options, struct x86_insn *insn)
{
    uint8_t padded[READABLE_BYTES] = {0};
    size_t examined;

    for (size_t i = 0; i < available; i++)
        padded[i] = bytes[i];

    int result = decode(padded, options, insn, &examined);

    if (result == 0 && insn->length > available)
        return -ENODATA;
    /* With fifteen bytes at hand nothing that could follow would make it an instruction. */
    if (result != 0 && examined > available && available < X86_MAX_INSN_BYTES)
        return -ENODATA;
    return result;
}

int x86_decode(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options, struct x86_insn *insn_out)
{
    size_t examined;

    insn_out->pc = pc;
    if (__builtin_expect(available < READABLE_BYTES, 0))
        return decode_near_end(bytes, available, options, insn_out);
    return decode(bytes, options, insn_out, &examined);
}
