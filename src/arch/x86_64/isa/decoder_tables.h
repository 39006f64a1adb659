/* SPDX-License-Identifier: MIT */
/*
 * The shape of the decoder's tables. They are made by `make tables` and never edited. An opcode leads to a node: either
 * a form, or a switch on one property of the instruction (a selector) that leads on. Operand sizes that follow the
 * operand size or the vector length are written as triples, so that one form serves all three.
 */
#ifndef GAIT_ARCH_X86_64_ISA_DECODER_TABLES_H
#define GAIT_ARCH_X86_64_ISA_DECODER_TABLES_H

#include "arch/x86_64/isa/registers.h"

/* Rows of x86_opcode_roots. */
enum x86_opcode_map {
    X86_MAP_PRIMARY,
    X86_MAP_0F,
    X86_MAP_0F38,
    X86_MAP_0F3A,
    X86_MAP_3DNOW,
    X86_MAP_VEX1,
    X86_MAP_VEX2,
    X86_MAP_VEX3,
    X86_MAP_VEX5,
    X86_MAP_VEX7,
    X86_MAP_XOP8,
    X86_MAP_XOP9,
    X86_MAP_XOPA,
    X86_MAP_EVEX1,
    X86_MAP_EVEX2,
    X86_MAP_EVEX3,
    X86_MAP_EVEX5,
    X86_MAP_EVEX6,
    X86_MAP_COUNT,
    X86_MAP_INVALID = 0xff,
};

/* What a switch in the tables looks at. */
enum x86_selector {
    X86_SELECT_PREFIX,       /* legacy: (0 none, 2 f3, 4 f2) + (1 with 66); else the pp field */
    X86_SELECT_MOD_REGISTER, /* 1 when modrm names a register rather than memory */
    X86_SELECT_REG,          /* modrm.reg, three bits */
    X86_SELECT_RM,           /* modrm.rm, three bits; without modrm rex.b */
    X86_SELECT_W,
    X86_SELECT_LENGTH,       /* the vector length field */
    X86_SELECT_BROADCAST,    /* evex.b */
    X86_SELECT_ADDRESS_SIZE, /* 1 under 67 */
    X86_SELECTOR_COUNT,      /* eight: a byte each of one word */
};

/* A node is a form's number or, from here on, the place of a switch: its selector, then a node for each value. */
#define X86_NODE_SWITCH          0x2000u
#define X86_NODE_IS_SWITCH(node) ((node) >= X86_NODE_SWITCH)
#define X86_NODE_PLACE(node)     ((node)-X86_NODE_SWITCH)
#define X86_FORM_INVALID         0u

/* Bits of an instruction that some forms do not allow. */
enum x86_field {
    X86_FIELD_B = 1u << 0,      /* b, where modrm names a register; these three as rex has them */
    X86_FIELD_X = 1u << 1,      /* x, where modrm names a register */
    X86_FIELD_R = 1u << 2,      /* modrm.reg is 8 or more (mod 16) */
    X86_FIELD_R_HIGH = 1u << 3, /* modrm.reg is 16 or more */
    X86_FIELD_LOCK = 1u << 4,
    X86_FIELD_V = 1u << 5,           /* vvvv is not 0 */
    X86_FIELD_V_EIGHT = 1u << 6,     /* vvvv is 8 or more (mod 16) */
    X86_FIELD_V_HIGH = 1u << 7,      /* v', the fifth bit of vvvv or of a vector index */
    X86_FIELD_MASKED = 1u << 8,      /* aaa is not 0 */
    X86_FIELD_UNMASKED = 1u << 9,    /* aaa is 0 */
    X86_FIELD_ZEROING = 1u << 10,    /* z */
    X86_FIELD_PC_BASE = 1u << 11,    /* a pc-relative operand */
    X86_FIELD_ADDRESS_32 = 1u << 12, /* the 67 prefix */
    X86_FIELD_ANY = 1u << 15,        /* set for every instruction: what the form of none forbids */
};

/* Rules about several registers at once. */
enum x86_distinct {
    X86_DISTINCT_NONE,
    X86_DISTINCT_GATHER_VEX,  /* destination, index and mask differ */
    X86_DISTINCT_GATHER_EVEX, /* destination and index differ */
    X86_DISTINCT_TILES,       /* all three tiles differ */
    X86_DISTINCT_DESTINATION, /* the destination differs from both sources */
};

/* What a form does with a general register named by a field of the encoding; four of them, a byte each. */
enum x86_role {
    X86_ROLE_READ = 1,
    X86_ROLE_WRITE = 2,
    X86_ROLE_KEEPS = 4,    /* part of the old value survives the write... */
    X86_ROLE_KEEPS_16 = 8, /* ...only when the operand size is 16 */
    X86_ROLE_BYTE = 16,    /* 4 to 7 are ah to bh without rex */
};

enum x86_role_field {
    X86_ROLE_REG,
    X86_ROLE_RM,
    X86_ROLE_OPCODE,
    X86_ROLE_VVVV,
};

#define X86_ROLE_OF(roles, field) ((roles) >> 8 * (field)&0xff)

