/* SPDX-License-Identifier: MIT */
#include "ring/ring_region.h"

#include "base/alignment.h"
#include "base/memory_file.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "ring/ring_notice.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <stdatomic.h>

#define BUFFER_BYTES_DEFAULT (512u << 10)
#define BUFFER_COUNT_DEFAULT 4
/* Addresses and holes in a file cost nothing, but a process may have a limit. */
#define REGION_BYTES_MOST (256ull << 30)
/* Of children there may be many, and their reader has all of them; 800 threads each are enough. */
#define REGION_BYTES_OF_CHILD (64ull << 30)
#define REGION_BYTES_LEAST    (2ull << 30)

static bool settle_options(struct ring_options *options)
{
    if (options->buffer_bytes == 0)
        options->buffer_bytes = BUFFER_BYTES_DEFAULT;
    if (options->buffer_count == 0)
        options->buffer_count = BUFFER_COUNT_DEFAULT;
    if (options->buffer_bytes > RING_BUFFER_BYTES_MAX || options->overflow >= RING_OVERFLOWS)
        return false;
    options->buffer_bytes = memory_round_to_pages(options->buffer_bytes);
    return options->buffer_count >= 2 && options->buffer_count <= RING_BUFFERS_MAX;
}

static int map_region(struct ring_region *region, size_t bytes)
{
    void *base;
    int result = memory_file_create("gait ring", bytes, false, &region->fd);

    if (result != 0)
        return result;
    result = memory_map_file_aligned(region->fd, bytes, RING_UNIT_BYTES, &base);
    if (result == 0)
        result = memory_file_seal_size(region->fd);
    if (result != 0) {
        memory_file_close(region->fd);
        return result;
    }
    region->base = base;
    region->bytes = bytes;
    return 0;
}

static void write_header(struct ring_region *region)
{
    struct ring_header *header = ring_region_header(region);

    header->version = RING_VERSION;
    header->overflow = region->options.overflow;
    header->region_bytes = region->bytes;
    header->buffer_bytes = (uint32_t)region->options.buffer_bytes;
    header->buffer_count = region->options.buffer_count;
    header->lane_limit = region->lane_limit;
    header->pid = (uint32_t)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    header->began = clock_pair_read();
    ring_notices_in(region->base)->cookie = (uint64_t)header->pid << 40 ^ time_counter() ^ (uintptr_t)region->base << 8;
    __atomic_store_n(&header->magic, RING_MAGIC, __ATOMIC_RELEASE);
}

/* As large as there are addresses for. */
static int map_largest(struct ring_region *region, size_t bytes)
{
    int result;

    while ((result = map_region(region, bytes)) == -ENOMEM && bytes > REGION_BYTES_LEAST)
        bytes /= 2;
    if (result != 0)
        return result;
    region->lane_limit =
        (uint32_t)((bytes - RING_LANES_OFFSET - RING_TAIL_BYTES) / ring_lane_bytes(region->options.buffer_count));
    write_header(region);
    return 0;
}

int ring_region_create(const struct ring_options *options, struct ring_region **region_out)
{
    struct ring_region *region;
    void *storage;
    int result = memory_map(sizeof(*region), &storage);

    if (result != 0)
        return result;
    region = storage;
    region->options = *options;
    if (!settle_options(&region->options)) {
        memory_unmap(region, sizeof(*region));
        return -EINVAL;
    }
    result = map_largest(region, REGION_BYTES_MOST);
    if (result != 0) {
        memory_unmap(region, sizeof(*region));
        return result;
    }
    *region_out = region;
    return 0;
}

int ring_region_renew(struct ring_region *region, struct ring_region *parent_out)
{
    /* Of the parent's threads, one that is not here may have the lock: the new one's is free. */
    struct ring_region own = {.options = region->options, .space_count = region->space_count};
    int result = map_largest(&own, REGION_BYTES_OF_CHILD);

    if (result != 0)
        return result;
    *parent_out = *region;
    *region = own;
    return 0;
}

void ring_region_leave(struct ring_region *parent)
{
    memory_unmap(parent->base, parent->bytes);
    ring_region_close_fd(parent);
}

void ring_region_close_fd(struct ring_region *region)
{
    if (region->fd != -1)
        memory_file_close(region->fd);
    region->fd = -1;
}

void ring_region_destroy(struct ring_region *region)
{
    if (region == NULL)
        return;
    memory_unmap(region->base, region->bytes);
    ring_region_close_fd(region);
    memory_unmap(region, sizeof(*region));
}

