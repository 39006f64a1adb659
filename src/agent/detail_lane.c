/* SPDX-License-Identifier: MIT */
/*
 * Records are complete before their size is stored. Their place is taken by one instruction, so that signal handlers
 * get others; only the outermost writer, who has no handlers below it that could wait for it, goes to the next buffer.
 * The kernel is asked whether the page of the stack pointer can be read when that is another one than the last time,
 * and of the next page whenever a window reaches into it.
 */
#include "agent/detail_lane.h"

#include "arch/calling_thread.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "hook/hook_thread.h"
#include "ring/event_record.h"
#include "ring/ring_writer.h"
#include "stalker/program_memory.h"

#include <stdatomic.h>

bool detail_lane_open(struct detail_lane *lane, struct ring_region *ring, const struct detail_owner *owner)
{
    const struct ring_lane_owner whose = {.tid = owner->tid, .kind = RING_LANE_DETAIL, .serial = owner->serial};

    if (lane->writer != NULL || lane->has_failed)
        return lane->writer != NULL;
    lane->has_failed = ring_writer_open(ring, &whose, &lane->writer) != 0;
    if (lane->has_failed) {
        ring_region_note_lack(ring);
        return false;
    }
    lane->give_up = owner->give_up;
    atomic_store_explicit(&lane->position, lane->writer->start, memory_order_relaxed);
    return true;
}

void detail_lane_close(struct detail_lane *lane)
{
    if (lane->writer != NULL)
        (void)!ring_writer_close(lane->writer, lane->position);
    *lane = (struct detail_lane){.writer = NULL};
}

void detail_lane_forget(struct detail_lane *lane)
{
    if (lane->writer != NULL)
        ring_writer_forget(lane->writer);
    *lane = (struct detail_lane){.writer = NULL};
}

bool detail_lane_can_read(struct detail_lane *lane, uint64_t sp)
{
    uint64_t page = align_down(sp, MEMORY_PAGE_MIN);

    if (sp % 8 != 0)
        return false;
    if (page == lane->checked_page)
        return true;
    if (!program_memory_is_readable(page, MEMORY_PAGE_MIN))
        return false;
    lane->checked_page = page;
    return true;
}

/* How much of what is wanted from sp on can be read. */
static uint32_t readable(struct detail_lane *lane, uint64_t sp, uint32_t wanted)
{
    uint32_t in_page = (uint32_t)align_rest(sp, MEMORY_PAGE_MIN);

    if (!detail_lane_can_read(lane, sp))
        return 0;
    if (wanted <= in_page || program_memory_is_readable(sp + in_page, MEMORY_PAGE_MIN))
        return wanted;
    return in_page;
}

/* ---- taking room ------------------------------------------------------------------------------------------------- */

/* How far behind the end of a buffer records may go that handlers write while one before them is not complete. */
#define BEHIND_END_BYTES (EVENT_SLACK_BYTES - MEMORY_PAGE_MIN)

/* Release: pairs with the acquire in detail_record_check. */
static void store_size(uint8_t *place, uint32_t size_bytes)
{
    __atomic_store_n((uint32_t *)(void *)place, size_bytes, __ATOMIC_RELEASE);
}

/*
 * A handler interrupted whoever is writing the outermost record, and never returned there, but jumped out of it. The
 * stack tells: this frame is where that one was, or above it. What it had taken is ended as it is.
 */
static void forget_abandoned(struct detail_lane *lane, uint64_t sp)
{
    if (sp <= lane->outer_sp || sp - lane->outer_sp > (1u << 20))
        return;
    if (lane->outer.bytes != NULL)
        store_size(lane->outer.bytes, lane->outer.size_bytes);
    atomic_store_explicit(&lane->nesting, 0, memory_order_relaxed);
}

static struct detail_place take(struct detail_lane *lane, uint32_t size_bytes)
{
    uint64_t position = calling_thread_add(&lane->position, size_bytes);

    if (position + size_bytes <= lane->writer->end + BEHIND_END_BYTES)
        return (struct detail_place){(uint8_t *)(uintptr_t)position, size_bytes};
    atomic_fetch_sub_explicit(&lane->position, size_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&lane->lost_bytes, size_bytes, memory_order_relaxed);
    return (struct detail_place){NULL, 0};
}

static struct detail_place begin(struct detail_lane *lane, uint16_t kind, uint32_t size_bytes)
{
    uint64_t sp = (uintptr_t)__builtin_frame_address(0);
    struct detail_place place;
    uint32_t nesting;

    if (atomic_load_explicit(&lane->nesting, memory_order_relaxed) != 0)
        forget_abandoned(lane, sp);
    /* Handlers leave it as they find it. */
    nesting = atomic_load_explicit(&lane->nesting, memory_order_relaxed);
    atomic_store_explicit(&lane->nesting, nesting + 1, memory_order_relaxed);
    if (nesting != 0) {
        place = take(lane, size_bytes);
    } else {
        lane->outer = (struct detail_place){NULL, 0};
        lane->outer_sp = sp;
        place = lane->outer = take(lane, size_bytes);
    }
    if (place.bytes != NULL)
        ((struct detail_record *)(void *)place.bytes)->kind = kind;
    return place;
}

