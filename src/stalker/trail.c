/* SPDX-License-Identifier: MIT */
/*
 * A point is one byte where both sides went on by the same few bytes and nothing has to be undone. Else a byte with bit
 * 7 set, two numbers for the steps, and the state if it is not plain. Most instructions are copied and need no point.
 */
#include "stalker/trail.h"

#include "arch/engine.h"
#include "gait/cpu_context.h"
#include "gait/stalker.h"
#include "stalker/block.h"
#include "stalker/code_cache.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"

#include <asm/errno.h>

#define STEP_MAX  0x3f
#define IS_COPY   0x40
#define LONG_FORM 0x80
#define HAS_STATE 0x01

struct bytes_reader {
    const uint8_t *cursor;
    const uint8_t *limit;
};

/* Seven bits a byte, the lowest first; bit 7: more follow. Returns what is behind it, as all that write bytes here do.
 */
static inline uint8_t *put_number(uint8_t *bytes, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        *bytes++ = (uint8_t)(number | 0x80);
    *bytes++ = (uint8_t)number;
    return bytes;
}

static uint8_t get_byte(struct bytes_reader *reader)
{
    return reader->cursor == reader->limit ? 0 : *reader->cursor++;
}

static uint64_t get_number(struct bytes_reader *reader)
{
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = get_byte(reader);
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 64);
    return number;
}

