/* SPDX-License-Identifier: MIT */
/*
 * The vocabulary in which x86-64 instructions are described: what kind of control flow, which class, which properties,
 * and what an operand can be. Plain enums, shared by the decoder, its tables and the tool that makes those tables.
 */
#ifndef GAIT_ARCH_X86_64_ISA_INSN_H
#define GAIT_ARCH_X86_64_ISA_INSN_H

/* What an instruction does to the flow of control. */
enum x86_flow {
    X86_FLOW_NEXT,          /* goes on to the next instruction */
    X86_FLOW_JUMP,          /* jmp to a target that is in the instruction */
    X86_FLOW_JUMP_INDIRECT, /* jmp to a target in a register or in memory */
    X86_FLOW_BRANCH,        /* jcc: taken by the flags */
    X86_FLOW_BRANCH_COUNT,  /* loop, loope, loopne, jecxz, jrcxz: taken by the count register */
    X86_FLOW_CALL,          /* call of a target that is in the instruction */
    X86_FLOW_CALL_INDIRECT, /* call of a target in a register or in memory */
    X86_FLOW_RETURN,        /* ret */
    X86_FLOW_JUMP_FAR,      /* jmp far */
    X86_FLOW_CALL_FAR,      /* call far */
    X86_FLOW_RETURN_FAR,    /* retf, iret, uiret, eretu, sysret, sysexit */
    X86_FLOW_SYSTEM_CALL,   /* syscall, sysenter, int n: comes back after the kernel's work */
    X86_FLOW_TRAP,          /* int1, int3, ud0, ud1, ud2: a signal for the program */
    X86_FLOW_TRANSACTION,   /* xbegin: an abort goes to the target */
};

/* Which part of the instruction set it belongs to. */
enum x86_insn_class {
    X86_CLASS_GENERAL,
    X86_CLASS_STRING,
    X86_CLASS_SYSTEM,
    X86_CLASS_X87,
    X86_CLASS_MMX,
    X86_CLASS_3DNOW,
    X86_CLASS_SSE,
    X86_CLASS_AVX,
    X86_CLASS_AVX512,
    X86_CLASS_AMX,
    X86_CLASS_XOP,
};

/* Bits of x86_insn.properties. */
enum x86_property {
    X86_PRIVILEGED = 1u << 0,              /* faults outside of the kernel */
    X86_MAY_FAULT = 1u << 1,               /* may raise an exception when everything it needs exists */
    X86_MEMORY_READ = 1u << 2,             /* reads memory */
    X86_MEMORY_WRITE = 1u << 3,            /* writes memory */
    X86_MEMORY_SCATTERED = 1u << 4,        /* several addresses: gather, scatter, tile rows */
    X86_SEGMENT_USE = 1u << 5,             /* its memory operand goes through fs or gs */
    X86_SEGMENT_CHANGE = 1u << 6,          /* loads a segment register or its base */
    X86_SEGMENT_STORE = 1u << 7,           /* reads a segment register or its base */
    X86_PC_RELATIVE = 1u << 8,             /* has a memory operand that is relative to the pc */
    X86_BRANCH_HINTED = 1u << 9,           /* bnd or notrack or a branch hint is in front */
    X86_REPEATED = 1u << 10,               /* a string instruction under rep, repe or repne */
    X86_LOCKED = 1u << 11,                 /* lock in front */
    X86_STORES_FPU_PC = 1u << 12,          /* stores where the last x87 instruction was */
    X86_UNPREDICTABLE = 1u << 13,          /* its result differs from run to run: time, random numbers, CPU number */
    X86_OPERAND_SIZE_BY_VENDOR = 1u << 14, /* a near branch under 66: Intel ignores the prefix, AMD does not */
    /* The table's own notes to the decoder. */
    X86_FORM_UNUSUAL = 1u << 23,            /* something about it is not as with most instructions */
    X86_FORM_COUNT_IN_IMMEDIATE = 1u << 24, /* flags stay as they are when the masked count is 0 */
    X86_FORM_FLAGS_MAY_STAY = 1u << 25,     /* flags may stay as they are: a count in cl */
    X86_FORM_NEAR_BRANCH = 1u << 26,        /* the operand-size prefix means something else to each vendor */
    X86_FORM_STRING = 1u << 27,             /* rep repeats it */
    X86_FORM_SEGMENT_OVERRIDE = 1u << 28,   /* a segment prefix applies to its memory operand */
    X86_FORM_VECTOR_INDEX = 1u << 29,       /* the index of its memory operand is a vector register */
    X86_FORM_MASK_MERGES = 1u << 30,        /* under a mask its destination keeps what the mask leaves out */
    X86_FORM_ADDRESS_64 = 1u << 31,         /* 67 does not make its addresses shorter */
};

enum x86_operand_kind {
    X86_OPERAND_NONE,
    X86_OPERAND_REGISTER,
    X86_OPERAND_MEMORY,
    X86_OPERAND_IMMEDIATE,
    X86_OPERAND_TARGET, /* a code address */
};

enum x86_register_class {
    X86_REGISTER_NONE,
    X86_REGISTER_GPR8,
    X86_REGISTER_GPR8_HIGH, /* ah ch dh bh, numbered as their whole register */
    X86_REGISTER_GPR16,
    X86_REGISTER_GPR32,
    X86_REGISTER_GPR64,
    X86_REGISTER_X87,
    X86_REGISTER_MMX,
    X86_REGISTER_XMM,
    X86_REGISTER_YMM,
    X86_REGISTER_ZMM,
    X86_REGISTER_MASK,
    X86_REGISTER_TILE,
    X86_REGISTER_BOUND,
    X86_REGISTER_SEGMENT,
    X86_REGISTER_CONTROL,
    X86_REGISTER_DEBUG,
    X86_REGISTER_FLAGS,
    X86_REGISTER_PC,
    X86_REGISTER_OTHER, /* mxcsr, the x87 words, descriptor tables, xcr0, pkru, ssp, and what else has no number */
};

/* Bits that say what happens to an operand. */
enum x86_access {
    X86_READ = 1,
    X86_WRITE = 2,
    X86_MAY_READ = 4,
    X86_MAY_WRITE = 8,
};

enum x86_visibility {
    X86_EXPLICIT = 1, /* written in the assembly text and encoded in bits of its own */
    X86_IMPLICIT = 2, /* written in the text, fixed by the opcode */
    X86_HIDDEN = 3,   /* not written at all */
};

/* What the address of a memory operand is for. */
enum x86_memory_kind {
    X86_MEMORY_ACCESS,  /* memory is read or written there */
    X86_MEMORY_ADDRESS, /* only computed: lea and its like */
    X86_MEMORY_BOUND,   /* base is used, index kept apart: bndldx, bndstx */
    X86_MEMORY_VECTOR,  /* the index is a vector register */
};

#endif
