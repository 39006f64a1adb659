/* SPDX-License-Identifier: MIT */
/*
 * Reading machine code, one instruction at a time, of the CPU that the program runs on. Nothing is allocated or kept:
 * all functions here can be called from any thread at any time, and on any bytes.
 */
#ifndef GAIT_INSTRUCTION_H
#define GAIT_INSTRUCTION_H

#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest instruction of any CPU, and room for any instruction's text. */
#define GAIT_INSTRUCTION_BYTES_MAX  16
#define GAIT_INSTRUCTION_TEXT_BYTES 160

/* What an instruction does to the flow of control. */
enum gait_flow {
    GAIT_FLOW_NEXT,          /* goes on to the next instruction */
    GAIT_FLOW_JUMP,          /* always goes to the target */
    GAIT_FLOW_JUMP_INDIRECT, /* always goes to a place that is known when it runs */
    GAIT_FLOW_BRANCH,        /* goes to the target or on */
    GAIT_FLOW_CALL,
    GAIT_FLOW_CALL_INDIRECT,
    GAIT_FLOW_RETURN,
    GAIT_FLOW_SYSTEM_CALL, /* comes back after the kernel's work */
    GAIT_FLOW_TRAP,        /* a signal for the program */
    GAIT_FLOW_OTHER        /* to other code segments, back from interrupts, transactions */
};

/* Bits of gait_instruction.properties. */
enum gait_instruction_property {
    GAIT_READS_MEMORY = 1 << 0,
    GAIT_WRITES_MEMORY = 1 << 1,
    GAIT_PC_RELATIVE = 1 << 2, /* has a memory operand that is relative to its own address: memory_address */
    GAIT_ATOMIC = 1 << 3,      /* says that it accesses memory atomically */
    GAIT_REPEATED = 1 << 4,    /* one instruction that works on many elements */
    GAIT_PRIVILEGED = 1 << 5,  /* faults outside of the kernel */
    GAIT_THREAD_LOCAL = 1 << 6 /* its memory operand goes through the thread's segment or pointer */
};

/*
 * What an instruction is and does. Registers are the general ones, register n as bit n in the CPU's own order, whose
 * names gait_register_name() gives; flags are bits at their places in the CPU's flags register. A register or flag that
 * may be read is among those read, one that may be written among those written.
 */
struct gait_instruction {
    size_t size_bytes; /* of this struct: the caller sets it, before decoding, to sizeof(struct gait_instruction) */
    uint64_t address;
    uint64_t target;         /* of a direct jump, branch or call, else 0 */
    uint64_t memory_address; /* of a memory operand relative to the instruction's address, else 0 */
    uint64_t registers_read;
    uint64_t registers_written;
    uint64_t flags_read;
    uint64_t flags_written;
    uint64_t flags_undefined; /* a part of those written */
    const char *mnemonic;     /* a constant */
    uint32_t properties;      /* of enum gait_instruction_property */
    uint32_t flow;            /* of enum gait_flow */
    uint32_t length;          /* bytes */
    uint8_t bytes[GAIT_INSTRUCTION_BYTES_MAX];
};

/*
 * Decodes the instruction that begins at bytes, of which `available` can be read, as if it stood at `address`.
 * -ENODATA: the bytes end before the instruction does; -EILSEQ: no CPU would execute this; -EINVAL: size_bytes is not
 * set, or too small for this version's first fields; -ENOTSUP: gait cannot read this CPU's code yet. On failure
 * *instruction_out is untouched.
 */
int gait_instruction_decode(const void *bytes, size_t available, uint64_t address,
                            struct gait_instruction *instruction_out, struct gait_error *err);

/*
 * Writes the text of a decoded instruction, as its maker's manual writes it, and a NUL into text_size bytes at
 * text_out; GAIT_INSTRUCTION_TEXT_BYTES are always enough. -ERANGE: they were not, and the text is cut off; -EINVAL:
 * not a decoded instruction, or text_size is 0; else as above.
 */
int gait_instruction_format(const struct gait_instruction *instruction, char *text_out, size_t text_size,
                            struct gait_error *err);

/* The name of a general register by its number, the bit that it has in a set; NULL: there is none. A constant. */
const char *gait_register_name(unsigned number);

#ifdef __cplusplus
}
#endif

#endif
