/* SPDX-License-Identifier: MIT */
/*
 * What runs have shown of a form: which of the effects that the decoder claims were seen to happen. A claim that was
 * never seen is no error, since the decoder may claim too much; a list of them is for the reader's eye. Plain data, to
 * be put into memory that processes share.
 */
#ifndef GAIT_TESTS_EFFECT_RECORD_H
#define GAIT_TESTS_EFFECT_RECORD_H

#include <stdint.h>
#include <stdio.h>

#include "support/effect_check.h"

struct random;

/* Registers by slots: those that the form names by their number, then those that its fields name. */
enum { EFFECT_ROLE_SLOT = X86_GPR_COUNT, EFFECT_SLOT_COUNT = EFFECT_ROLE_SLOT + 4 };

struct effect_record {
    uint32_t runs, completed, faulted, illegal, timed_out, broken;
    uint32_t read_claimed, read_seen; /* bits of slots: a change of it had an influence */
    uint32_t written_claimed, written_seen;
    uint32_t kept_claimed, kept_seen;
    uint32_t flags_read_claimed, flags_read_seen;
    uint32_t flags_written_claimed, flags_written_seen;
    uint32_t flags_kept_claimed, flags_kept_seen;
    uint32_t memory_claimed, memory_seen; /* X86_MEMORY_WRITE and X86_MAY_FAULT */
};

/* Notes a run. */
void effect_record_add(struct effect_record *record, const struct x86_insn *insn, const struct effect_run *run);

/*
 * Changes one register, or else one flag, that the instruction is said to read; which one, effect_record_read is told
 * later. False if there is none.
 */
struct effect_change {
    uint32_t slot_bit;
    uint32_t flag;
};
bool effect_change_draw(const struct x86_insn *insn, struct random *random, struct machine_state *state,
                        struct effect_change *change_out);

/* Notes whether the change made a difference. */
void effect_record_read(struct effect_record *record, const struct effect_change *change, const struct effect_run *base,
                        const struct effect_run *changed);

/* Prints what was claimed and never seen, a line for the form, nothing if all was seen. Returns how many claims. */
unsigned effect_record_print_unseen(const struct effect_record *record, const struct x86_form *form, FILE *stream);

#endif
