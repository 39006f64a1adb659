/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "kernel/perf_ring.h"

#include "support/check.h"

#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES 4096

static struct perf_ring ring;
static uint8_t *data;
static uint64_t written;

/* What the kernel would do. */
static void put(uint16_t size, uint8_t fill)
{
    const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = size};
    uint8_t record[RING_BYTES];

    memset(record, fill, size);
    memcpy(record, &header, sizeof(header));
    for (size_t i = 0; i < size; i++)
        data[(written + i) % RING_BYTES] = record[i];
    written += size;
    ring.page->data_head = written;
}

static void begin(void)
{
    int fd = memfd_create("ring", MFD_CLOEXEC);

    CHECK_EQUAL(ftruncate(fd, sysconf(_SC_PAGESIZE) + RING_BYTES), 0);
    CHECK_EQUAL(perf_ring_map(&ring, fd, RING_BYTES), 0);
    data = (uint8_t *)(uintptr_t)ring.data;
    written = 0;
    close(fd);
}

static void records_come_in_their_order(void)
{
    const struct perf_event_header *header;

    begin();
    perf_ring_look(&ring);
    CHECK(perf_ring_peek(&ring) == NULL);
    put(16, 1);
    CHECK(perf_ring_peek(&ring) == NULL);
    put(24, 2);
    perf_ring_look(&ring);
    header = perf_ring_peek(&ring);
    CHECK_EQUAL(header->size, 16);
    CHECK(perf_ring_peek(&ring) == header);
    perf_ring_pass(&ring, header);
    header = perf_ring_peek(&ring);
    CHECK_EQUAL(header->size, 24);
    CHECK_EQUAL(((const uint8_t *)header)[23], 2);
    CHECK_EQUAL(ring.page->data_tail, 0);
    perf_ring_pass(&ring, header);
    perf_ring_release(&ring);
    CHECK_EQUAL(ring.page->data_tail, 40);
    CHECK(perf_ring_peek(&ring) == NULL);
    perf_ring_unmap(&ring);
}

static void what_the_end_cuts_in_two_is_joined(void)
{
    const struct perf_event_header *header;
    size_t good = 0;

    begin();
    for (unsigned i = 0; i < 1000; i++) {
        uint16_t size = (uint16_t)(16 + 8 * (i % 100));

        put(size, (uint8_t)i);
        perf_ring_look(&ring);
        header = perf_ring_peek(&ring);
        if (header == NULL || header->size != size)
            break;
        good += ((const uint8_t *)header)[8] == (uint8_t)i && ((const uint8_t *)header)[size - 1] == (uint8_t)i;
        perf_ring_pass(&ring, header);
        perf_ring_release(&ring);
    }
    CHECK_EQUAL(good, 1000);
    perf_ring_unmap(&ring);
}

static void nonsense_is_passed_over(void)
{
    begin();
    put(16, 0);
    memset(data, 0, 8);
    perf_ring_look(&ring);
    CHECK(perf_ring_peek(&ring) == NULL);
    CHECK_EQUAL(ring.tail, ring.head);
    put(16, 0);
    ((struct perf_event_header *)(void *)(data + 16))->size = 4000;
    perf_ring_look(&ring);
    CHECK(perf_ring_peek(&ring) == NULL);
    CHECK_EQUAL(ring.tail, ring.head);
    perf_ring_unmap(&ring);
}

static void what_is_no_ring_is_refused(void)
{
    CHECK(perf_ring_map(&ring, -1, RING_BYTES) < 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_come_in_their_order),
    CHECK_CASE(what_the_end_cuts_in_two_is_joined),
    CHECK_CASE(nonsense_is_passed_over),
    CHECK_CASE(what_is_no_ring_is_refused),
};

CHECK_MAIN(cases)
