/* SPDX-License-Identifier: MIT */
/*
 * The kernel publishes data_head behind what it wrote; data_tail says what was read. A header that makes no sense
 * ends reading up to the head: nothing behind it could be understood.
 */
#include "kernel/perf_ring.h"

#include "base/memory_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The size of a record is a u16. */
#define RECORD_BYTES_MAX 65536

int perf_ring_map(struct perf_ring *ring, int fd, size_t size_bytes)
{
    size_t page_bytes = memory_page_size(), mapped_bytes = page_bytes + size_bytes;
    uint8_t *joined = malloc(RECORD_BYTES_MAX);
    void *memory;
    int result;

    if (joined == NULL)
        return -ENOMEM;
    memory = mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        result = -errno;
        free(joined);
        return result;
    }
    *ring = (struct perf_ring){
        .page = memory,
        .data = (const uint8_t *)memory + page_bytes,
        .size_bytes = size_bytes,
        .mapped_bytes = mapped_bytes,
        .joined = joined,
    };
    return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
    if (ring->page != NULL)
        munmap(ring->page, ring->mapped_bytes);
    free(ring->joined);
    *ring = (struct perf_ring){.page = NULL};
}

void perf_ring_look(struct perf_ring *ring)
{
    /* Acquire: pairs with the barrier of the kernel between what it writes and the head. */
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

static void copy(const struct perf_ring *ring, uint64_t from, uint8_t *to, size_t size_bytes)
{
    size_t at = from & (ring->size_bytes - 1);
    size_t first = size_bytes < ring->size_bytes - at ? size_bytes : ring->size_bytes - at;

    memcpy(to, ring->data + at, first);
    memcpy(to + first, ring->data, size_bytes - first);
}

const struct perf_event_header *perf_ring_peek(struct perf_ring *ring)
{
    size_t at = ring->tail & (ring->size_bytes - 1);
    const struct perf_event_header *header = (const struct perf_event_header *)(const void *)(ring->data + at);
    uint64_t available = ring->head - ring->tail;

    /* Records are aligned to 8, and so is the ring's end: a header is in one piece. */
    if (available < sizeof(*header))
        return NULL;
    if (header->size < sizeof(*header) || header->size > available) {
        ring->tail = ring->head;
        return NULL;
    }
    if (header->size <= ring->size_bytes - at)
        return header;
    copy(ring, ring->tail, ring->joined, header->size);
    return (const struct perf_event_header *)(const void *)ring->joined;
}

void perf_ring_pass(struct perf_ring *ring, const struct perf_event_header *header)
{
    ring->tail += header->size;
}

void perf_ring_release(struct perf_ring *ring)
{
    /* Release: what was read was read before the kernel may write there. */
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