/* Small numbers of either sign become small numbers. */
static uint64_t fold_sign(int64_t number)
{
    return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static int64_t unfold_sign(uint64_t number)
{
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

static bool is_plain(const struct trail_state *state)
{
    return trail_state_is_same(state, &trail_plain);
}

static uint8_t *put_state(uint8_t *bytes, const struct trail_state *state)
{
    bytes = put_number(bytes, state->homes);
    bytes = put_number(bytes, fold_sign(state->sp_add));
    *bytes++ = (uint8_t)(state->pc | state->is_pc_register << 2 | state->progress << 3 | state->taking << 5 |
                         state->is_counted << 7);
    *bytes++ = state->scratch_register;
    bytes = put_number(bytes, state->position_back);
    *bytes++ = state->callouts_done;
    return bytes;
}

static void get_state(struct bytes_reader *reader, struct trail_state *state)
{
    uint8_t byte;

    state->homes = (register_set)get_number(reader);
    state->sp_add = (int32_t)unfold_sign(get_number(reader));
    byte = get_byte(reader);
    state->pc = byte & 3;
    state->is_pc_register = byte >> 2 & 1;
    state->progress = byte >> 3 & 3;
    state->taking = byte >> 5 & 3;
    state->is_counted = byte >> 7;
    state->scratch_register = get_byte(reader);
    state->position_back = (uint8_t)get_number(reader);
    state->callouts_done = get_byte(reader);
}

/* At most TRAIL_POINT_BYTES_MAX. */
static uint8_t *put_point(uint8_t *bytes, const struct trail_point *from, const struct trail_point *to)
{
    uint32_t cache_step = to->cache_offset - from->cache_offset;
    int64_t app_step = to->app_offset - from->app_offset;
    uint8_t copy = to->is_copy ? IS_COPY : 0;
    bool plain = is_plain(&to->state);

    if (plain && app_step == cache_step && cache_step <= STEP_MAX) {
        *bytes++ = (uint8_t)(copy | cache_step);
        return bytes;
    }
    *bytes++ = LONG_FORM | copy | (plain ? 0 : HAS_STATE);
    bytes = put_number(bytes, cache_step);
    bytes = put_number(bytes, fold_sign(app_step));
    return plain ? bytes : put_state(bytes, &to->state);
}

static void get_point(struct bytes_reader *reader, struct trail_point *point)
{
    uint8_t byte = get_byte(reader);

    point->state = (struct trail_state){0};
    point->is_copy = byte & IS_COPY;
    if (!(byte & LONG_FORM)) {
        point->cache_offset += byte & STEP_MAX;
        point->app_offset += byte & STEP_MAX;
        return;
    }
    point->cache_offset += (uint32_t)get_number(reader);
    point->app_offset += unfold_sign(get_number(reader));
    if (byte & HAS_STATE)
        get_state(reader, &point->state);
}

size_t trail_encode(const struct trail_point *points, size_t count, uint8_t *bytes_out, size_t capacity)
{
    static const struct trail_point start = {0};
    const struct trail_point *last = &start;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        /* Of several points at one place the last one holds. */
        if (i + 1 < count && points[i + 1].cache_offset == points[i].cache_offset)
            continue;
        if (capacity - used >= TRAIL_POINT_BYTES_MAX) {
            used = (size_t)(put_point(bytes_out + used, last, &points[i]) - bytes_out);
        } else {
            uint8_t bytes[TRAIL_POINT_BYTES_MAX];
            size_t size = (size_t)(put_point(bytes, last, &points[i]) - bytes);

            if (size > capacity - used)
                return 0;
            __builtin_memcpy(bytes_out + used, bytes, size);
            used += size;
        }
        last = &points[i];
    }
    return used;
}

/* Callouts are those of the first of the copied instructions. */
static void go_on_to(struct trail_point *point, uint32_t cache_offset)
{
    if (cache_offset != point->cache_offset)
        point->state.callouts_done = 0;
    point->app_offset += cache_offset - point->cache_offset;
    point->cache_offset = cache_offset;
}

bool trail_find(const uint8_t *trail, size_t trail_bytes, uint32_t cache_offset, struct trail_point *point_out)
{
    struct bytes_reader reader = {trail, trail + trail_bytes};
    struct trail_point point = {0};
    bool found = false;

    while (reader.cursor < reader.limit) {
        get_point(&reader, &point);
        if (point.cache_offset > cache_offset)
            break;
        *point_out = point;
        found = true;
    }
    if (found && point_out->is_copy)
        go_on_to(point_out, cache_offset);
    return found;
}

bool trail_find_branch(const uint8_t *trail, size_t trail_bytes, struct trail_point *point_out)
{
    struct bytes_reader reader = {trail, trail + trail_bytes};
    struct trail_point point = {0};
    bool found = false;

    while (reader.cursor < reader.limit) {
        get_point(&reader, &point);
        if (point.state.pc != TRAIL_PC_BRANCHED)
            continue;
        *point_out = point;
        found = true;
    }
    return found;
}

/* ---- the program's registers ------------------------------------------------------------------------------------- */

static const struct engine_place *machine_of(const struct code_cache *cache)
{
    return cache->engine->machine->place;
}

static bool has_position(const struct engine_place *machine, const struct trail_state *state)
{
    return state->homes & register_bit(machine->position_register);
}

/* Whether the program's registers are the CPU's, so that a thread that has them can go on there. */
static bool can_enter(const struct engine_place *machine, const struct trail_state *state)
{
    return (state->homes & ~register_bit(machine->position_register)) == 0 && state->sp_add == 0 &&
           state->pc == TRAIL_PC_HERE && state->is_pc_register == 0 && state->scratch_register == 0 &&
           state->position_back == 0;
}

static bool is_same_moment(const struct trail_point *a, const struct trail_point *b)
{
    return a->app_offset == b->app_offset && a->state.callouts_done == b->state.callouts_done;
}

/* The first place from a point on at which all registers are the program's, with the same done as there. */
static bool find_entry_behind(const struct engine_place *machine, const struct code_place *place,
                              const struct trail_point *at, struct trail_point *entry_out)
{
    struct bytes_reader reader = {place->trail, place->trail + place->trail_bytes};
    struct trail_point point = {0};

    while (reader.cursor < reader.limit) {
        get_point(&reader, &point);
        if (point.cache_offset < at->cache_offset || !is_same_moment(&point, at) || !can_enter(machine, &point.state))
            continue;
        *entry_out = point;
        return true;
    }
    return false;
}

/* The last such place before it, with the same counts made. */
static bool find_entry_before(const struct engine_place *machine, const struct code_place *place,
                              const struct trail_point *at, struct trail_point *entry_out)
{
    struct bytes_reader reader = {place->trail, place->trail + place->trail_bytes};
    struct trail_point point = {0};
    bool found = false;

    while (reader.cursor < reader.limit && point.cache_offset < at->cache_offset) {
        get_point(&reader, &point);
        if (point.cache_offset > at->cache_offset || !is_same_moment(&point, at) || !can_enter(machine, &point.state) ||
            point.state.is_counted != at->state.is_counted)
            continue;
        *entry_out = point;
        found = true;
    }
    return found;
}

static bool find_entry(const struct engine_place *machine, const struct code_place *place, const struct trail_point *at,
                       struct trail_point *entry_out)
{
    if (at->state.taking == TRAIL_TAKING_BEGUN) {
        *entry_out = *at;
        return true;
    }
    if (at->state.taking == TRAIL_TAKING_DONE)
        return find_entry_behind(machine, place, at, entry_out);
    return find_entry_before(machine, place, at, entry_out) || find_entry_behind(machine, place, at, entry_out);
}

/*
 * Where the block goes on for a thread that comes back to it. Without a transformer nothing stands between instructions
 * that would matter, and the next block does as well.
 */
static struct callout_behind behind_of(const struct stalker_thread *thread, const struct code_place *place,
                                       const struct trail_point *at, uint64_t cache_pc)
{
    const struct engine_place *machine = machine_of(thread->cache);
    struct callout_behind behind = {.done = at->state.callouts_done};
    struct trail_point entry;

    if (at->state.pc != TRAIL_PC_HERE ||
        (at->state.callouts_done == 0 && thread->cache->configuration.transformer == NULL))
        return (struct callout_behind){0};
    if (can_enter(machine, &at->state)) {
        behind.cache_pc = cache_pc;
        behind.with_position = has_position(machine, &at->state);
    } else if (find_entry(machine, place, at, &entry)) {
        behind.cache_pc = place->start.value + entry.cache_offset;
        behind.with_position = has_position(machine, &entry.state);
    }
    return behind;
}

uint8_t trail_callouts_done_at(const struct code_place *place, struct cache_pc pc)
{
    struct trail_point point;

    if (!trail_find(place->trail, place->trail_bytes, (uint32_t)(pc.value - place->start.value), &point))
        return 0;
    return point.state.callouts_done;
}

bool trail_find_behind(const struct code_cache *cache, const struct code_place *place, struct callout_behind *behind,
                       bool *is_told_out)
{
    const struct engine_place *machine = machine_of(cache);
    struct trail_point start = {.state = {.callouts_done = behind->done}}, entry;

    if (!find_entry_behind(machine, place, &start, &entry))
        return false;
    behind->cache_pc = place->start.value + entry.cache_offset;
    behind->with_position = has_position(machine, &entry.state);
    *is_told_out = entry.state.progress == TRAIL_TOLD;
    return true;
}

static uint64_t pc_of(const struct engine_place *machine, const struct code_place *place,
                      const struct trail_point *point, const struct gait_cpu_context *cpu)
{
    uint64_t place_offset = cpu->pc - place->start.value;
    uint64_t held = cpu->registers[machine->target_register];

    switch ((enum trail_pc)point->state.pc) {
    case TRAIL_PC_IN_TARGET:
    case TRAIL_PC_BRANCHED:
        return held;
    case TRAIL_PC_IN_CHECK:
        return machine->landing_target(place->block->start, (uint32_t)place_offset - point->cache_offset, held);
    default:
        return place->block->start.value + (uint64_t)point->app_offset;
    }
}

/* What was told of the block though it will not run to its end, or the other way round. */
static struct event_cut cut_of(const struct stalker_thread *thread, const struct code_place *place,
                               const struct trail_point *point)
{
    const struct block *block = place->block;
    struct event_cut cut = {
        .is_told = point->state.progress == TRAIL_TOLD,
        .block = block->index,
        .ran_bytes = (uint32_t)point->app_offset,
    };

    cut.is_cut = thread->cache->configuration.events & (GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC) && !block->is_quiet &&
                 point->state.pc == TRAIL_PC_HERE && point->state.progress != TRAIL_LEFT && point->app_offset >= 0 &&
                 point->app_offset < block->size_bytes;
    return cut;
}

/* Of the branch that ends block number `from`, and was to lead to cpu->pc. */
static bool undo_refused(const struct code_cache *cache, uint32_t from, struct gait_cpu_context *cpu)
{
    const struct engine_place *machine = machine_of(cache);
    const struct block *block;
    struct code_place place;
    struct trail_point branch;

    if (!machine->refuses(cpu->pc))
        return false;
    block = code_cache_block(cache, from);
    if (!code_cache_place_at(cache, block->entry, &place) ||
        !trail_find_branch(place.trail, place.trail_bytes, &branch))
        return false;
    cpu->pc = block->start.value + (uint64_t)branch.app_offset;
    cpu->registers[machine->sp_register] += (uint64_t)(int64_t)branch.state.sp_add;
    return true;
}

bool trail_refuse_branch(const struct stalker_thread *thread, struct gait_cpu_context *cpu)
{
    return undo_refused(thread->cache, thread->exit / BLOCK_EXIT_COUNT, cpu);
}

int trail_recover(struct stalker_thread *thread, const struct code_place *place, struct gait_cpu_context *cpu)
{
    const struct engine_place *machine = machine_of(thread->cache);
    uint32_t from = place->block->index;
    const struct trail_state *state;
    struct trail_point point;

    if (!trail_find(place->trail, place->trail_bytes, (uint32_t)(cpu->pc - place->start.value), &point))
        return -ENOENT;
    state = &point.state;
    if (state->pc == TRAIL_PC_IN_CHECK)
        from = machine->landing_source(cpu) / BLOCK_EXIT_COUNT;
    thread->behind = behind_of(thread, place, &point, cpu->pc);
    cpu->pc = pc_of(machine, place, &point, cpu);
    if (has_position(machine, state) && thread->with_position)
        thread->event_position = cpu->registers[machine->position_register] - state->position_back;
    thread->event_cut = cut_of(thread, place, &point);
    for (register_set homes = state->homes; homes != 0; homes &= homes - 1)
        cpu->registers[__builtin_ctz(homes)] = thread->context.registers[__builtin_ctz(homes)];
    if (state->scratch_register != 0)
        cpu->registers[state->scratch_register - 1] = thread->scratch;
    if (state->is_pc_register)
        cpu->registers[machine->pc_register] = cpu->pc;
    if (state->pc != TRAIL_PC_BRANCHED)
        cpu->registers[machine->sp_register] += (uint64_t)(int64_t)state->sp_add;
    if (state->pc != TRAIL_PC_HERE)
        (void)undo_refused(thread->cache, from, cpu);
    return 0;
}
