/* SPDX-License-Identifier: MIT */
/* Instructions that go through the segment in which translated code has its thread: the program has another base. */
#ifndef GAIT_ARCH_X86_64_STALKER_SEGMENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_SEGMENT_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct translation;
struct x86_insn;

/* Whether the instruction has to do with the segment that we use. */
bool x86_uses_our_segment(const struct x86_insn *insn);

/* Whether such an instruction can be translated. Others have to run natively. */
bool x86_segment_can_be_put(const struct x86_insn *insn);

/* Writes one that can. */
void x86_put_segment_use(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes);

#endif
