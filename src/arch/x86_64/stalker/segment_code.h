/* SPDX-License-Identifier: MIT */
/* Instructions that go through the segment in which translated code has its thread: the program has another base. */
#ifndef GAIT_ARCH_X86_64_STALKER_SEGMENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_SEGMENT_CODE_H

#include "arch/x86_64/isa/decoder.h"

#include <stdbool.h>

struct translation;

/* Whether the instruction has to do with the segment that we use. */
bool x86_touches_our_segment(const struct x86_insn *insn);

/* The same; most have nothing to do with segments, which their properties say. */
static inline bool x86_uses_our_segment(const struct x86_insn *insn)
{
    return insn->properties & (X86_SEGMENT_USE | X86_SEGMENT_CHANGE | X86_SEGMENT_STORE) &&
           x86_touches_our_segment(insn);
}

/* Whether such an instruction can be translated. Others have to run natively. */
bool x86_segment_can_be_put(const struct x86_insn *insn);

/* Writes one that can. */
void x86_put_segment_use(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes);

#endif
