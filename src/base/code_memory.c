/* SPDX-License-Identifier: MIT */
/*
 * Reservations, commits and patches over one code_view. Invariants: [0, committed) is code that may be running and is
 * changed by patches only; an open reservation begins at committed; nothing behind it was handed out. No lock: the
 * owner has it. Neighbours: code_view.c maps and protects, code_writer.c writes.
 */
#include "base/code_memory.h"

#include "base/alignment.h"
#include "base/assert.h"
#include "base/counters.h"
#include "base/memory_map.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define GUARD_BYTES 16

/* Of a reservation, which is for the longest code that there may be, so much is nearly always enough. */
#define USUAL_BYTES 1024

struct code_memory {
    struct code_view view;
    size_t committed;           /* a multiple of the granule */
    size_t reserved;            /* size of the open reservation; 0: none is open */
    size_t present;             /* so much of it has pages */
    uint8_t guard[GUARD_BYTES]; /* what lies behind the open reservation; debug builds look */
};

static void count_view(const struct code_view *view)
{
    static const enum counter counters[] = {
        [CODE_VIEW_RWX] = COUNTER_code_memory_rwx,
        [CODE_VIEW_DUAL] = COUNTER_code_memory_dual,
        [CODE_VIEW_FREEZE] = COUNTER_code_memory_freeze,
    };

    counter_add(counters[view->mode], 1);
    counter_add(COUNTER_code_bytes_mapped, view->size_bytes);
}

int code_memory_create(const struct code_memory_options *options, struct code_memory **memory_out)
{
    struct code_memory *memory;
    void *storage;
    int result = memory_map(sizeof(*memory), &storage);

    if (result != 0)
        return result;
    memory = storage;
    result = code_view_map(options->size_bytes, options->mode, options->near, &memory->view);
    if (result != 0) {
        memory_unmap(storage, sizeof(*memory));
        return result;
    }
    count_view(&memory->view);
    *memory_out = memory;
    return 0;
}

void code_memory_destroy(struct code_memory *memory)
{
    if (memory == NULL)
        return;
    ASSERT(code_memory_check(memory), "a code memory was damaged");
    code_view_unmap(&memory->view);
    memory_unmap(memory, sizeof(*memory));
}

/* What commits are rounded up to. */
static size_t granule(const struct code_memory *memory)
{
    return memory->view.mode == CODE_VIEW_FREEZE ? memory_page_size() : CODE_MEMORY_ALIGNMENT;
}

#ifdef NDEBUG
/* The page behind a reservation may be one that nobody has touched yet, and need not be. */
static void put_guard(struct code_memory *memory)
{
    (void)memory;
}

static bool is_guard_whole(const struct code_memory *memory)
{
    (void)memory;
    return true;
}
#else
/* The bytes behind an open reservation that are watched: fewer at the end of the memory. */
static size_t guard_size(const struct code_memory *memory)
{
    size_t behind = memory->view.size_bytes - memory->committed - memory->reserved;

    return behind < GUARD_BYTES ? behind : GUARD_BYTES;
}

static const uint8_t *guard_place(const struct code_memory *memory)
{
    return memory->view.executable + memory->committed + memory->reserved;
}

static void put_guard(struct code_memory *memory)
{
    __builtin_memcpy(memory->guard, guard_place(memory), guard_size(memory));
}

static bool is_guard_whole(const struct code_memory *memory)
{
    return __builtin_memcmp(memory->guard, guard_place(memory), guard_size(memory)) == 0;
}
#endif

/* As much of the reservation as will be written, unless it is unusual. */
static void populate(struct code_memory *memory, size_t capacity)
{
    const struct code_view *view = &memory->view;
    size_t end = memory->committed + (capacity < USUAL_BYTES ? capacity : USUAL_BYTES);

    /* Only what is reserved can be written there. */
    if (view->mode != CODE_VIEW_FREEZE)
        memory_populate_ahead(view->writable, view->size_bytes, end, &memory->present);
}

int code_memory_reserve(struct code_memory *memory, size_t capacity, struct code_writer *writer_out)
{
    int result;

    ASSERT(memory->reserved == 0, "reserving code memory while a reservation is open");
    if (memory->reserved != 0)
        return -EBUSY;
    if (capacity == 0)
        return -EINVAL;
    if (capacity > memory->view.size_bytes - memory->committed)
        return -ENOSPC;
    result = code_view_thaw(&memory->view, memory->committed, capacity);
    if (result != 0)
        return result;
    memory->reserved = capacity;
    populate(memory, capacity);
    put_guard(memory);
    code_writer_init(writer_out, memory->view.writable + memory->committed, capacity,
                     cache_pc_of((uintptr_t)memory->view.executable + memory->committed));
    return 0;
}

static bool is_open_writer(const struct code_memory *memory, const struct code_writer *writer)
{
    const uint8_t *start = memory->view.writable + memory->committed;

    return memory->reserved != 0 && writer->start == start && writer->limit == start + memory->reserved &&
           writer->base_pc.value == (uintptr_t)memory->view.executable + memory->committed;
}

static bool stayed_inside(const struct code_memory *memory, const struct code_writer *writer)
{
    return writer->cursor >= writer->start && writer->cursor <= writer->limit && is_guard_whole(memory);
}

