/* SPDX-License-Identifier: MIT */
#include "stalker/event_buffer.h"

#include "arch/engine.h"
#include "ring/event_record.h"
#include "stalker/code_cache.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"

#include <errno.h>

#define EVENTS_MAX 4096
#define TID        4711

static struct event_buffer *buffer;
static struct code_cache *cache;
static uint64_t position;

/* What the receiver got. */
static struct gait_event received[EVENTS_MAX];
static size_t received_count, batch_count, receiver_limit;

static int receive(void *context, const struct gait_event *events, size_t count)
{
    CHECK(context == &received);
    CHECK(count > 0);
    batch_count++;
    for (size_t i = 0; i < count && received_count < EVENTS_MAX; i++)
        received[received_count++] = events[i];
    return received_count >= receiver_limit ? -EIO : 0;
}

static const struct indirect_form table_form = {.within = {0x10000, 0x7fff0000}};
static const struct engine_emit emit = {.indirect = &table_form};
static const struct engine machine = {.emit = &emit};

static void begin(uint32_t events)
{
    static struct stalker_engine engine = {.machine = &machine};
    struct code_cache_options options = {.engine = &engine, .configuration = {.events = events}};

    CHECK_EQUAL(code_cache_create(&options, &cache), 0);
    CHECK_EQUAL(event_buffer_create(1 << 16, &buffer), 0);
    event_buffer_set(buffer, events, false, (struct event_receiver){receive, &received});
    buffer->decoder.tid = TID;
    position = buffer->start;
    received_count = batch_count = 0;
    receiver_limit = SIZE_MAX;
}

static void end(void)
{
    event_buffer_destroy(buffer);
    code_cache_destroy(cache);
}

/* A block of three instructions, 1, 2 and 5 bytes long, whose exit 0 leads to `target`. */
static const struct block *add_block(uint64_t start, uint64_t target)
{
    static const uint8_t lengths[] = {1, 2, 5};
    struct block_notes *notes = NULL;
    struct cache_slab *slab;
    struct block *block;

    mutex_lock(&cache->lock);
    block = code_cache_new_block(cache);
    block->start = app_pc_of(start);
    CHECK_EQUAL(code_cache_slab(cache, block->start, 1, 1, &slab), 0);
    block->slab = (uint16_t)(slab->number + 1);
    notes = code_cache_add_notes(cache, block, 0, sizeof(lengths));
    mutex_unlock(&cache->lock);
    memcpy(notes->bytes, lengths, sizeof(lengths));
    block_set_original(block, 3, 8, 5);
    block_exit_set_target(&block->exits[0], app_pc_of(target));
    return block;
}

static void put_header(const struct block *block, enum event_record record)
{
    uint32_t header = event_header(block->index, record);

    memcpy((void *)(uintptr_t)position, &header, sizeof(header));
    position += event_format_of(cache->configuration.events, false).is_wide ? 8 : 4;
}

static void put_word(uint64_t value)
{
    memcpy((void *)(uintptr_t)position, &value, sizeof(value));
    position += sizeof(value);
}

static void put_block(const struct block *block)
{
    put_header(block, EVENT_RECORD_BLOCK);
}

static void put_call(const struct block *block, uint64_t sp)
{
    put_header(block, EVENT_RECORD_CALL);
    put_word(sp);
}

static void put_return(const struct block *block, uint64_t target)
{
    put_header(block, EVENT_RECORD_RETURN);
    put_word(target);
}

static void drain(void)
{
    static const _Atomic uint32_t never;

    position = event_buffer_drain(buffer, cache, position, EVENT_PLACE_BETWEEN_BLOCKS, &never);
    CHECK_EQUAL(position, buffer->start);
}

