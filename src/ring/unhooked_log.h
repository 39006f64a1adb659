/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where it is said which functions should have been hooked and are not, and why. It has room for
 * the first ones, and counts the others. Any thread, signal-safe, no lock.
 */
#ifndef GAIT_RING_UNHOOKED_LOG_H
#define GAIT_RING_UNHOOKED_LOG_H

#include <stddef.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

#define RING_UNHOOKED_KEPT       32u
#define RING_UNHOOKED_NAME_BYTES 176u
#define RING_UNHOOKED_WHY_BYTES  72u

/* Both texts end with a NUL. */
struct ring_unhooked {
    uint32_t is_written;                 /* set last */
    uint32_t is_named;                   /* somebody asked for it, not only for all functions of its module */
    char name[RING_UNHOOKED_NAME_BYTES]; /* "module!function", as the file spells it, or "module+0xADDRESS" */
    char why[RING_UNHOOKED_WHY_BYTES];   /* "it is too short" */
};

void unhooked_log_add(struct ring_region *region, const struct ring_unhooked *unhooked);

/* How many there were so far. */
uint64_t unhooked_log_count(const struct ring_reader *reader);

/* Copies the first `capacity` of those that were kept; how many those are. */
size_t unhooked_log_read(const struct ring_reader *reader, struct ring_unhooked *unhooked_out, size_t capacity);

#endif
