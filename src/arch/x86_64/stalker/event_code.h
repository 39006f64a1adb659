/* SPDX-License-Identifier: MIT */
/* Code in blocks that writes event records; see ring/event_record.h for what a record is. */
#ifndef GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EVENT_CODE_H

#include "arch/arch.h"
#include "base/address.h"
#include "stalker/trail.h"
#include "stalker/translation.h"

struct x86_insn;

/* Puts the program's value into r11; nothing if it is there already. The other way round: as arch/engine.h has it. */
void x86_take_register(struct translation *translation);
void x86_take_position(struct translation *translation);

/* Whether all flags are lost at the instruction, and nobody can see them before: it cannot raise a signal. */
bool x86_overwrites_flags(const struct x86_insn *insn);

/* Plans what is written for the decoded block. */
void x86_event_plan(struct translation *translation);

/* Writes what the plan has for the place before an instruction. */
void x86_put_events_before(struct translation *translation, unsigned which);

/* As arch/engine.h has it. */
void x86_put_events_at_end(struct translation *translation, struct app_pc pc, enum arch_flow flow);

/* What events have to know of an instruction that ends a block. */
enum arch_flow x86_event_flow(const struct x86_insn *insn);

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
