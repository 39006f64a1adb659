/* SPDX-License-Identifier: MIT */
/*
 * Records are complete before their size is stored. The kernel is asked whether the page of the stack pointer can be
 * read when that is another one than the last time, and of the next page whenever a window reaches into it.
 */
#include "agent/detail_lane.h"

#include "ring/ring_writer.h"
#include "stalker/program_memory.h"

#define PAGE_BYTES 4096u

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
    lane->position = lane->writer->start;
    lane->give_up = owner->give_up;
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
    uint64_t page = sp & ~(uint64_t)(PAGE_BYTES - 1);

    if (sp % 8 != 0)
        return false;
    if (page == lane->checked_page)
        return true;
    if (!program_memory_is_readable(page, PAGE_BYTES))
        return false;
    lane->checked_page = page;
    return true;
}

/* How much of what is wanted from sp on can be read. */
static uint32_t readable(struct detail_lane *lane, uint64_t sp, uint32_t wanted)
{
    uint32_t in_page = PAGE_BYTES - (uint32_t)(sp % PAGE_BYTES);

    if (!detail_lane_can_read(lane, sp))
        return 0;
    if (wanted <= in_page || program_memory_is_readable(sp + in_page, PAGE_BYTES))
        return wanted;
    return in_page;
}

static void commit(struct detail_lane *lane, uint32_t size_bytes)
{
    uint32_t *place = (uint32_t *)(uintptr_t)lane->position;

    /* Release: pairs with the acquire in detail_record_check. */
    __atomic_store_n(place, size_bytes, __ATOMIC_RELEASE);
    lane->position += size_bytes;
    if (lane->position < lane->writer->end)
        return;
    (void)!ring_writer_next(lane->writer, lane->position, lane->give_up);
    lane->position = lane->writer->start;
}

static uint32_t round_up(uint32_t bytes)
{
    return (bytes + 7) & ~7u;
}

void detail_lane_enter(struct detail_lane *lane, const struct detail_enter *enter, struct detail_values values)
{
    struct detail_enter *place = (struct detail_enter *)(uintptr_t)lane->position;
    uint32_t wanted = enter->stack_bytes, room = DETAIL_STACK_BYTES_MAX - round_up(values.size_bytes);
    uint8_t *behind = (uint8_t *)(place + 1);
    uint64_t sp = enter->record.sp;

    *place = *enter;
    place->record.size_bytes = 0;
    place->record.kind = DETAIL_ENTER;
    wanted = wanted < room ? wanted : room;
    place->stack_bytes = wanted == 0 ? 0 : readable(lane, sp, wanted);
    place->values_bytes = values.size_bytes;
    __builtin_memcpy(behind, (const void *)(uintptr_t)sp, place->stack_bytes);
    behind += round_up(place->stack_bytes);
    __builtin_memcpy(behind, values.bytes, values.size_bytes);
    commit(lane, (uint32_t)sizeof(*place) + round_up(place->stack_bytes) + round_up(values.size_bytes));
}

void detail_lane_leave(struct detail_lane *lane, const struct detail_leave *leave, struct detail_values values)
{
    struct detail_leave *place = (struct detail_leave *)(uintptr_t)lane->position;
    struct detail_leave_values *behind = (struct detail_leave_values *)(void *)(place + 1);
    uint32_t size_bytes = sizeof(*place);

    *place = *leave;
    place->record.size_bytes = 0;
    if (values.size_bytes != 0) {
        *behind = (struct detail_leave_values){.values_bytes = values.size_bytes};
        __builtin_memcpy(behind + 1, values.bytes, values.size_bytes);
        size_bytes += (uint32_t)sizeof(*behind) + round_up(values.size_bytes);
    }
    commit(lane, size_bytes);
}

void detail_lane_stack(struct detail_lane *lane, const struct detail_stack *stack, const uint64_t *addresses)
{
    struct detail_stack *place = (struct detail_stack *)(uintptr_t)lane->position;
    uint32_t addresses_bytes = stack->frame_count * (uint32_t)sizeof(*addresses);

    *place = *stack;
    place->record.size_bytes = 0;
    place->record.kind = DETAIL_STACK;
    __builtin_memcpy(place + 1, addresses, addresses_bytes);
    commit(lane, (uint32_t)sizeof(*place) + addresses_bytes);
}

struct detail_probe *detail_lane_probe_begin(struct detail_lane *lane)
{
    return (struct detail_probe *)(uintptr_t)lane->position;
}

void detail_lane_probe_end(struct detail_lane *lane, const struct detail_probe *probe)
{
    commit(lane, (uint32_t)sizeof(*probe) + round_up(probe->values_bytes));
}
