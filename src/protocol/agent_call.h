/* SPDX-License-Identifier: MIT */
/*
 * How the controller asks the agent for something: it writes an agent_call into the target's memory, sends a stopped
 * thread of the target to agent_main, and reads the answer there when the thread is done. Both sides are of the same
 * version; the layout is the same for both.
 */
#ifndef GAIT_PROTOCOL_AGENT_CALL_H
#define GAIT_PROTOCOL_AGENT_CALL_H

#include "arch/thread_registers.h"

#include <stdint.h>

enum agent_operation {
    AGENT_BEGIN = 1, /* makes ring and engine, and follows the calling thread */
    AGENT_FOLLOW,    /* follows the threads in the list, which are stopped */
    AGENT_LEAVE,     /* makes threads in the list leave, as soon as they can */
    AGENT_END,       /* gives everything back; no thread may be followed any more */
};

/* What is done about functions, or whole modules, whose names match. */
enum agent_pattern_use {
    AGENT_PATTERN_EXCLUDE = 1,  /* no events from there */
    AGENT_PATTERN_DETAIL,       /* calls of it go to the detail lane as well */
    AGENT_PATTERN_TRIGGER_CALL, /* a call of it is a trigger */
    AGENT_PATTERN_TRIGGER_SLOW, /* a call of it that takes longer than `value` nanoseconds is one */
};

#define AGENT_PATTERN_BYTES 120u
#define AGENT_PATTERNS_MAX  64u

/* Functions or whole modules by their names; protocol/agent_pattern.h says what the text means. */
struct agent_pattern {
    uint32_t use;    /* enum agent_pattern_use */
    uint32_t number; /* the controller's name for it: of the trigger */
    uint64_t value;
    char text[AGENT_PATTERN_BYTES];
};

/* How to follow. */
struct agent_options {
    uint32_t events; /* of enum gait_event_kind */
    uint32_t with_times;
    uint32_t new_threads;
    uint32_t overflow;        /* enum ring_overflow */
    uint64_t trigger_signals; /* bit n - 1: a signal n that a handler of the program's gets is a trigger */
    uint32_t buffer_count;    /* 0: the ring's default, as below */
    uint32_t pattern_count;
    uint32_t stack_bytes; /* in each record of the detail lane */
    uint32_t reserved;
    uint64_t buffer_bytes;
    struct agent_pattern patterns[AGENT_PATTERNS_MAX];
};

/* A thread that is stopped: its registers, which the agent may change. */
struct agent_thread {
    int32_t tid;
    int32_t result; /* 0: the registers are to be set; 1: there is nothing to do; negative: what went wrong */
    struct thread_registers registers;
};

#define AGENT_THREADS_AT_ONCE 32u

struct agent_call {
    uint32_t operation;
    int32_t result;  /* 0, or a negative errno number */
    int32_t ring_fd; /* of AGENT_BEGIN: open in the target until the next call */
    uint32_t thread_count;
    uint32_t followed_count; /* threads that are followed after the call */
    struct agent_options options;
    struct agent_thread threads[AGENT_THREADS_AT_ONCE];
};

/*
 * The thread tells that it is done by a system call that does nothing, getpid with this argument: a tracer sees it, and
 * without one the thread simply goes back to what it did before, also when the controller is gone by then.
 */
#define AGENT_DONE_MARK 0x676169746469ull

#endif
