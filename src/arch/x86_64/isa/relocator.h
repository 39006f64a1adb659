/* SPDX-License-Identifier: MIT */
/*
 * Copies x86-64 instructions to another address so that they do there what they did at theirs. Branches go where they
 * went, to the copy of an instruction where that is part of the same run; operands relative to the pc mean the same
 * memory, however far it is; calls push the original return address; the registers can be recovered at every
 * instruction of the copy, also where it took several for one.
 *
 * What a copy cannot hide: where the last x87 instruction was (fnstenv and its like store it); that a call of an
 * address which no pointer may have faults with its return address already written below rsp; and with X86_SPILL_STACK
 * that some 160 bytes below the red zone are written. Refused are far calls, far jumps through memory out of reach, and
 * with X86_SPILL_SEGMENT loads of segment registers from memory out of reach.
 *
 * No libc, no allocation: what it keeps is in the caller's storage. Usable inside the target.
 */
#ifndef GAIT_ARCH_X86_64_ISA_RELOCATOR_H
#define GAIT_ARCH_X86_64_ISA_RELOCATOR_H

#include "arch/x86_64/isa/decoder.h"
#include "arch/x86_64/isa/label.h"
#include "arch/x86_64/isa/relocation_map.h"
#include "base/code_writer.h"

/* Where a register is kept while it is needed for an address that is out of reach. */
enum x86_spill {
    X86_SPILL_STACK,   /* below the red zone of the program's stack: always possible */
    X86_SPILL_SEGMENT, /* in two slots of 8 bytes in the thread's fs or gs: the stack stays untouched */
};

/* What a call in the copy leaves as its return address. */
enum x86_return_address {
    X86_RETURN_TO_ORIGINAL, /* the original one: the program sees no difference, and returns to the original code */
    X86_RETURN_TO_COPY,     /* behind the call in the copy, except where a call only wants to know its own address */
};

struct x86_relocator_options {
    enum x86_spill spill;
    enum x86_return_address return_address;
    enum x86_segment segment; /* for X86_SPILL_SEGMENT */
    int32_t slots[2];         /* offsets from its base */
    unsigned decode_options;  /* of enum x86_decode_option */
};

/* A place that is needed and not yet written: the copy of an instruction, a jump that reaches far, a constant. */
struct x86_relocator_fixup {
    uint64_t value; /* an offset in the run, an address to jump to, or the constant */
    struct x86_label label;
    uint8_t kind;
};

/* What the relocator writes into; the arrays are the caller's and must live until x86_relocator_end(). */
struct x86_relocator_storage {
    struct code_writer *writer;
    struct x86_relocation_map *map;
    struct x86_relocator_fixup *fixups;
    uint32_t fixup_capacity;
};

struct x86_relocator {
    struct x86_relocator_options options;
    struct x86_relocator_storage storage;
    struct app_pc run_start;
    uint64_t run_size;
    uint64_t next_internal;   /* the lowest offset in the run that a fixup waits for */
    size_t start_offset;      /* where in the writer the copy begins */
    struct x86_label nowhere; /* stands in for a fixup when there is no room for one */
    uint32_t fixup_count;
    int error;          /* the first one, sticky */
    bool falls_through; /* the last instruction goes on to the next */
};

/* Begins a copy of the `run_size` bytes at run_start. The map is emptied and filled anew. */
void x86_relocator_begin(struct x86_relocator *relocator, const struct x86_relocator_options *options,
                         const struct x86_relocator_storage *storage, struct app_pc run_start, uint64_t run_size);

/* Copies the next instruction of the run, decoded from bytes. Errors are kept until x86_relocator_end(). */
void x86_relocator_put(struct x86_relocator *relocator, const struct x86_insn *insn, const uint8_t *bytes);

/*
 * Ends the copy: goes on to the original code behind the run if the last instruction does, and writes what the copy
 * still needs. Returns 0; -EOPNOTSUPP if an instruction cannot be moved; -ENOSPC if the writer was too small; -E2BIG if
 * map or fixups were.
 */
__attribute__((warn_unused_result)) int x86_relocator_end(struct x86_relocator *relocator);

#endif
