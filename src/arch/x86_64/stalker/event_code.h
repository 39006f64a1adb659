/* SPDX-License-Identifier: MIT */
/* Code in blocks that writes event records; see stalker/event_layout.h for what a record is. */
#ifndef GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct translation;
struct x86_insn;

/* Where in a block its record is written, and where somebody looks whether the buffer is full. */
struct event_plan {
    bool record;             /* a record without anything that differs */
    bool check;              /* somebody has to look */
    unsigned record_before;  /* instruction */
    unsigned check_before;   /* instruction; the block's end if no place in it is good for that */
    uint8_t record_register; /* holds the position meanwhile */
    bool record_restore;     /* its value is needed afterwards */
};

/* Decides what is written for the decoded block. */
void x86_event_plan(struct translation *translation);

/* Writes what the plan has for the place before an instruction. */
void x86_put_events_before(struct translation *translation, unsigned which);

/* Writes the record of a direct call. */
void x86_put_event_call(struct translation *translation, const struct x86_insn *insn);

/*
 * Write the record of an indirect call, or a return, whose target is in rcx, with rcx and rdi at home. The check is
 * before the target is loaded; it takes rcx.
 */
void x86_put_event_call_indirect(struct translation *translation);
void x86_put_event_return(struct translation *translation);
void x86_put_event_check_indirect(struct translation *translation, const struct x86_insn *insn);

#endif
