/* SPDX-License-Identifier: MIT */
/*
 * The place in a ring where it is said which probes of the process are looked at: the records that tell of one being
 * passed have its number only. Entries are added and never changed; who reads them goes on where it was.
 */
#ifndef GAIT_RING_PROBE_LOG_H
#define GAIT_RING_PROBE_LOG_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stdint.h>

struct ring_reader;
struct ring_region;

/* Of all texts of one; what is longer is cut off. */
#define RING_PROBE_TEXT_BYTES 1536u

/* Of which each has so many at most. */
#define RING_PROBE_NAME_BYTES 256u

/* Lengths are without a NUL. */
struct ring_probe {
    uint64_t address;
    uint64_t semaphore; /* 0: it has none */
    uint32_t number;    /* of records: from 0 on, in the order in which they are told */
    uint16_t provider_bytes;
    uint16_t name_bytes;
    uint16_t arguments_bytes; /* as its note has them */
    uint16_t path_bytes;      /* of the file that it is in */
    uint32_t reserved;
};

/* Its texts, which need not be ended. */
struct ring_probe_texts {
    const char *provider;
    const char *name;
    const char *arguments;
    const char *path;
};

/* Any thread. False: there is no room for more, and nothing may be told of that one. */
MUST_USE bool probe_log_add(struct ring_region *region, const struct ring_probe *probe, struct ring_probe_texts texts);

/* A copy of one. */
struct probe_log_entry {
    struct ring_probe probe;
    char texts[RING_PROBE_TEXT_BYTES]; /* one behind the other, in the order of their lengths */
};

/* The next one; *place_inout is 0 before the first. False: there are no more now, or what stands there is none. */
bool probe_log_next(const struct ring_reader *reader, uint64_t *place_inout, struct probe_log_entry *entry_out);

#endif
