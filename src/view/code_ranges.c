/* SPDX-License-Identifier: MIT */
/* Beginnings and ends of blocks are sorted; between two of them the count does not change. */
#include "view/code_ranges.h"

#include "base/partition_point.h"

#include <errno.h>
#include <stdlib.h>

struct edge {
    uint64_t address;
    uint64_t change; /* of an end: negative, as it wraps */
};

static int compare(const void *left_edge, const void *right_edge)
{
    const struct edge *left = left_edge, *right = right_edge;

    return left->address < right->address ? -1 : left->address > right->address;
}

static void join(struct code_ranges *ranges, const struct edge *edges, size_t edge_count)
{
    uint64_t running = 0;

    for (size_t i = 0; i + 1 < edge_count; i++) {
        struct code_range *last = ranges->count == 0 ? NULL : &ranges->ranges[ranges->count - 1];
        uint64_t start = edges[i].address, end = edges[i + 1].address;

        running += edges[i].change;
        if (running == 0 || start == end)
            continue;
        if (last != NULL && last->end == start && last->count == running)
            last->end = end;
        else
            ranges->ranges[ranges->count++] = (struct code_range){start, end, running};
    }
}

int code_ranges_make(struct code_ranges *ranges, const struct code_range *blocks, size_t count)
{
    struct edge *edges = calloc(2 * count + 1, sizeof(*edges));
    size_t edge_count = 0;

    *ranges = (struct code_ranges){calloc(2 * count + 1, sizeof(*ranges->ranges)), 0};
    if (edges == NULL || ranges->ranges == NULL) {
        free(edges);
        code_ranges_deinit(ranges);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].end <= blocks[i].start)
            continue;
        edges[edge_count++] = (struct edge){blocks[i].start, blocks[i].count};
        edges[edge_count++] = (struct edge){blocks[i].end, -blocks[i].count};
    }
    qsort(edges, edge_count, sizeof(*edges), compare);
    join(ranges, edges, edge_count);
    free(edges);
    return 0;
}

void code_ranges_deinit(struct code_ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (struct code_ranges){.count = 0};
}

/* The first one that ends behind the address. */
static size_t first_behind(const struct code_ranges *ranges, uint64_t address)
{
    return PARTITION_POINT(ranges->count, i, ranges->ranges[i].end <= address);
}

uint64_t code_ranges_bytes(const struct code_ranges *ranges, uint64_t start, uint64_t end)
{
    uint64_t bytes = 0;

    for (size_t i = first_behind(ranges, start); i < ranges->count && ranges->ranges[i].start < end; i++) {
        const struct code_range *range = &ranges->ranges[i];

        bytes += (range->end < end ? range->end : end) - (range->start > start ? range->start : start);
    }
    return bytes;
}

uint64_t code_ranges_most(const struct code_ranges *ranges, uint64_t start, uint64_t end)
{
    uint64_t most = 0;

    for (size_t i = first_behind(ranges, start); i < ranges->count && ranges->ranges[i].start < end; i++)
        most = ranges->ranges[i].count > most ? ranges->ranges[i].count : most;
    return most;
}
