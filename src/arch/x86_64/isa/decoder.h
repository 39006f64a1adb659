/* SPDX-License-Identifier: MIT */
/*
 * Decodes x86-64 instructions as a 64-bit user-mode program may contain them: everything up to AVX10.2 and AMX, with
 * XOP and 3DNow!, without APX. Table-driven, without libc, memory or state; usable inside the target, from any thread.
 *
 * What it tells of an instruction errs on one side only: a register or flag that may be read is in the read set, one
 * that may be written in the written set, and what surely loses its old value is written and not kept.
 */
#ifndef GAIT_ARCH_X86_64_ISA_DECODER_H
#define GAIT_ARCH_X86_64_ISA_DECODER_H

#include "arch/x86_64/isa/decoder_tables.h"
#include "arch/x86_64/isa/insn.h"
#include "base/address.h"

#include <stddef.h>

#define X86_MAX_INSN_BYTES 15

enum x86_encoding {
    X86_ENCODING_LEGACY,
    X86_ENCODING_3DNOW,
    X86_ENCODING_VEX,
    X86_ENCODING_XOP,
    X86_ENCODING_EVEX,
};

enum x86_mnemonic {
    X86_MNEMONIC_NONE,
#define X86_MNEMONIC(name) X86_MNEMONIC_##name,
#include "arch/x86_64/isa/mnemonics.def"
#undef X86_MNEMONIC
    X86_MNEMONIC_COUNT,
};

/* How the instruction is to be read where vendors differ. */
enum x86_decode_option {
    X86_DECODE_INTEL = 0,
    X86_DECODE_AMD = 1, /* a near branch under 66 has a 16-bit displacement and target */
};

struct x86_insn {
    struct app_pc pc;
    uint64_t target;      /* of a direct branch, or the address of a pc-relative operand */
    uint64_t immediate;   /* sign-extended where the instruction does so */
    int64_t displacement; /* of the memory operand, scaled; all 64 bits in mov's absolute forms */
    const struct x86_form *form;
    uint32_t properties;          /* of enum x86_property */
    struct x86_flag_effect flags; /* what is kept may be left as it was: shifts by 0, string instructions under rep */
    union {
        struct {
            x86_gpr_set gpr_read;
            x86_gpr_set gpr_written;
            x86_gpr_set gpr_kept; /* written, and part of the old value may survive */
            x86_gpr_set gpr_unspecified;
        };
        uint64_t gprs; /* by enum x86_gpr_lane */
    };
    uint16_t mnemonic;
    uint8_t flow;
    uint8_t insn_class;
    uint8_t length;
    uint8_t encoding;
    uint8_t map; /* of enum x86_opcode_map */
    uint8_t opcode;
    uint8_t opcode_offset;
    uint8_t rex;        /* the rex prefix that counts, or 0 */
    uint8_t prefixes;   /* of enum x86_prefix */
    uint8_t segment;    /* fs or gs where a prefix names it, else X86_SEGMENT_NONE */
    uint8_t size_index; /* 0, 1, 2: operand size 16, 32, 64, or vector length 128, 256, 512 */
    uint8_t address_bits;
    uint8_t base;  /* of the memory operand: a register's number or X86_GPR_NONE */
    uint8_t index; /* likewise; a vector register's number where the form says so */
    /* What an instruction does not have is zero. */
    union {
        struct {
            uint8_t modrm_offset;
            uint8_t displacement_offset;
            uint8_t displacement_size; /* bytes */
            uint8_t immediate_offset;
            uint8_t immediate_size; /* bytes of the first */
            uint8_t modrm;
            uint8_t is_memory; /* modrm names memory */
            uint8_t scale;     /* 1, 2, 4, 8 */
            uint8_t reg;       /* modrm.reg with its extensions */
            uint8_t rm;        /* modrm.rm with its extensions, where it names a register */
            uint8_t vvvv;
            uint8_t mask; /* aaa */
            uint8_t zeroing;
            uint8_t broadcast; /* evex.b: broadcast, rounding or suppressed exceptions */
            uint8_t rounding;  /* the length field, when broadcast means rounding */
        };
        uint64_t all_fields[2];
    };
};

enum x86_prefix {
    X86_PREFIX_66 = 1 << 0,
    X86_PREFIX_F3 = 1 << 1,
    X86_PREFIX_F2 = 1 << 2,
    X86_PREFIX_67 = 1 << 3,
    X86_PREFIX_LOCK = 1 << 4,
    X86_PREFIX_SEGMENT = 1 << 5, /* any of the six */
    X86_PREFIX_3E = 1 << 6,      /* notrack, or taken */
    X86_PREFIX_2E = 1 << 7,      /* not taken */
};

/*
 * Decodes the instruction at bytes, of which `available` may be read, as if it stood at pc. Returns 0; -ENODATA when
 * the bytes end before the instruction does; -EILSEQ when no CPU would execute it. On failure *insn_out is undefined.
 */
__attribute__((warn_unused_result)) int x86_decode(const uint8_t *bytes, size_t available, struct app_pc pc,
                                                   unsigned options, struct x86_insn *insn_out);

/* The instruction's name, in lower case; never NULL. */
const char *x86_mnemonic_name(unsigned mnemonic);

static inline struct app_pc x86_insn_next(const struct x86_insn *insn)
{
    return app_pc_of(insn->pc.value + insn->length);
}

#endif
