/* SPDX-License-Identifier: MIT */
/*
 * A number that only grows, until there is no more room and it begins anew. Where it begins differs from process to
 * process as images do. Relaxed: nothing is read through it, and the kernel says no to what is in use. Notes are in no
 * order, each taken by who changes its start.
 *
 * The addresses are free where the kernel loads programs that it may load anywhere, below the lowest one of them, and
 * programs do not need them: those that were built with a sanitizer end at once if something is mapped where they will
 * have their shadows. What is left by all of them (of threads, of memory, of addresses) is not much, too little for a
 * ring. So what is huge is elsewhere, the first at a place that they allow as well: they look when they begin.
 */
#include "base/memory_area.h"

#include <stdatomic.h>

#define AREA_LOW    0x550000000000ull
#define AREA_HIGH   0x555000000000ull
#define SPREAD_BITS 24 /* of pages: 64 GiB */
#define PAGE_BITS   12

#define HUGE_BYTES  (16ull << 30)
#define HUGE_FIRST  0x7e8000000000ull
#define HUGE_LOW    0x470000000000ull
#define HUGE_HIGH   0x540000000000ull

#define NOTES       512

struct area_note {
    _Atomic uint64_t start; /* 0: nothing; TAKEN: it is being written */
    _Atomic uint64_t size_bytes;
};

#define TAKEN 1u

static struct {
    _Atomic uint64_t next;    /* 0: nothing was taken yet */
    _Atomic uint64_t huge;    /* how much of what is huge was taken, ever */
    _Atomic bool has_wrapped; /* all of it may be in use */
    _Atomic uint32_t noted;   /* notes from there on were never used */
    struct area_note notes[NOTES];
} area;

/* Images are loaded at random addresses of whole pages, or at much the same ones where nobody wants it random. */
static uint64_t first(void)
{
    uint64_t pages = (uintptr_t)&area >> PAGE_BITS & ((1ull << SPREAD_BITS) - 1);

    return AREA_LOW + (pages << PAGE_BITS);
}

static uint64_t take_huge(size_t size_bytes)
{
    uint64_t taken, place;

    if (size_bytes > HUGE_HIGH - HUGE_LOW)
        return 0;
    taken = atomic_fetch_add_explicit(&area.huge, size_bytes, memory_order_relaxed);
    if (taken == 0)
        return HUGE_FIRST;
    place = HUGE_LOW + taken % (HUGE_HIGH - HUGE_LOW);
    return place <= HUGE_HIGH - size_bytes ? place : HUGE_LOW;
}

uint64_t memory_area_take(size_t size_bytes)
{
    uint64_t expected = 0, taken;

    if (size_bytes >= HUGE_BYTES)
        return take_huge(size_bytes);
    (void)atomic_compare_exchange_strong_explicit(&area.next, &expected, first(), memory_order_relaxed,
                                                  memory_order_relaxed);
    taken = atomic_fetch_add_explicit(&area.next, size_bytes, memory_order_relaxed);
    if (taken <= AREA_HIGH - size_bytes)
        return taken;
    atomic_store_explicit(&area.has_wrapped, true, memory_order_relaxed);
    atomic_store_explicit(&area.next, AREA_LOW + size_bytes, memory_order_relaxed);
    return AREA_LOW;
}

bool memory_area_holds(uint64_t start)
{
    return start >= AREA_LOW && start < AREA_HIGH;
}

static void raise_noted(uint32_t count)
{
    uint32_t noted = atomic_load_explicit(&area.noted, memory_order_relaxed);

    while (noted < count && !atomic_compare_exchange_weak_explicit(&area.noted, &noted, count, memory_order_relaxed,
                                                                   memory_order_relaxed))
        ;
}

void memory_area_note(uint64_t start, size_t size_bytes)
{
    for (uint32_t i = 0; i < NOTES; i++) {
        struct area_note *note = &area.notes[i];
        uint64_t nothing = 0;

        if (!atomic_compare_exchange_strong_explicit(&note->start, &nothing, TAKEN, memory_order_relaxed,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&note->size_bytes, size_bytes, memory_order_relaxed);
        /* Release: pairs with the acquire in is_noted. */
        atomic_store_explicit(&note->start, start, memory_order_release);
        raise_noted(i + 1);
        return;
    }
}

void memory_area_forget(uint64_t start)
{
    uint32_t noted = atomic_load_explicit(&area.noted, memory_order_relaxed);

    for (uint32_t i = 0; i < noted; i++) {
        uint64_t expected = start;

        if (atomic_compare_exchange_strong_explicit(&area.notes[i].start, &expected, 0, memory_order_relaxed,
                                                    memory_order_relaxed))
            return;
    }
}

static bool is_noted(uint64_t start, uint64_t end)
{
    uint32_t noted = atomic_load_explicit(&area.noted, memory_order_relaxed);

    for (uint32_t i = 0; i < noted; i++) {
        uint64_t first = atomic_load_explicit(&area.notes[i].start, memory_order_acquire);
        uint64_t size = atomic_load_explicit(&area.notes[i].size_bytes, memory_order_relaxed);

        if (first > TAKEN && start < first + size && end > first)
            return true;
    }
    return false;
}

bool memory_area_overlaps(uint64_t start, uint64_t end)
{
    bool has_wrapped = atomic_load_explicit(&area.has_wrapped, memory_order_relaxed);
    uint64_t low = has_wrapped ? AREA_LOW : first();
    uint64_t high = has_wrapped ? AREA_HIGH : atomic_load_explicit(&area.next, memory_order_relaxed);

    return (start < high && end > low) || is_noted(start, end);
}
