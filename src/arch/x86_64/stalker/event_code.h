/* SPDX-License-Identifier: MIT */
/* Code in blocks that writes event records; see ring/event_record.h for what a record is. */
#ifndef GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H

#include "base/address.h"
#include "gait/stalker.h"
#include "stalker/trail.h"
#include "stalker/translation.h"

struct x86_insn;

/* Where in a block somebody looks whether the buffer is full. A record without anything that differs is at its start.
 */
struct event_plan {
    bool record;
    bool check;
    bool flags_free;       /* nobody needs the flags where the check is */
    bool check_at_end;     /* with the branch that ends the block */
    unsigned check_before; /* instruction */
    bool is_recorded;      /* a record was written */
    bool is_checked;       /* the check was written */
    bool is_told;          /* the block has told that it runs, as far as it is written, or nobody wants to know */
};

/* Whether the program's r11 is at home at the borders of blocks, and the position of events in its place. */
static inline bool x86_cache_has_events(const struct code_cache *cache)
{
    return cache->configuration.events & EVENTS_IN_CODE;
}

static inline bool x86_events_in_use(const struct translation *translation)
{
    return x86_cache_has_events(translation->cache);
}

/* Puts the program's value into r11, or the position; nothing if it is there already. */
void x86_take_register(struct translation *translation);
void x86_take_position(struct translation *translation);

/* Whether all flags are lost at the instruction, and nobody can see them before: it cannot raise a signal. */
bool x86_overwrites_flags(const struct x86_insn *insn);

/* Decides what is written for the decoded block; nothing for one of no instructions. */
void x86_event_plan(struct translation *translation);

/* Writes what the plan has for the place before an instruction. */
void x86_put_events_before(struct translation *translation, unsigned which);

/*
 * Writes what the plan had for places that a transformer left out, before the instruction that ends the block, or NULL
 * if it goes on. Needs the position in its register.
 */
void x86_put_events_at_end(struct translation *translation, struct app_pc pc, const struct x86_insn *insn);

/*
 * Writes the record of a direct call, whose return address is pushed. With the last instruction of this the call has
 * happened; until then the thread is at the instruction in that state. All of these need the position in its register.
 */
void x86_put_event_call(struct translation *translation, const struct x86_insn *insn, struct trail_state state);

/*
 * Write the record of an indirect call, or a return, whose target is in rcx, with rcx and rdi at home. The check is
 * before the target is loaded; it takes rcx, and gives it back where the instruction needs it.
 */
void x86_put_event_call_indirect(struct translation *translation, struct app_pc pc, struct trail_state state);
void x86_put_event_return(struct translation *translation, struct app_pc pc, struct trail_state state);
void x86_put_event_check_indirect(struct translation *translation, const struct x86_insn *insn);

#endif
