/* SPDX-License-Identifier: MIT */
/*
 * Original code and its copy next to each other, aligned: beside each original instruction what became of it. One
 * thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_SIDE_BY_SIDE_H
#define GAIT_CLI_SCREENS_SIDE_BY_SIDE_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdint.h>

struct screen;

/* Which instructions belong together. Both return 0, or -errno: there is none. */
struct side_by_side_map {
    int (*copy_of)(const void *context, uint64_t original, uint64_t *place_out);
    int (*original_of)(const void *context, uint64_t place, uint64_t *original_out);
};

/* The map of a struct gait_code_copy, which is its context. */
extern const struct side_by_side_map side_by_side_code_copy;

struct side_by_side {
    const uint8_t *bytes; /* of the original, readable here */
    uint64_t size_bytes;
    uint64_t address;    /* that the original has */
    const uint8_t *copy; /* where it runs */
    uint64_t copy_bytes;
    uint64_t total_bytes; /* with constants behind it */
    const struct side_by_side_map *map;
    const void *context; /* of the map */
};

/* Prints all rows. Errors are explained; they can only be our own bugs. */
MUST_USE int side_by_side_print(struct screen *screen, const struct side_by_side *sides, struct gait_error *err);

#endif
