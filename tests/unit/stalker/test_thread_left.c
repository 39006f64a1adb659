/* SPDX-License-Identifier: MIT */

#include "base/counters.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "stalker/code_cache.h"
#include "stalker/follow.h"
#include "stalker/thread.h"
#include "support/check.h"

#include <string.h>
#include <sys/mman.h>

static struct code_cache cache;
static struct stalker_thread thread = {.tid = 12, .observed_cache = &cache};

static void it_is_told_where_and_before_which_code(void)
{
    static const struct ring_options options;
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t counted = counter_read(COUNTER_threads_left);
    struct ring_region *ring;
    struct ring_reader *reader;
    struct ring_left left;

    CHECK_EQUAL(mprotect(pages + 4096, 4096, PROT_NONE), 0);
    memcpy(pages + 4093, "\x48\xcb\x90", 3);
    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    cache.configuration.ring = ring;
    thread.context.pc = (uintptr_t)pages + 4093;
    thread_left_tell(&thread, RING_LEFT_INSTRUCTION);
    CHECK_EQUAL(left_log_read(reader, &left, 1), 1);
    CHECK_EQUAL(left.tid, 12);
    CHECK_EQUAL(left.pc, thread.context.pc);
    CHECK_EQUAL(left.reason, RING_LEFT_INSTRUCTION);
    CHECK_EQUAL(left.code_bytes, 3);
    CHECK_EQUAL(memcmp(left.code, "\x48\xcb\x90", 4), 0);
    CHECK(left.time != 0);
    CHECK_EQUAL(counter_read(COUNTER_threads_left), counted + 1);
    ring_reader_close(reader);
    ring_region_destroy(ring);
    munmap(pages, 8192);
}

static void without_a_ring_it_is_counted(void)
{
    uint64_t counted = counter_read(COUNTER_threads_left);

    cache.configuration.ring = NULL;
    thread_left_tell(&thread, RING_LEFT_MEMORY);
    CHECK_EQUAL(counter_read(COUNTER_threads_left), counted + 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_is_told_where_and_before_which_code),
    CHECK_CASE(without_a_ring_it_is_counted),
};

CHECK_MAIN(cases)
