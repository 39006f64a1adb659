/* SPDX-License-Identifier: MIT */
/*
 * Indirect branches to addresses that the CPU refuses: it raises the signal at the branch, and nothing of that has
 * happened. Translated code finds out only behind it.
 */
#ifndef GAIT_ARCH_X86_64_STALKER_REFUSED_BRANCH_H
#define GAIT_ARCH_X86_64_STALKER_REFUSED_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

struct code_cache;
struct gait_cpu_context;
struct stalker_thread;

/*
 * Whether the CPU refuses to go to cpu->pc. If so, puts the pc and rsp back to before the indirect branch of block
 * number `from`, which was to lead there. What a call pushed stays below rsp.
 */
bool x86_undo_refused(const struct code_cache *cache, uint32_t from, struct gait_cpu_context *cpu);

/* See struct engine_place. */
bool x86_refuse_branch(const struct stalker_thread *thread, struct gait_cpu_context *cpu);

#endif
