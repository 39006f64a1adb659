/* SPDX-License-Identifier: MIT */
/*
 * A place in code that is being written: jumped to, or addressed relative to rip, before or after it is bound. Takes
 * no memory besides the caller's struct: pending uses are chained through the displacement fields that wait for the
 * answer, so a label may have any number of them. A label belongs to one code_writer. Usable inside the target.
 */
#ifndef GAIT_ARCH_X86_64_ISA_LABEL_H
#define GAIT_ARCH_X86_64_ISA_LABEL_H

#include "base/address.h"

#include <stddef.h>

struct code_writer;

/* A zeroed one is unbound and unused. */
struct x86_label {
    bool bound;
    size_t offset;         /* where it is bound, from the writer's start */
    uint32_t near_pending; /* the last use with a 32-bit displacement, as label.c packs it; 0 for none */
    size_t short_pending;  /* offset of the last 8-bit displacement that waits; 0 for none */
};

/* Makes the label unbound and unused. */
void x86_label_init(struct x86_label *label);

/*
 * Puts the label where the next byte will be written and completes the uses that waited. Once a label. A waiting short
 * use that does not reach is the writer's sticky overflow.
 */
void x86_label_bind(struct x86_label *label, struct code_writer *writer);

/* Whether no use waits: what must hold of every label when the code is finished. */
bool x86_label_check(const struct x86_label *label);

/* Where a bound label will run. */
struct cache_pc x86_label_pc(const struct x86_label *label, const struct code_writer *writer);

/*
 * For emitters. Completes the displacement field that was just written at field_offset, or makes it wait for the bind.
 * A near field has 32 bits and is relative to trailing (0 to 7) bytes past its end, where the instruction ends; a short
 * field has 8 bits and ends its instruction.
 */
void x86_label_use_near(struct x86_label *label, struct code_writer *writer, size_t field_offset, size_t trailing);
void x86_label_use_short(struct x86_label *label, struct code_writer *writer, size_t field_offset);

#endif