static void check_event(size_t index, uint32_t kind, uint64_t location, uint64_t target, int32_t depth)
{
    const struct gait_event *event = &received[index];

    CHECK(index < received_count);
    CHECK_EQUAL(event->kind, kind);
    CHECK_EQUAL(event->location, location);
    CHECK_EQUAL(event->target, target);
    CHECK_EQUAL(event->depth, depth);
    CHECK_EQUAL(event->tid, TID);
    CHECK_EQUAL(event->is_unwound, 0);
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

static bool byte_says_full(uint64_t place)
{
    return (uint8_t)(place >> (8 * EVENT_FULL_BYTE)) == 0;
}

static void check_places(size_t size_bytes, size_t expected_bytes)
{
    struct event_buffer *made = NULL;

    CHECK_EQUAL(event_buffer_create(size_bytes, &made), 0);
    if (made == NULL)
        return;
    CHECK_EQUAL(made->end - made->start, expected_bytes);
    CHECK_EQUAL(made->end % EVENT_END_ALIGNMENT, 0);
    CHECK_EQUAL(made->start % 8, 0);
    for (uint64_t place = made->start; place < made->end; place += 4096)
        CHECK(!byte_says_full(place));
    CHECK(!byte_says_full(made->end - 4));
    CHECK(byte_says_full(made->end));
    CHECK(byte_says_full(made->end + EVENT_SLACK_BYTES - 1));
    /* All of it can be written, the slack too. */
    *(uint8_t *)(uintptr_t)made->start = 1;
    *(uint8_t *)(uintptr_t)(made->end + EVENT_SLACK_BYTES - 1) = 1;
    event_buffer_destroy(made);
}

static void a_byte_of_the_position_tells_whether_the_buffer_is_full(void)
{
    check_places(1, 4096);
    check_places(4096, 4096);
    check_places(4097, 8192);
    check_places(1 << 20, 1 << 20);
    check_places(8 << 20, 8 << 20);
}

static void sizes_that_cannot_be_are_refused(void)
{
    struct event_buffer *untouched = NULL;

    CHECK_EQUAL(event_buffer_create(0, &untouched), -EINVAL);
    CHECK_EQUAL(event_buffer_create((8u << 20) + 1, &untouched), -EINVAL);
    CHECK_EQUAL(event_buffer_create(SIZE_MAX, &untouched), -EINVAL);
    CHECK(untouched == NULL);
    event_buffer_destroy(NULL);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void block_records_of_four_bytes_become_events(void)
{
    const struct block *first, *second;

    begin(GAIT_EVENT_BLOCK);
    first = add_block(0x1000, 0);
    second = add_block(0x2000, 0);
    put_block(second);
    put_block(first);
    put_block(second);
    CHECK_EQUAL(position - buffer->start, 12);
    drain();
    CHECK_EQUAL(received_count, 3);
    CHECK_EQUAL(batch_count, 1);
    check_event(0, GAIT_EVENT_BLOCK, 0x2000, 0x2008, 0);
    check_event(1, GAIT_EVENT_BLOCK, 0x1000, 0x1008, 0);
    check_event(2, GAIT_EVENT_BLOCK, 0x2000, 0x2008, 0);
    end();
}

static void instructions_are_told_apart_by_their_lengths(void)
{
    begin(GAIT_EVENT_EXEC);
    put_block(add_block(0x1000, 0));
    drain();
    CHECK_EQUAL(received_count, 3);
    check_event(0, GAIT_EVENT_EXEC, 0x1000, 0, 0);
    check_event(1, GAIT_EVENT_EXEC, 0x1001, 0, 0);
    check_event(2, GAIT_EVENT_EXEC, 0x1003, 0, 0);
    end();
}

static void calls_and_returns_have_places_targets_and_depths(void)
{
    const struct block *direct, *indirect, *leave;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    direct = add_block(0x1000, 0x5000);
    indirect = add_block(0x5000, 0);
    leave = add_block(0x6000, 0);
    put_call(direct, 0x8000);
    put_header(indirect, EVENT_RECORD_CALL_TARGET);
    put_word(0x7ff0);
    put_word(0x6000);
    put_return(leave, 0x5008);
    put_return(leave, 0x1008);
    drain();
    CHECK_EQUAL(received_count, 4);
    check_event(0, GAIT_EVENT_CALL, 0x1003, 0x5000, 0);
    check_event(1, GAIT_EVENT_CALL, 0x5003, 0x6000, 1);
    check_event(2, GAIT_EVENT_RET, 0x6003, 0x5008, 2);
    check_event(3, GAIT_EVENT_RET, 0x6003, 0x1008, 1);
    end();
}

static void a_record_of_a_call_stands_for_its_block_too(void)
{
    begin(GAIT_EVENT_CALL | GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC);
    put_call(add_block(0x1000, 0x5000), 0x8000);
    put_block(add_block(0x5000, 0));
    drain();
    CHECK_EQUAL(received_count, 9);
    check_event(0, GAIT_EVENT_BLOCK, 0x1000, 0x1008, 0);
    check_event(3, GAIT_EVENT_EXEC, 0x1003, 0, 0);
    check_event(4, GAIT_EVENT_CALL, 0x1003, 0x5000, 0);
    check_event(5, GAIT_EVENT_BLOCK, 0x5000, 0x5008, 0);
    end();
}

static void only_wanted_kinds_are_handed_over(void)
{
    const struct block *call, *leave;

    begin(GAIT_EVENT_RET);
    call = add_block(0x1000, 0x5000);
    leave = add_block(0x5000, 0);
    put_call(call, 0x8000);
    put_return(leave, 0x1008);
    drain();
    CHECK_EQUAL(received_count, 1);
    check_event(0, GAIT_EVENT_RET, 0x5003, 0x1008, 1);
    end();
}

static void translations_are_announced(void)
{
    const struct block *block;

    begin(GAIT_EVENT_COMPILE | GAIT_EVENT_BLOCK);
    block = add_block(0x1000, 0);
    put_header(block, EVENT_RECORD_COMPILED);
    put_block(block);
    drain();
    CHECK_EQUAL(received_count, 2);
    check_event(0, GAIT_EVENT_COMPILE, 0x1000, 0x1008, 0);
    check_event(1, GAIT_EVENT_BLOCK, 0x1000, 0x1008, 0);
    end();
}

/* ---- depth ------------------------------------------------------------------------------------------------------- */

static void depth_goes_on_from_one_buffer_to_the_next(void)
{
    const struct block *call, *leave;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    call = add_block(0x1000, 0x1000);
    leave = add_block(0x5000, 0);
    /* More than the frames that there is room for at first. */
    for (int i = 0; i < 5000; i++) {
        put_call(call, 0x80000000 - 16 * (uint64_t)i);
        if (i % 1000 == 999) {
            received_count = 0;
            drain();
            check_event(999, GAIT_EVENT_CALL, 0x1003, 0x1000, i);
        }
    }
    received_count = 0;
    for (int i = 0; i < 3; i++)
        put_return(leave, 0x1008);
    drain();
    check_event(0, GAIT_EVENT_RET, 0x5003, 0x1008, 5000);
    check_event(2, GAIT_EVENT_RET, 0x5003, 0x1008, 4998);
    end();
}

static void returns_above_the_start_have_negative_depths(void)
{
    const struct block *call, *leave;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    call = add_block(0x1000, 0x5000);
    leave = add_block(0x5000, 0);
    put_return(leave, 0x9000);
    put_return(leave, 0x9100);
    put_call(call, 0x8000);
    put_return(leave, 0x1008);
    drain();
    check_event(0, GAIT_EVENT_RET, 0x5003, 0x9000, 0);
    check_event(1, GAIT_EVENT_RET, 0x5003, 0x9100, -1);
    check_event(2, GAIT_EVENT_CALL, 0x1003, 0x5000, -2);
    check_event(3, GAIT_EVENT_RET, 0x5003, 0x1008, -1);
    end();
}

static void calls_that_a_long_jump_left_are_not_counted(void)
{
    const struct block *call, *other;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    call = add_block(0x1000, 0x5000);
    other = add_block(0x2000, 0x5000);
    put_call(call, 0x8000);
    put_call(call, 0x7f00);
    put_call(call, 0x7e00);
    /* Back in the function that was called first. */
    put_call(other, 0x7f00);
    put_call(other, 0x7e80);
    drain();
    check_event(2, GAIT_EVENT_CALL, 0x1003, 0x5000, 2);
    check_event(3, GAIT_EVENT_CALL, 0x2003, 0x5000, 1);
    check_event(4, GAIT_EVENT_CALL, 0x2003, 0x5000, 2);
    end();
}

static void a_return_after_a_long_jump_has_the_depth_of_its_function(void)
{
    const struct block *outer, *inner, *leave;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    outer = add_block(0x1000, 0x5000);
    inner = add_block(0x2000, 0x5000);
    leave = add_block(0x5000, 0);
    put_call(outer, 0x8000);
    put_call(inner, 0x7f00);
    put_call(inner, 0x7e00);
    /* The function called by `outer` returns, without another call since the jump. */
    put_return(leave, 0x1008);
    put_call(outer, 0x8000);
    drain();
    check_event(3, GAIT_EVENT_RET, 0x5003, 0x1008, 1);
    check_event(4, GAIT_EVENT_CALL, 0x1003, 0x5000, 0);
    end();
}

static void returns_that_belong_to_no_call_change_nothing(void)
{
    const struct block *call, *leave;

    begin(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    call = add_block(0x1000, 0x5000);
    leave = add_block(0x5000, 0);
    put_call(call, 0x8000);
    put_return(leave, 0x4444);
    put_return(leave, 0x1008);
    drain();
    check_event(1, GAIT_EVENT_RET, 0x5003, 0x4444, 1);
    check_event(2, GAIT_EVENT_RET, 0x5003, 0x1008, 1);
    end();
}

/* ---- receivers --------------------------------------------------------------------------------------------------- */

static void many_events_come_in_batches_and_in_order(void)
{
    const struct block *block;

    begin(GAIT_EVENT_EXEC);
    block = add_block(0x1000, 0);
    for (int i = 0; i < 1000; i++)
        put_block(block);
    drain();
    CHECK_EQUAL(received_count, 3000);
    CHECK(batch_count > 1);
    for (size_t i = 0; i < received_count; i++)
        if (received[i].location != 0x1000u + (i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 3))
            CHECK_EQUAL(received[i].location, i);
    drain();
    CHECK_EQUAL(received_count, 3000);
    end();
}

static void without_a_receiver_records_are_counted(void)
{
    begin(GAIT_EVENT_BLOCK);
    buffer->decoder.receiver.process = NULL;
    put_block(add_block(0x1000, 0));
    put_block(add_block(0x2000, 0));
    drain();
    CHECK_EQUAL(buffer->lost_bytes, 8);
    put_block(add_block(0x3000, 0));
    drain();
    CHECK_EQUAL(buffer->lost_bytes, 12);
    CHECK_EQUAL(received_count, 0);
    end();
}

static void after_an_error_nothing_more_is_handed_over(void)
{
    const struct block *block;

    begin(GAIT_EVENT_BLOCK);
    receiver_limit = 1;
    block = add_block(0x1000, 0);
    put_block(block);
    drain();
    CHECK_EQUAL(batch_count, 1);
    CHECK_EQUAL(buffer->lost_bytes, 0);
    put_block(block);
    drain();
    CHECK_EQUAL(batch_count, 1);
    CHECK_EQUAL(buffer->lost_bytes, 4);
    end();
}

static void what_an_error_leaves_in_the_buffer_is_counted(void)
{
    const struct block *block;

    begin(GAIT_EVENT_BLOCK);
    receiver_limit = 1;
    block = add_block(0x1000, 0);
    for (int i = 0; i < 3000; i++)
        put_block(block);
    drain();
    CHECK_EQUAL(batch_count, 1);
    CHECK_EQUAL(buffer->lost_bytes, 4 * (3000 - received_count));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(a_byte_of_the_position_tells_whether_the_buffer_is_full),
    CHECK_CASE(sizes_that_cannot_be_are_refused),
    CHECK_CASE(block_records_of_four_bytes_become_events),
    CHECK_CASE(instructions_are_told_apart_by_their_lengths),
    CHECK_CASE(calls_and_returns_have_places_targets_and_depths),
    CHECK_CASE(a_record_of_a_call_stands_for_its_block_too),
    CHECK_CASE(only_wanted_kinds_are_handed_over),
    CHECK_CASE(translations_are_announced),
    CHECK_CASE(depth_goes_on_from_one_buffer_to_the_next),
    CHECK_CASE(returns_above_the_start_have_negative_depths),
    CHECK_CASE(calls_that_a_long_jump_left_are_not_counted),
    CHECK_CASE(a_return_after_a_long_jump_has_the_depth_of_its_function),
    CHECK_CASE(returns_that_belong_to_no_call_change_nothing),
    CHECK_CASE(many_events_come_in_batches_and_in_order),
    CHECK_CASE(without_a_receiver_records_are_counted),
    CHECK_CASE(after_an_error_nothing_more_is_handed_over),
    CHECK_CASE(what_an_error_leaves_in_the_buffer_is_counted),
};

CHECK_MAIN(cases)