uint32_t ring_region_new_space(struct ring_region *region)
{
    uint32_t space;

    mutex_lock(&region->lock);
    space = region->space_count++;
    mutex_unlock(&region->lock);
    return space;
}

bool ring_region_add_block(struct ring_region *region, uint32_t space, uint32_t number, const struct event_block *block)
{
    struct ring_header *header = ring_region_header(region);
    uint32_t lengths_count = block->insn_lengths == NULL ? 0 : block->insn_count;
    uint64_t bytes = align_up(sizeof(struct ring_block) + lengths_count, 8);
    struct ring_block *place;
    uint64_t used;

    mutex_lock(&region->lock);
    used = atomic_load_explicit(&header->blocks_used, memory_order_relaxed);
    if (RING_BLOCKS_BYTES - used < bytes) {
        atomic_fetch_add_explicit(&header->blocks_lost, 1, memory_order_relaxed);
        mutex_unlock(&region->lock);
        return false;
    }
    place = (struct ring_block *)(void *)(region->base + RING_BLOCKS_OFFSET + used);
    *place = (struct ring_block){
        .size_bytes = (uint32_t)bytes,
        .space = space,
        .number = number,
        .code_bytes = block->size_bytes,
        .start = block->start,
        .call_target = block->call_target,
        .last_insn_bytes = block->last_insn_bytes,
        .lengths_count = lengths_count,
    };
    if (lengths_count != 0)
        __builtin_memcpy(place + 1, block->insn_lengths, lengths_count);
    atomic_store_explicit(&header->blocks_used, used + bytes, memory_order_release);
    mutex_unlock(&region->lock);
    return true;
}

bool ring_region_add_module(struct ring_region *region, const struct ring_module *module, const char *path)
{
    struct ring_header *header = ring_region_header(region);
    uint64_t bytes = align_up(sizeof(*module) + module->path_bytes, 8), used;
    struct ring_module *place;
    bool has_room;

    mutex_lock(&region->lock);
    used = atomic_load_explicit(&header->modules_used, memory_order_relaxed);
    has_room = RING_MODULES_BYTES - used >= bytes;
    if (has_room) {
        place = (struct ring_module *)(void *)(region->base + RING_MODULES_OFFSET + used);
        *place = *module;
        place->size_bytes = (uint32_t)bytes;
        __builtin_memcpy(place + 1, path, module->path_bytes);
        atomic_store_explicit(&header->modules_used, used + bytes, memory_order_release);
    }
    mutex_unlock(&region->lock);
    if (!has_room)
        atomic_fetch_add_explicit(&header->modules_lost, 1, memory_order_relaxed);
    return has_room;
}

void ring_region_note_lack(struct ring_region *region)
{
    atomic_fetch_add_explicit(&ring_region_header(region)->memory_lacks, 1, memory_order_relaxed);
}

uint64_t ring_region_note_not_hooked(struct ring_region *region)
{
    return atomic_fetch_add_explicit(&ring_region_header(region)->not_hooked, 1, memory_order_relaxed);
}

uint64_t ring_region_not_hooked(struct ring_region *region)
{
    return atomic_load_explicit(&ring_region_header(region)->not_hooked, memory_order_relaxed);
}

void ring_region_note_match(struct ring_region *region, uint32_t pattern)
{
    if (pattern < 64)
        atomic_fetch_or_explicit(&ring_region_header(region)->matched, 1ull << pattern, memory_order_relaxed);
}

void ring_region_note_armed(struct ring_region *region, uint64_t patterns)
{
    atomic_fetch_or_explicit(&ring_region_header(region)->armed, patterns, memory_order_relaxed);
}

void ring_region_note_unresolved(struct ring_region *region, uint32_t pattern)
{
    if (pattern < 64)
        atomic_fetch_or_explicit(&ring_region_header(region)->unresolved, 1ull << pattern, memory_order_relaxed);
}

bool ring_region_detach(struct ring_region *region)
{
    if (region->is_detached)
        return true;
    /* Of the parent's threads, one that is not here may have had it. */
    region->lock = (struct mutex){0};
    /* What is large is hardly used any more, and read by nobody. */
    if (memory_replace(region->base, RING_BLOCKS_OFFSET) != 0 ||
        memory_replace_uncounted(region->base + RING_BLOCKS_OFFSET, region->bytes - RING_BLOCKS_OFFSET) != 0)
        return false;
    region->is_detached = true;
    write_header(region);
    return true;
}
