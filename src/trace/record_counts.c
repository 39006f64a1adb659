/* SPDX-License-Identifier: MIT */
/*
 * A slot for each number, most of which are never touched, and a list of those that are in use. A slot has both
 * counts in one word, so that a record takes one addition. Between chunks all slots are 0.
 */
#include "trace/record_counts.h"

#include "trace/crc32c.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Functions with larger numbers are not counted. */
#define NUMBERS_MAX (1u << 16)
/* More in one chunk would not fit anyway. */
#define FUNCTIONS_MAX (TRACE_COUNTS_BYTES_MAX / sizeof(struct trace_count))

#define ONE_LEFT      (1ull << 32)

struct record_counts {
    uint64_t slots[NUMBERS_MAX]; /* how often it was entered, and above that how often it was left */
    uint32_t count;
    uint32_t lowest_depth;
    struct trace_count functions[FUNCTIONS_MAX];
};

int record_counts_create(struct record_counts **counts_out)
{
    struct record_counts *counts = calloc(1, sizeof(*counts));

    if (counts == NULL)
        return -ENOMEM;
    *counts_out = counts;
    return 0;
}

void record_counts_destroy(struct record_counts *counts)
{
    free(counts);
}

/* False: there is something that cannot be counted. */
static bool count_records(struct record_counts *counts, struct packing_source records)
{
    if (records.size_bytes % EVENT_HOOK_BYTES != 0)
        return false;
    for (size_t at = 0; at < records.size_bytes; at += EVENT_HOOK_BYTES) {
        uint32_t header, number, depth;

        memcpy(&header, records.bytes + at, sizeof(header));
        memcpy(&depth, records.bytes + at + EVENT_DEPTH_OFFSET, sizeof(depth));
        counts->lowest_depth = depth < counts->lowest_depth ? depth : counts->lowest_depth;
        number = event_header_number(header);
        /* Calls that go on elsewhere are neither entered nor left, and the depth is not all that stands there. */
        if (depth & EVENT_HEIGHT || number >= NUMBERS_MAX || !event_record_is_hooked(event_header_record(header)) ||
            event_record_is_of_stack(event_header_record(header)))
            return false;
        if (counts->slots[number] == 0) {
            if (counts->count == FUNCTIONS_MAX)
                return false;
            counts->functions[counts->count++].number = number;
        }
        counts->slots[number] += event_header_record(header) == EVENT_RECORD_ENTER    ? 1
                                 : event_header_record(header) == EVENT_RECORD_PASSED ? 1 + ONE_LEFT
                                                                                      : ONE_LEFT;
    }
    return true;
}

static void empty_slots(struct record_counts *counts)
{
    for (uint32_t i = 0; i < counts->count; i++) {
        struct trace_count *function = &counts->functions[i];
        uint64_t *slot = &counts->slots[function->number];

        function->entered = (uint32_t)*slot;
        function->left = (uint32_t)(*slot / ONE_LEFT);
        *slot = 0;
    }
}

size_t record_counts_take(struct record_counts *counts, struct packing_source records, size_t room)
{
    bool is_counted;
    size_t size_bytes;

    counts->count = 0;
    counts->lowest_depth = UINT32_MAX;
    is_counted = count_records(counts, records);
    empty_slots(counts);
    size_bytes = trace_counts_bytes(counts->count);
    return is_counted && counts->count != 0 && size_bytes <= room ? size_bytes : 0;
}

uint32_t record_counts_sum(const uint8_t *bytes, uint32_t count)
{
    size_t from = offsetof(struct trace_counts, lowest_depth);

    return crc32c(0, bytes + from, sizeof(struct trace_counts) - from + count * sizeof(struct trace_count));
}

void record_counts_write(const struct record_counts *counts, uint8_t *bytes)
{
    size_t functions_bytes = counts->count * sizeof(counts->functions[0]);
    struct trace_counts header = {.count = counts->count, .lowest_depth = counts->lowest_depth};

    memset(bytes, 0, trace_counts_bytes(counts->count));
    memcpy(bytes + sizeof(header), counts->functions, functions_bytes);
    memcpy(bytes, &header, sizeof(header));
    header.crc = record_counts_sum(bytes, counts->count);
    memcpy(bytes, &header, sizeof(header));
}
