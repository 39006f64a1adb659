/* SPDX-License-Identifier: MIT */
/* All that is read from or written to some descriptors, byte by byte, as strace -e read= and -e write= have it. */
#ifndef GAIT_SYSCALLS_OUTPUT_DATA_DUMP_H
#define GAIT_SYSCALLS_OUTPUT_DATA_DUMP_H

#include "base/attributes.h"
#include "syscalls/system_call_event.h"

#include <stdbool.h>
#include <stdio.h>

#define DATA_DUMP_FDS 1024

/* A bit for each descriptor; those above all of them are in it or not together. */
struct data_dump_set {
    uint64_t bits[DATA_DUMP_FDS / 64];
    bool has_others;
};

struct data_dump_sets {
    struct data_dump_set read;
    struct data_dump_set written;
};

/* Reads "1,3", "all", "none", with ! in front for all others. -EINVAL: it is none of these. */
MUST_USE int data_dump_set_parse(const char *text, struct data_dump_set *set_out);

/* What a call that has ended has read or written, if its descriptor is in the set for that. */
void data_dump_put(const struct data_dump_sets *sets, FILE *stream, const struct system_call_event *event);

#endif
