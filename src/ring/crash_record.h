/* SPDX-License-Identifier: MIT */
/*
 * What a process records about its death: records one after the other, in its ring and in the trace. Each begins with
 * its size, a multiple of 8, and its kind. All of it is little-endian.
 */
#ifndef GAIT_RING_CRASH_RECORD_H
#define GAIT_RING_CRASH_RECORD_H

#include <stdint.h>

enum crash_record_kind {
    CRASH_SIGNAL = 1, /* struct crash_signal: the signal that ends the process, and the thread that got it */
    CRASH_THREAD,     /* struct crash_thread: what another thread did then */
};

struct crash_record {
    uint32_t size_bytes; /* of this, with what follows it */
    uint32_t kind;       /* enum crash_record_kind */
};

#define CRASH_REGISTERS_MAX   40u
#define CRASH_STACK_BYTES_MAX (16u << 10)

/* Then stack_bytes, from stack_start on, and zeroes up to a multiple of 8. */
struct crash_signal {
    struct crash_record record;
    uint64_t time; /* the counter */
    uint32_t tid;
    int32_t signal;
    int32_t code;      /* as the kernel says it: si_code */
    uint32_t machine;  /* as in ELF files: which registers these are */
    uint64_t address;  /* of a fault */
    uint32_t is_known; /* 0: the thread was in the agent's code, and these are the registers there */
    uint32_t register_count;
    uint32_t stack_bytes;
    uint32_t reserved;
    uint64_t stack_start;
    uint64_t registers[CRASH_REGISTERS_MAX]; /* general ones by number, pc, flags */
};

_Static_assert(sizeof(struct crash_signal) == 64 + 8 * CRASH_REGISTERS_MAX, "as the specification says");

enum crash_thread_state {
    CRASH_THREAD_RUNNING,
    CRASH_THREAD_IN_CALL, /* in a system call, which follows */
};

/* Then stack_bytes, from sp, rounded down to a multiple of 8, on, and zeroes up to a multiple of 8. */
struct crash_thread {
    struct crash_record record;
    uint32_t tid;
    uint32_t state; /* enum crash_thread_state; what follows is 0 of a thread that runs */
    int64_t number; /* of the system call; -1: it waits without one */
    uint64_t arguments[6];
    uint64_t sp;
    uint32_t stack_bytes;
    uint32_t reserved;
};

_Static_assert(sizeof(struct crash_thread) == 88, "as the specification says");

#endif
