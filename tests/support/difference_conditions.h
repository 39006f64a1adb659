/* SPDX-License-Identifier: MIT */
/* Conditions about prefixes that the lists of explained differences share. Stateless. */
#ifndef GAIT_TESTS_DIFFERENCE_CONDITIONS_H
#define GAIT_TESTS_DIFFERENCE_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct difference;
struct x86_insn;

/* Where the opcode, or what leads to it, stands behind all prefixes; and which of these there are. */
struct encoding_lead {
    size_t offset;
    bool has_66, has_repeat, has_lock;
    bool has_rex; /* one that counts */
};

struct encoding_lead encoding_lead_find(const struct difference *difference);

/* The bytes from there on. */
const uint8_t *encoding_lead_bytes(const struct difference *difference);

/* Decodes the instruction without those of its prefixes that are among `removed`. Returns whether there is one. */
bool encoding_decode_without(const struct difference *difference, const char *removed, struct x86_insn *insn_out);

/* A rex, or 66, f2, f3, lock before vex, xop or evex. */
bool difference_has_rex_before_vector(const struct difference *difference);
bool difference_has_prefix_before_vector(const struct difference *difference);

/* 66, f2 or f3 at an instruction behind 0f that does not allow it: without, it is one. */
bool difference_has_stray_prefix(const struct difference *difference);

/* Lock at something else than a memory destination of the few instructions that allow it. */
bool difference_has_stray_lock(const struct difference *difference);

/* mov to cs. */
bool difference_loads_cs(const struct difference *difference);

/* A near branch under 66 as AMD's CPUs execute it: the new pc has 16 bits, and the other side shows them all. */
bool difference_has_cut_target(const struct difference *difference);

#endif
