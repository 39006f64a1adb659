/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where it is said which threads went on without being followed, where, and why. It has room for
 * the first ones, and counts the others. Any thread, signal-safe, no lock.
 */
#ifndef GAIT_RING_LEFT_LOG_H
#define GAIT_RING_LEFT_LOG_H

#include <stddef.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

#define RING_LEFT_KEPT       64u
#define RING_LEFT_CODE_BYTES 16u

enum ring_left_reason {
    RING_LEFT_INSTRUCTION = 1, /* the engine cannot follow what stands there */
    RING_LEFT_MEMORY,          /* there was no memory to translate it */
    RING_LEFT_BLIND,           /* there was no /proc, descriptor or memory to find out whether there is code */
    RING_LEFT_NEW_THREAD,      /* there was no memory to follow the thread that it made there, and goes on itself */
    RING_LEFT_COUNTER,         /* it forbids itself to read the counter of time, which the engine does */
    RING_LEFT_UNREADABLE,      /* what stands there may be executed, and not be read */
    RING_LEFT_REASONS,
};

struct ring_left {
    uint64_t time; /* the counter */
    uint64_t pc;   /* from here on */
    uint32_t tid;
    uint32_t reason;                    /* enum ring_left_reason; 0: it was never written */
    uint8_t code[RING_LEFT_CODE_BYTES]; /* what stands there */
    uint32_t code_bytes;                /* of it, that could be read */
    uint32_t reserved;
};

void left_log_add(struct ring_region *region, const struct ring_left *left);

/* How many there were so far, of which the first `capacity` that were written are copied; how many those are. */
uint64_t left_log_count(const struct ring_reader *reader);
size_t left_log_read(const struct ring_reader *reader, struct ring_left *left_out, size_t capacity);

#endif
