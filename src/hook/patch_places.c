/* SPDX-License-Identifier: MIT */
/*
 * A window is a run of bytes from the first place to the last one that is still in the same page or the next: it is
 * read, compared, changed and written back as a whole. Bytes between places are written as they were read; nobody
 * else writes code while all threads stand still. No lock: the owner has it.
 */
#include "hook/patch_places.h"

#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/partition_point.h"
#include "process/forced_memory.h"

#include <asm/errno.h>

#define WINDOW_BYTES 8192u

void patch_places_init(struct patch_places *places)
{
    *places = (struct patch_places){0};
}

void patch_places_deinit(struct patch_places *places)
{
    memory_unmap(places->places, places->capacity * sizeof(struct patch_place));
    patch_places_init(places);
}

int patch_places_reserve(struct patch_places *places, size_t count)
{
    size_t capacity = count < 2 * places->capacity ? 2 * places->capacity : count;
    void *memory;
    int result;

    if (count <= places->capacity)
        return 0;
    result = memory_map(capacity * sizeof(struct patch_place), &memory);
    if (result != 0)
        return result;
    memcpy(memory, places->places, places->count * sizeof(struct patch_place));
    memory_unmap(places->places, places->capacity * sizeof(struct patch_place));
    places->places = memory;
    places->capacity = capacity;
    return 0;
}

void patch_places_add(struct patch_places *places, const struct patch_place *place)
{
    places->places[places->count++] = *place;
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

static void sift_down(struct patch_place *places, size_t root, size_t count)
{
    struct patch_place moved = places[root];

    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && places[child + 1].address > places[child].address)
            child++;
        if (places[child].address <= moved.address)
            break;
        places[root] = places[child];
        root = child;
    }
    places[root] = moved;
}

static bool is_sorted(const struct patch_places *places)
{
    for (size_t i = 1; i < places->count; i++)
        if (places->places[i - 1].address > places->places[i].address)
            return false;
    return true;
}

static void sort(struct patch_places *places)
{
    for (size_t i = places->count / 2; i-- > 0;)
        sift_down(places->places, i, places->count);
    for (size_t count = places->count; count > 1; count--) {
        struct patch_place last = places->places[count - 1];

        places->places[count - 1] = places->places[0];
        places->places[0] = last;
        sift_down(places->places, 0, count - 1);
    }
}

int patch_places_sort(struct patch_places *places)
{
    if (!is_sorted(places))
        sort(places);
    for (size_t i = 1; i < places->count; i++)
        if (places->places[i - 1].address + places->places[i - 1].size_bytes > places->places[i].address)
            return -EEXIST;
    return 0;
}

const struct patch_place *patch_places_find(const struct patch_places *places, uint64_t address)
{
    size_t low = PARTITION_POINT(places->count, i, places->places[i].address <= address);

    return low == 0 ? NULL : &places->places[low - 1];
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* Which bytes of a place are expected and which are put. */
enum direction {
    FORWARD,
    BACKWARD,
};

static const uint8_t *expected(const struct patch_place *place, enum direction direction)
{
    return direction == FORWARD ? place->before : place->after;
}

static const uint8_t *wanted(const struct patch_place *place, enum direction direction)
{
    return direction == FORWARD ? place->after : place->before;
}

/* How many places from the first on are in its window. */
static size_t window_count(const struct patch_place *places, size_t count)
{
    uint64_t start = places[0].address, page = memory_page_size();
    size_t taken = 1;

    while (taken < count) {
        const struct patch_place *next = &places[taken], *last = &places[taken - 1];

        if (next->address + next->size_bytes - start > WINDOW_BYTES ||
            next->address / page > (last->address + last->size_bytes) / page + 1)
            break;
        taken++;
    }
    return taken;
}

static size_t window_bytes(const struct patch_place *places, size_t count)
{
    return (size_t)(places[count - 1].address + places[count - 1].size_bytes - places[0].address);
}

static int change_window(const struct patch_place *places, size_t count, enum direction direction,
                         const struct forced_memory *memory, bool is_write)
{
    uint8_t bytes[WINDOW_BYTES];
    uint64_t start = places[0].address;
    size_t size = window_bytes(places, count);

    if (forced_memory_read(memory, start, bytes, size) != size)
        return -EFAULT;
    for (size_t i = 0; i < count; i++) {
        uint8_t *place = bytes + (places[i].address - start);

        if (memcmp(place, expected(&places[i], direction), places[i].size_bytes) != 0)
            return -ESTALE;
        memcpy(place, wanted(&places[i], direction), places[i].size_bytes);
    }
    return is_write ? forced_memory_write(memory, start, bytes, size) : 0;
}

/* *done_out: how many places were changed. */
static int change_all(const struct patch_places *places, enum direction direction, const struct forced_memory *memory,
                      bool is_write, size_t *done_out)
{
    size_t done = 0;
    int result = 0;

    while (done < places->count && result == 0) {
        size_t count = window_count(places->places + done, places->count - done);

        result = change_window(places->places + done, count, direction, memory, is_write);
        done += result == 0 ? count : 0;
    }
    *done_out = done;
    return result;
}

int patch_places_check(const struct patch_places *places, const struct forced_memory *memory)
{
    size_t done;

    return change_all(places, FORWARD, memory, false, &done);
}

/* A window whose write failed in the middle: each place that was changed is brought back by itself. */
static void bring_back_window(const struct patch_place *places, size_t count, const struct forced_memory *memory)
{
    for (size_t i = 0; i < count; i++)
        (void)change_window(&places[i], 1, BACKWARD, memory, true);
}

int patch_places_write(const struct patch_places *places, const struct forced_memory *memory)
{
    struct patch_places changed = *places;
    size_t done, undone;
    int result = change_all(places, FORWARD, memory, true, &done);

    if (result == 0)
        return 0;
    if (done < places->count)
        bring_back_window(places->places + done, window_count(places->places + done, places->count - done), memory);
    changed.count = done;
    (void)change_all(&changed, BACKWARD, memory, true, &undone);
    return result;
}

int patch_places_undo(const struct patch_places *places, const struct forced_memory *memory)
{
    size_t done;

    return change_all(places, BACKWARD, memory, true, &done);
}
