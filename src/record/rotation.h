/* SPDX-License-Identifier: MIT */
/*
 * Recordings in pieces: when one is large or old enough the next one begins, in which every thread gets files of its
 * own; and the oldest are deleted. Which pieces there are is for the manifest to say. One thread at a time.
 */
#ifndef GAIT_RECORD_ROTATION_H
#define GAIT_RECORD_ROTATION_H

#include "base/attributes.h"
#include "trace/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: it is all one piece. */
struct rotation_options {
    uint64_t bytes;  /* that a piece may have, of all files together; 0: any number */
    uint64_t age_ns; /* that it may have; 0: any */
    uint32_t keep;   /* how many pieces, with the one that is written; 0: all */
};

struct rotation {
    struct rotation_options options;
    struct manifest_piece *pieces; /* that are kept */
    size_t piece_count;
    uint64_t began_ns; /* when the last one began, as the next one */
    uint64_t began_bytes;
    uint64_t deleted_bytes;
};

void rotation_init(struct rotation *rotation, const struct rotation_options *options, uint64_t now_ns);
void rotation_deinit(struct rotation *rotation);

/* The number of the piece that is written. */
uint32_t rotation_piece(const struct rotation *rotation);

/*
 * Whether the piece is to end, when so many bytes of files were written since the beginning. One in which nothing was
 * written goes on.
 */
bool rotation_is_due(const struct rotation *rotation, uint64_t now_ns, uint64_t written_bytes);

/* Begins the next piece, at that time; the counter is the same time. -ENOMEM: nothing has changed. */
MUST_USE int rotation_turn(struct rotation *rotation, uint64_t now_ns, uint64_t counter, uint64_t written_bytes);

/* Deletes the files of pieces that are not kept any more: once the manifest says so. */
MUST_USE int rotation_delete_old(struct rotation *rotation, const char *trace);

/* What the manifest is to say. Valid until the next call of any other function here. */
void rotation_describe(const struct rotation *rotation, struct manifest *manifest);

#endif
