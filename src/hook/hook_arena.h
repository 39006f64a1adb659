/* SPDX-License-Identifier: MIT */
/* Where the states of threads are: what the gates of stubs compare a thread's base with. Set once. */
#ifndef GAIT_HOOK_HOOK_ARENA_H
#define GAIT_HOOK_HOOK_ARENA_H

#include <stdint.h>

extern uint64_t hook_arena_start;
extern uint64_t hook_arena_bytes;

/* So many bytes at which a buffer of records is full: what is written there makes somebody look for a better place. */
#define HOOK_SINK_BYTES (64u << 10)
extern uint64_t hook_arena_sink;

#endif
