/* SPDX-License-Identifier: MIT */
/*
 * What the rest of gait may know of a CPU's instructions: a struct of functions, found by ELF machine number or for the
 * CPU that runs us. A `const struct arch arch_<cpu>` in arch/<cpu>/isa/isa.c that arch/<cpu>/cpu.c names makes them
 * known. Nothing here needs the CPU itself, so that code of any CPU can be read everywhere.
 *
 * No libc, no allocation, no state; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_ARCH_H
#define GAIT_ARCH_ARCH_H

#include "base/address.h"
#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct code_writer;
struct text_writer;

/* The longest instruction of any CPU, in bytes. */
#define ARCH_INSN_BYTES_MAX 16

/* What an instruction does to the flow of control. */
enum arch_flow {
    ARCH_FLOW_NEXT,          /* goes on to the next instruction */
    ARCH_FLOW_JUMP,          /* always goes to the target */
    ARCH_FLOW_JUMP_INDIRECT, /* always goes to a place that is known when it runs */
    ARCH_FLOW_BRANCH,        /* goes to the target or on */
    ARCH_FLOW_CALL,
    ARCH_FLOW_CALL_INDIRECT,
    ARCH_FLOW_RETURN,
    ARCH_FLOW_SYSTEM_CALL, /* comes back after the kernel's work */
    ARCH_FLOW_TRAP,        /* a signal for the program */
    ARCH_FLOW_OTHER,       /* to other code segments, back from interrupts, transactions */
};

/* Bits of arch_insn.properties. */
enum arch_property {
    ARCH_READS_MEMORY = 1u << 0,
    ARCH_WRITES_MEMORY = 1u << 1,
    ARCH_PC_RELATIVE = 1u << 2,  /* has a memory operand that is relative to the pc: memory_address */
    ARCH_ATOMIC = 1u << 3,       /* says that it accesses memory atomically */
    ARCH_REPEATED = 1u << 4,     /* one instruction that works on many elements */
    ARCH_PRIVILEGED = 1u << 5,   /* faults outside of the kernel */
    ARCH_THREAD_LOCAL = 1u << 6, /* its memory operand goes through the thread's segment or pointer */
};

/* A decoded instruction, as far as all CPUs have it. Register n is bit n, as the CPU's encoding counts them. */
struct arch_insn {
    uint64_t target;         /* of a direct branch, else 0 */
    uint64_t memory_address; /* of a pc-relative memory operand, else 0 */
    uint64_t registers_read; /* general registers; those of addresses too */
    uint64_t registers_written;
    uint64_t flags_read; /* at their places in the flags register */
    uint64_t flags_written;
    uint64_t flags_undefined; /* a part of those written */
    const char *mnemonic;     /* a constant */
    uint32_t properties;      /* of enum arch_property */
    uint8_t flow;             /* of enum arch_flow */
    uint8_t length;
};

/* Where a register is kept while a copy needs it. */
enum arch_spill {
    ARCH_SPILL_STACK,   /* below what the program's stack uses */
    ARCH_SPILL_SEGMENT, /* in slots that only this thread has */
};

/* What a call in a copy leaves as its return address. */
enum arch_return_address {
    ARCH_RETURN_TO_COPY,
    ARCH_RETURN_TO_ORIGINAL,
};

struct arch_relocation {
    const uint8_t *bytes; /* readable here */
    size_t size_bytes;
    struct app_pc start;     /* the address that they have, or are to be understood at */
    unsigned decode_options; /* of host_cpu_decode_options() */
    enum arch_spill spill;
    enum arch_return_address return_address;
    int32_t slots[2]; /* for ARCH_SPILL_SEGMENT: offsets from the segment's base */
};

/* What came of a relocation, beside the code in the writer. */
struct arch_copy_extent {
    size_t code_bytes; /* instructions; constants are behind them */
    size_t total_bytes;
};

/* What .eh_frame calls the registers that every frame has to do with. */
#define ARCH_STUB_EXPRESSION_MAX 12

struct arch_frame_registers {
    unsigned stack_pointer;
    unsigned frame_pointer;
    unsigned return_address;
    const uint8_t *general; /* for each general register */
    /*
     * What linkers say of where frames are in the stubs through which other libraries are called, as an expression of
     * DWARF that counts from the stack pointer and the pc; from which byte of a stub on it has pushed a word is a
     * literal at stub_pushes_at. Of no bytes: they say nothing.
     */
    uint8_t stub_expression[ARCH_STUB_EXPRESSION_MAX];
    uint8_t stub_expression_bytes;
    uint8_t stub_pushes_at;
};

struct arch {
    const char *name;        /* as in `uname -m`, or the folder's name */
    unsigned elf_machine;    /* EM_* */
    unsigned insn_bytes_max; /* longest instruction */
    unsigned register_count; /* general registers */
    struct arch_frame_registers frame_registers;

    /* Decodes the instruction at bytes. -ENODATA: they end before it does; -EILSEQ: no CPU would execute it. */
    int (*decode)(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options,
                  struct arch_insn *insn_out);

    /* Appends the instruction's text. Errors as decode; then nothing is appended. */
    int (*format)(const uint8_t *bytes, size_t available, struct app_pc pc, unsigned options, struct text_writer *text);

    /* The name of general register `number`, below register_count. A constant. */
    const char *(*register_name)(unsigned number);

    /*
     * Copies code so that it does the same at the writer's place. `storage`, storage_bytes long and aligned for
     * pointers, is the caller's; it is filled with what the lookups below need, and stays with the copy. -EOPNOTSUPP:
     * an instruction cannot be moved; -EILSEQ, -ENODATA: not instructions; -ENOSPC: the writer is too small; -E2BIG:
     * the storage is.
     */
    int (*relocate)(const struct arch_relocation *relocation, struct code_writer *writer, void *storage,
                    size_t storage_bytes, struct arch_copy_extent *extent_out);

    /* From a place in the copy to the original instruction. -ENOENT: no part of the copy. Signal-safe. */
    int (*find_original)(const void *storage, struct cache_pc pc, struct app_pc *pc_out);

    /* Where the copy of an original instruction begins. -ENOENT: no instruction begins there. Signal-safe. */
    int (*find_copy)(const void *storage, struct app_pc pc, struct cache_pc *pc_out);
};

/* NULL: no machine whose instructions gait knows. */
const struct arch *arch_by_elf_machine(unsigned machine);

/* The CPU that this program runs on; NULL: it is not known yet. */
const struct arch *arch_host(void);

#endif
