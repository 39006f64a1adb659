/* SPDX-License-Identifier: MIT */
/*
 * Original code and its copy next to each other, aligned: beside each original instruction what became of it. One
 * thread at a time.
 */
#ifndef GAIT_CLI_SIDE_BY_SIDE_H
#define GAIT_CLI_SIDE_BY_SIDE_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stddef.h>
#include <stdint.h>

struct gait_code_copy;
struct screen;

struct side_by_side {
    const uint8_t *bytes; /* of the original, readable here */
    uint64_t size_bytes;
    uint64_t address; /* that the original has */
    const struct gait_code_copy *copy;
};

/* Prints all rows. Errors are explained; they can only be our own bugs. */
MUST_USE int side_by_side_print(struct screen *screen, const struct side_by_side *sides, struct gait_error *err);

#endif
