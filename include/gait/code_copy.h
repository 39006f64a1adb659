/* SPDX-License-Identifier: MIT */
/*
 * Copies of machine code that do at their new place what the original does at its own: branches, calls and operands
 * relative to the pc are rewritten. The copy is executable memory of its own; the original stays as it is.
 */
#ifndef GAIT_CODE_COPY_H
#define GAIT_CODE_COPY_H

#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gait_code_copy;

/* Where the copy is put. */
enum gait_placement {
    GAIT_PLACEMENT_ANY,  /* wherever the system has memory */
    GAIT_PLACEMENT_NEAR, /* within reach of direct branches and operands: less has to be rewritten */
    GAIT_PLACEMENT_FAR   /* out of their reach */
};

/* What a call in the copy leaves as its return address. */
enum gait_return_address {
    GAIT_RETURN_TO_COPY,    /* behind the call in the copy: what whole functions need */
    GAIT_RETURN_TO_ORIGINAL /* behind the call in the original: what the callee sees is what it would see there */
};

/* Where the copy keeps registers that it needs for a moment. */
enum gait_spill {
    GAIT_SPILL_STACK,  /* below the part of the stack that the program uses */
    GAIT_SPILL_SEGMENT /* in two slots of the thread's gs segment, which the caller has to provide */
};

/* Zeroes mean the default everywhere but in size_bytes. A smaller size_bytes (an older header) is filled with zeroes.
 */
struct gait_code_copy_options {
    size_t size_bytes; /* sizeof(struct gait_code_copy_options) */
    enum gait_placement placement;
    enum gait_return_address return_address;
    enum gait_spill spill;
    int32_t spill_slots[2]; /* for GAIT_SPILL_SEGMENT: two offsets from the segment's base, 8 bytes each */
    /* The address at which the code is to be understood, if that is not where it is. Such a copy is for looking at. */
    uint64_t original_address;
};

/*
 * Copies the size_bytes of whole instructions at code. options may be NULL. On success the caller owns *copy_out and
 * gives it back with gait_code_copy_destroy(); a copy is never changed, so that any thread may use it. The copy refers
 * to what the original refers to: that has to stay where it is. -EINVAL: NULL or nothing to copy, or options that are
 * not known; -EILSEQ, -ENODATA: not instructions, or the last one is cut off; -EOPNOTSUPP: an instruction that cannot
 * be moved; -ENOTSUP: gait cannot copy this CPU's code yet; -ENOMEM, -EACCES, -EPERM: no memory, or none that may be
 * executed.
 */
int gait_code_copy_create(const struct gait_code_copy_options *options, const void *code, size_t size_bytes,
                          struct gait_code_copy **copy_out, struct gait_error *err);

/* Gives the copy's memory back. No thread may be in it or come back to it any more. NULL is fine. */
void gait_code_copy_destroy(struct gait_code_copy *copy);

/* Where the copy of the first instruction is: for a function, what to call instead of it. */
void *gait_code_copy_entry(const struct gait_code_copy *copy);

/* How many bytes of instructions the copy has, from its entry on, and how many with the constants behind them. */
size_t gait_code_copy_size(const struct gait_code_copy *copy);
size_t gait_code_copy_total_size(const struct gait_code_copy *copy);

/*
 * From an address in the copy to that of the original instruction which is being done there. Signal-safe.
 * -ENOENT: not in the instructions of this copy.
 */
int gait_code_copy_original_address(const struct gait_code_copy *copy, uint64_t copy_address, uint64_t *original_out);

/*
 * From the address of an original instruction to where its copy begins. Signal-safe. -ENOENT: none of the copied
 * instructions begins there.
 */
int gait_code_copy_address(const struct gait_code_copy *copy, uint64_t original_address, uint64_t *address_out);

#ifdef __cplusplus
}
#endif

#endif
