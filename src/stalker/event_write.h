/* SPDX-License-Identifier: MIT */
/* Records that the engine writes itself. For the thread that they are of, or while it is stopped outside of the cache.
 */
#ifndef GAIT_STALKER_EVENT_WRITE_H
#define GAIT_STALKER_EVENT_WRITE_H

#include "ring/event_record.h"

#include <stdint.h>

struct stalker_thread;

/* Writes a record that has nothing but a number. There must be room, and some is behind the end of the buffer. */
void event_write(struct stalker_thread *thread, uint32_t number, enum event_record record);

/* Finds out what records say too much of the block in which the thread is, at a place where its registers are complete.
 */
void event_cut_at(struct stalker_thread *thread, uint64_t cache_pc);

/* Sets right what records say of the block in which the thread's registers were recovered, if it goes on elsewhere. */
void event_write_cut(struct stalker_thread *thread);

#endif