/* The immediates of a form; all zero for none. */
struct x86_immediate_form {
    uint8_t size[3]; /* bytes of the first, by operand size */
    uint8_t size_second : 4;
    uint8_t is_signed : 1;
    uint8_t is_relative : 1;
    uint8_t is_offset : 1; /* the address of mov's absolute forms: eight bytes, four under 67 */
};

/* Sets of general registers side by side in one word; the lane's number counts 16 bits. */
enum x86_gpr_lane {
    X86_GPRS_READ,
    X86_GPRS_WRITTEN,
    X86_GPRS_KEPT,    /* written, and part of the old value survives */
    X86_GPRS_KEPT_16, /* the same, only when the operand size is 16 */
};

#define X86_GPRS(lane, set)     ((uint64_t)(set) << 16 * (lane))
#define X86_GPRS_OF(gprs, lane) ((x86_gpr_set)((gprs) >> 16 * (lane)))

/* What the decoder goes by. Many forms have the same; all that is asked of one is in the same line of memory. */
struct x86_traits {
    uint64_t gprs; /* four sets in the lanes above: the registers that it names, not those that fields name */
    uint32_t properties;
    uint32_t roles; /* a byte for each x86_role_field */
    struct x86_immediate_form immediate;
    uint16_t forbidden;
    uint8_t flow;
    uint8_t insn_class;
    uint16_t disp8_shift; /* four bits for each vector length: evex displacements count in operands */
    uint8_t flags;        /* number of its x86_flag_effect */
    uint8_t distinct;
    uint32_t unused;
};

_Static_assert(sizeof(struct x86_traits) == 32, "traits are in two lines of memory");

struct x86_form {
    uint16_t mnemonic;
    uint16_t traits;   /* number of its x86_traits */
    uint16_t operands; /* where its operands begin */
    uint16_t operand_count;
};

/* Flags, as bits of rflags. */
struct x86_flag_effect {
    uint32_t read;
    uint32_t written;
    uint32_t undefined; /* a part of those written */
    uint32_t kept;      /* a part of those written that possibly stay as they were; set by the decoder */
};

enum x86_operand_source {
    X86_SOURCE_FIXED,
    X86_SOURCE_REG,
    X86_SOURCE_RM,
    X86_SOURCE_OPCODE,
    X86_SOURCE_VVVV,
    X86_SOURCE_IMMEDIATE_HIGH, /* the upper half of the immediate byte */
    X86_SOURCE_MASK,
    X86_SOURCE_IMMEDIATE,
    X86_SOURCE_IMMEDIATE_SECOND,
    X86_SOURCE_RELATIVE,
    X86_SOURCE_OFFSET, /* the absolute address in mov's short forms */
};

struct x86_operand_form {
    uint8_t kind;
    uint8_t source;
    uint8_t access;
    uint8_t visibility;
    uint8_t type;  /* number of its x86_operand_type */
    uint8_t fixed; /* the register's number, or the base of a fixed memory operand */
    uint8_t memory_kind;
    uint8_t is_overridable; /* a segment prefix applies */
};

struct x86_operand_type {
    uint8_t register_class[3]; /* of a register operand, or of a vector index, by size */
    uint16_t size_bits[3];
};

/* What the byte behind an opcode is. */
enum x86_modrm_use {
    X86_MODRM_NONE,
    X86_MODRM_USED,
    X86_MODRM_REGISTER, /* its rm is a register whatever its mod says: moves of control and debug registers */
};

/* Where the forms of an opcode begin. */
struct x86_opcode_root {
    uint16_t node;
    uint16_t modrm_use;
};

/*
 * The same of the first two maps for instructions without legacy prefixes, which most are: what switches on those, and
 * on whether modrm names memory or a register, lead to. The traits are those of the nodes that are forms: they are
 * asked for next, and the form itself by nobody who waits.
 */
struct x86_plain_root {
    uint16_t nodes[2];
    uint16_t traits[2]; /* and above them, the same in both, enum x86_modrm_use or X86_PLAIN_OTHER */
};

/* No opcode stands there, but a prefix or an escape; or what may be one, as the pop that begins as xop does. */
#define X86_PLAIN_OTHER             3

#define X86_PLAIN_MAP_COUNT         2
#define X86_PLAIN_MODRM_SHIFT       14
#define X86_PLAIN_TRAITS(traits)    ((traits) & ((1u << X86_PLAIN_MODRM_SHIFT) - 1))
#define X86_PLAIN_MODRM_USE(traits) ((traits) >> X86_PLAIN_MODRM_SHIFT)

/* Hidden, so that code in a library reaches them without a detour. */
#pragma GCC visibility push(hidden)
extern const struct x86_opcode_root x86_opcode_roots[X86_MAP_COUNT][256];
extern const struct x86_plain_root x86_plain_roots[X86_PLAIN_MAP_COUNT][256];
extern const uint16_t x86_switches[];
extern const struct x86_form x86_forms[];
extern const struct x86_traits x86_form_traits[];
extern const struct x86_flag_effect x86_flag_effects[];
extern const struct x86_operand_form x86_operand_forms[];
extern const struct x86_operand_type x86_operand_types[];
extern const uint16_t x86_form_count;
#pragma GCC visibility pop

static inline const struct x86_traits *x86_traits_of(const struct x86_form *form)
{
    return &x86_form_traits[form->traits];
}

#endif