/* From here on the writer takes nothing more. */
static void close_reservation(struct code_memory *memory, struct code_writer *writer)
{
    memory->reserved = 0;
    writer->limit = writer->cursor;
}

static void give_up(struct code_memory *memory, struct code_writer *writer)
{
    writer->cursor = writer->start;
    writer->overflowed = true;
    close_reservation(memory, writer);
    counter_add(COUNTER_code_aborts, 1);
}

/* The reservation is the writer's; what can go wrong is what was written. */
static int keep(struct code_memory *memory, const struct code_writer *writer)
{
    if (code_writer_overflowed(writer)) {
        counter_add(COUNTER_code_overflows, 1);
        return -ENOSPC;
    }
    ASSERT(stayed_inside(memory, writer), "code was written outside of its reservation");
    if (!stayed_inside(memory, writer))
        return -EINVAL;
    return code_view_freeze(&memory->view, memory->committed, code_writer_offset(writer));
}

int code_memory_commit(struct code_memory *memory, struct code_writer *writer)
{
    size_t written, kept;
    int result;

    ASSERT(is_open_writer(memory, writer), "committing what is not the open reservation");
    if (!is_open_writer(memory, writer))
        return -EINVAL;
    result = keep(memory, writer);
    if (result != 0) {
        give_up(memory, writer);
        return result;
    }
    written = code_writer_offset(writer);
    kept = align_up(written, granule(memory));
    close_reservation(memory, writer);
    memory->committed += kept;
    counter_add(COUNTER_code_commits, 1);
    counter_add(COUNTER_code_bytes_committed, kept);
    return 0;
}

void code_memory_abort(struct code_memory *memory, struct code_writer *writer)
{
    ASSERT(is_open_writer(memory, writer), "aborting what is not the open reservation");
    if (is_open_writer(memory, writer))
        give_up(memory, writer);
}

/* Release: whoever fetches the new bytes also finds what they lead to, which was committed before. */
static void store(uint8_t *place, uint64_t value, size_t size_bytes)
{
    switch (size_bytes) {
    case 1:
        atomic_store_explicit((_Atomic uint8_t *)place, (uint8_t)value, memory_order_release);
        break;
    case 2:
        atomic_store_explicit((_Atomic uint16_t *)(void *)place, (uint16_t)value, memory_order_release);
        break;
    case 4:
        atomic_store_explicit((_Atomic uint32_t *)(void *)place, (uint32_t)value, memory_order_release);
        break;
    default:
        atomic_store_explicit((_Atomic uint64_t *)(void *)place, value, memory_order_release);
        break;
    }
}

static bool is_one_store(uint64_t place, size_t size_bytes)
{
    return (size_bytes == 1 || size_bytes == 2 || size_bytes == 4 || size_bytes == 8) && place % size_bytes == 0;
}

/* Where the place is in the memory; wraps to something larger for a place before it. */
static uint64_t offset_of(const struct code_memory *memory, struct cache_pc place)
{
    return place.value - (uintptr_t)memory->view.executable;
}

static int patch(struct code_memory *memory, size_t offset, uint64_t value, size_t size_bytes)
{
    int result = code_view_thaw(&memory->view, offset, size_bytes);

    if (result != 0)
        return result;
    store(memory->view.writable + offset, value, size_bytes);
    counter_add(COUNTER_code_patches, 1);
    return code_view_freeze(&memory->view, offset, size_bytes);
}

int code_memory_patch(struct code_memory *memory, struct cache_pc place, uint64_t value, size_t size_bytes)
{
    uint64_t offset = offset_of(memory, place);
    bool one_store = is_one_store(place.value, size_bytes);
    /* Aligned, so that its first byte decides for all: committed is a multiple of every size. */
    bool inside = offset < memory->committed;

    ASSERT(one_store, "patching code with something else than one aligned store");
    if (!one_store)
        return -EINVAL;
    ASSERT(inside, "patching outside of committed code");
    if (!inside)
        return -ERANGE;
    return patch(memory, (size_t)offset, value, size_bytes);
}

bool code_memory_patches_are_live(const struct code_memory *memory)
{
    return memory->view.mode != CODE_VIEW_FREEZE;
}

enum code_view_mode code_memory_mode(const struct code_memory *memory)
{
    return memory->view.mode;
}

struct cache_pc code_memory_start(const struct code_memory *memory)
{
    return cache_pc_of((uintptr_t)memory->view.executable);
}

size_t code_memory_size(const struct code_memory *memory)
{
    return memory->view.size_bytes;
}

size_t code_memory_committed(const struct code_memory *memory)
{
    return memory->committed;
}

size_t code_memory_room(const struct code_memory *memory)
{
    return memory->view.size_bytes - memory->committed;
}

bool code_memory_check(const struct code_memory *memory)
{
    const struct code_view *view = &memory->view;

    if (view->executable == NULL || view->writable == NULL || view->mode == CODE_VIEW_AUTO)
        return false;
    if ((view->writable == view->executable) != (view->mode != CODE_VIEW_DUAL))
        return false;
    return memory->committed <= view->size_bytes && memory->committed % granule(memory) == 0 &&
           memory->reserved <= view->size_bytes - memory->committed;
}
