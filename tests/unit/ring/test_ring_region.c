/* SPDX-License-Identifier: MIT */
#include "ring/ring_region.h"

#include "base/memory_file.h"
#include "base/memory_map.h"
#include "support/check.h"

#include <errno.h>
#include <stdatomic.h>

static void options_that_cannot_be_are_refused(void)
{
    static const struct ring_options bad[] = {
        {.buffer_count = 1}, {.buffer_count = RING_BUFFERS_MAX + 1}, {.buffer_bytes = RING_BUFFER_BYTES_MAX + 1}};
    struct ring_region *untouched = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_EQUAL(ring_region_create(&bad[i], &untouched), -EINVAL);
    CHECK(untouched == NULL);
    ring_region_destroy(NULL);
}

static void the_header_says_what_there_is(void)
{
    static const struct ring_options options = {.overflow = RING_BLOCK, .buffer_bytes = 5000, .buffer_count = 3};
    const struct ring_header *header;
    struct ring_region *region;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    header = ring_region_header(region);
    CHECK_EQUAL(header->magic, RING_MAGIC);
    CHECK_EQUAL(header->version, RING_VERSION);
    CHECK_EQUAL(header->overflow, RING_BLOCK);
    CHECK_EQUAL(header->buffer_bytes, 8192);
    CHECK_EQUAL(header->buffer_count, 3);
    CHECK(header->lane_limit > 100);
    CHECK_EQUAL(header->region_bytes, region->bytes);
    CHECK_EQUAL(memory_file_bytes(region->fd), region->bytes);
    CHECK(memory_file_is_sealed(region->fd));
    CHECK(header->began.counter != 0 && header->began.monotonic_ns != 0);
    ring_region_destroy(region);
}

static void blocks_stand_one_behind_the_other(void)
{
    static const struct ring_options options;
    static const uint8_t lengths[] = {1, 2, 3};
    struct event_block block = {.start = 0x1000, .size_bytes = 6, .last_insn_bytes = 3, .insn_count = 3};
    const struct ring_block *first, *second;
    struct ring_region *region;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(ring_region_new_space(region), 0);
    CHECK_EQUAL(ring_region_new_space(region), 1);
    CHECK(ring_region_add_block(region, 1, 7, &block));
    block.insn_lengths = lengths;
    CHECK(ring_region_add_block(region, 1, 8, &block));
    first = (const struct ring_block *)(void *)(region->base + RING_BLOCKS_OFFSET);
    CHECK_EQUAL(first->size_bytes, sizeof(*first));
    CHECK_EQUAL(first->space, 1);
    CHECK_EQUAL(first->number, 7);
    CHECK_EQUAL(first->lengths_count, 0);
    second = first + 1;
    CHECK_EQUAL(second->size_bytes, sizeof(*second) + 8);
    CHECK_EQUAL(second->number, 8);
    CHECK_EQUAL(second->start, 0x1000);
    CHECK_EQUAL(second->lengths_count, 3);
    CHECK(memcmp(second + 1, lengths, 3) == 0);
    CHECK_EQUAL(atomic_load(&ring_region_header(region)->blocks_used), first->size_bytes + second->size_bytes);
    ring_region_destroy(region);
}

static void blocks_without_room_are_counted(void)
{
    static const struct ring_options options;
    const struct event_block block = {.size_bytes = 1};
    struct ring_region *region;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    atomic_store(&ring_region_header(region)->blocks_used, RING_BLOCKS_BYTES - sizeof(struct ring_block));
    CHECK(ring_region_add_block(region, 0, 0, &block));
    CHECK(!ring_region_add_block(region, 0, 1, &block));
    CHECK_EQUAL(atomic_load(&ring_region_header(region)->blocks_lost), 1);
    ring_region_destroy(region);
}

static void what_is_detached_is_another_memory(void)
{
    static const struct ring_options options;
    struct ring_region *region;
    void *view;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(memory_map_file_aligned(region->fd, region->bytes, memory_page_size(), &view), 0);
    CHECK(ring_region_detach(region));
    CHECK(ring_region_detach(region));
    atomic_store(&ring_region_header(region)->lane_count, 77);
    CHECK_EQUAL(atomic_load(&((struct ring_header *)view)->lane_count), 0);
    memory_unmap(view, region->bytes);
    ring_region_destroy(region);
}

/* In kilobytes. */
static unsigned long private_memory(void)
{
    unsigned long found = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        (void)sscanf(line, "VmData: %lu", &found);
    if (file != NULL)
        fclose(file);
    return found;
}

/* Programs may limit it for themselves, as browsers do for their children. */
static void what_is_detached_is_hardly_counted_as_memory_of_the_process(void)
{
    static const struct ring_options options;
    unsigned long before = private_memory();
    struct ring_region *region;

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK(ring_region_detach(region));
    CHECK(private_memory() < before + 8192);
    ring_region_destroy(region);
}

static const struct check_case cases[] = {
    CHECK_CASE(options_that_cannot_be_are_refused),
    CHECK_CASE(the_header_says_what_there_is),
    CHECK_CASE(blocks_stand_one_behind_the_other),
    CHECK_CASE(blocks_without_room_are_counted),
    CHECK_CASE(what_is_detached_is_another_memory),
    CHECK_CASE(what_is_detached_is_hardly_counted_as_memory_of_the_process),
};

CHECK_MAIN(cases)
