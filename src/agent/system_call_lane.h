/* SPDX-License-Identifier: MIT */
/*
 * System calls as records of a thread's detail lane, with what their arguments point at. It does not matter who saw the
 * call: a patched place or followed code. Belongs to the thread; signal handlers may write others at any time.
 */
#ifndef GAIT_AGENT_SYSTEM_CALL_LANE_H
#define GAIT_AGENT_SYSTEM_CALL_LANE_H

#include <stdbool.h>
#include <stdint.h>

struct detail_lane;

/* A system call; the result and the time of its end are not looked at where it has only begun. */
struct told_system_call {
    uint64_t number;
    const uint64_t *arguments; /* six */
    int64_t result;
    uint64_t entered_time;
    uint64_t sp;
    uint32_t flags; /* of enum detail_system_call_flag */
    uint32_t frame_count;
    const uint64_t *frames; /* behind the call, and where its callers return to */
    bool has_descriptors;   /* what they are is wanted */
    bool has_cpu;
    uint64_t cpu_ns[2]; /* what the CPU had worked for the thread, before and after the call */
};

/* How much of a string or a buffer is taken, at most. */
void system_call_lane_begin(uint32_t string_bytes);

/* It has returned just now; or it will not, as the flags say. */
void system_call_lane_put(struct detail_lane *lane, const struct told_system_call *call);

/* It is being made. */
void system_call_lane_put_enter(struct detail_lane *lane, const struct told_system_call *call);

#endif