/* A buffer is done when nobody writes in it any more. No signal may come between its end and the next one's beginning.
 */
static void end(struct detail_lane *lane)
{
    if (atomic_load_explicit(&lane->nesting, memory_order_relaxed) == 1 &&
        atomic_load_explicit(&lane->position, memory_order_relaxed) >= lane->writer->end) {
        uint64_t mask = hook_signals_block();

        (void)!ring_writer_next(lane->writer, atomic_load_explicit(&lane->position, memory_order_relaxed),
                                lane->give_up);
        atomic_store_explicit(&lane->position, lane->writer->start, memory_order_relaxed);
        hook_signals_unblock(mask);
    }
    atomic_store_explicit(&lane->nesting, atomic_load_explicit(&lane->nesting, memory_order_relaxed) - 1,
                          memory_order_relaxed);
}

struct detail_place detail_lane_take(struct detail_lane *lane, uint16_t kind, uint32_t fixed_bytes, uint32_t values_at,
                                     uint32_t values_bytes)
{
    struct detail_place place = begin(lane, kind, fixed_bytes + align_up(values_bytes, 8));

    if (place.bytes == NULL) {
        end(lane);
        return place;
    }
    *(uint32_t *)(void *)(place.bytes + values_at) = align_up(values_bytes, 8);
    return place;
}

void detail_lane_put(struct detail_lane *lane, struct detail_place place, uint32_t fixed_bytes, uint32_t values_at,
                     uint32_t values_bytes)
{
    uint64_t behind = (uintptr_t)place.bytes + place.size_bytes;
    uint32_t size_bytes = fixed_bytes + align_up(values_bytes, 8);

    if (size_bytes == place.size_bytes ||
        atomic_compare_exchange_strong(&lane->position, &behind, (uintptr_t)place.bytes + size_bytes)) {
        *(uint32_t *)(void *)(place.bytes + values_at) = values_bytes;
        place.size_bytes = size_bytes;
    }
    store_size(place.bytes, place.size_bytes);
    end(lane);
}

static void commit(struct detail_lane *lane, struct detail_place place)
{
    store_size(place.bytes, place.size_bytes);
    end(lane);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

void detail_lane_enter(struct detail_lane *lane, const struct detail_enter *enter, struct detail_values values)
{
    uint32_t wanted = enter->stack_bytes, room = DETAIL_STACK_BYTES_MAX - align_up(values.size_bytes, 8);
    uint64_t sp = enter->record.sp;
    struct detail_place place;
    struct detail_enter *record;
    uint8_t *behind;

    wanted = wanted < room ? wanted : room;
    wanted = wanted == 0 ? 0 : readable(lane, sp, wanted);
    place = begin(lane, DETAIL_ENTER, (uint32_t)sizeof(*record) + align_up(wanted, 8) + align_up(values.size_bytes, 8));
    if (place.bytes == NULL) {
        end(lane);
        return;
    }
    record = (struct detail_enter *)(void *)place.bytes;
    *record = *enter;
    record->record.size_bytes = 0;
    record->record.kind = DETAIL_ENTER;
    record->stack_bytes = wanted;
    record->values_bytes = values.size_bytes;
    behind = place.bytes + sizeof(*record);
    __builtin_memcpy(behind, (const void *)(uintptr_t)sp, wanted);
    if (values.size_bytes > 0)
        __builtin_memcpy(behind + align_up(wanted, 8), values.bytes, values.size_bytes);
    commit(lane, place);
}

void detail_lane_leave(struct detail_lane *lane, const struct detail_leave *leave, struct detail_values values)
{
    uint32_t values_bytes =
        values.size_bytes == 0 ? 0 : (uint32_t)sizeof(struct detail_leave_values) + align_up(values.size_bytes, 8);
    struct detail_place place = begin(lane, leave->record.kind, (uint32_t)sizeof(*leave) + values_bytes);
    struct detail_leave *record = (struct detail_leave *)(void *)place.bytes;
    struct detail_leave_values *behind = (struct detail_leave_values *)(void *)(place.bytes + sizeof(*leave));

    if (place.bytes == NULL) {
        end(lane);
        return;
    }
    *record = *leave;
    record->record.size_bytes = 0;
    if (values.size_bytes != 0) {
        *behind = (struct detail_leave_values){.values_bytes = values.size_bytes};
        __builtin_memcpy(behind + 1, values.bytes, values.size_bytes);
    }
    commit(lane, place);
}

void detail_lane_stack(struct detail_lane *lane, const struct detail_stack *stack, const uint64_t *addresses)
{
    uint32_t addresses_bytes = stack->frame_count * (uint32_t)sizeof(*addresses);
    struct detail_place place = begin(lane, DETAIL_STACK, (uint32_t)sizeof(*stack) + addresses_bytes);
    struct detail_stack *record = (struct detail_stack *)(void *)place.bytes;

    if (place.bytes == NULL) {
        end(lane);
        return;
    }
    *record = *stack;
    record->record.size_bytes = 0;
    record->record.kind = DETAIL_STACK;
    __builtin_memcpy(record + 1, addresses, addresses_bytes);
    commit(lane, place);
}
