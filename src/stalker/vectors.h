/* SPDX-License-Identifier: MIT */
/*
 * The vector and floating point registers of a thread that is in the engine. They stay in the CPU, since the engine
 * does not use them, until somebody else's code is to run. Called on the followed thread only.
 */
#ifndef GAIT_STALKER_VECTORS_H
#define GAIT_STALKER_VECTORS_H

#include "arch/vector_state.h"
#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct gait_cpu_context;
struct stalker_thread;

/* Makes it safe to call code that uses any register; they are back when the engine is left. */
void vectors_set_aside(struct stalker_thread *thread);

/* Puts them back, if they were set aside. */
void vectors_put_back(struct stalker_thread *thread);

/*
 * Finds them for a function that was called with that context, on the calling thread, which has `base` in the register
 * that translated code finds its thread with. False: the context is that of no followed thread.
 */
bool vectors_find(const struct gait_cpu_context *context, uint64_t base, struct vector_state_place *place_out);

/* Takes memory for them once. -ENOMEM. */
MUST_USE int vectors_prepare(struct stalker_thread *thread);

/* Saves them the way that signal frames have them, in at most that many bytes, aligned to 64. Signal-safe. */
#define STALKER_VECTORS_FRAME_BYTES_MAX (12u << 10)
void stalker_vectors_save_frame(void *area);

#endif
