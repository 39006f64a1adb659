/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where it is said what indirect functions are: that what begins at an address is called by that
 * name, which its file may not have. It has room for the first ones. Any thread, signal-safe, no lock.
 */
#ifndef GAIT_RING_INDIRECT_LOG_H
#define GAIT_RING_INDIRECT_LOG_H

#include <stddef.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

#define RING_INDIRECT_KEPT       64u
#define RING_INDIRECT_NAME_BYTES 48u

/* The name ends with a NUL. */
struct ring_indirect {
    uint32_t is_taken;
    uint32_t is_written; /* set last */
    uint64_t address;
    char name[RING_INDIRECT_NAME_BYTES];
};

/* What is too long is cut off. */
void indirect_log_add(struct ring_region *region, uint64_t address, const char *name);

/* Copies the first `capacity`; how many those are. */
size_t indirect_log_read(const struct ring_reader *reader, struct ring_indirect *indirect_out, size_t capacity);

#endif
