/* SPDX-License-Identifier: MIT */
/*
 * Stack pointers show which calls a longjmp or an exception left behind, return addresses which call a return belongs
 * to.
 */
#include "ring/event_decoder.h"

#include "base/mapped_array.h"
#include "ring/event_record.h"

#include <asm/errno.h>

#define BATCH 256

/* Events on their way to the receiver. */
struct batch {
    struct event_decoder *decoder;
    uint64_t time;
    size_t count;
    struct gait_event events[BATCH];
};

/* A record, taken apart. */
struct decoded_record {
    enum event_record kind;
    uint32_t number;
    uint32_t depth;
    uint64_t sp;
    uint64_t target;
    uint64_t time;
};

void event_decoder_forget_blocks(struct event_decoder *decoder)
{
    __builtin_memset(decoder->recent, 0, sizeof(decoder->recent));
    decoder->has_emitted = false;
}

void event_decoder_deinit(struct event_decoder *decoder)
{
    MAPPED_ARRAY_RELEASE(decoder->frames, decoder->frame_capacity);
    decoder->frame_count = 0;
}

static void deliver(struct batch *batch)
{
    struct event_decoder *decoder = batch->decoder;

    if (batch->count != 0 && !decoder->is_closed &&
        decoder->receiver.process(decoder->receiver.context, batch->events, batch->count) != 0)
        decoder->is_closed = true;
    batch->count = 0;
}

/* Inline, since nothing is done more often. */
static inline __attribute__((always_inline)) void add(struct batch *batch, uint32_t kind, uint64_t location,
                                                      uint64_t target, int32_t depth)
{
    if (!(batch->decoder->wanted & kind))
        return;
    if (batch->count == BATCH)
        deliver(batch);
    batch->events[batch->count++] = (struct gait_event){
        .kind = kind,
        .depth = depth,
        .location = location,
        .target = target,
        .tid = batch->decoder->tid,
        .time = batch->time,
    };
}

static int32_t depth_of(const struct event_decoder *decoder)
{
    return (int32_t)decoder->frame_count + decoder->depth_below;
}

static uint64_t last_insn_of(const struct event_block *block)
{
    return block->start + block->size_bytes - block->last_insn_bytes;
}

static void enter_call(struct batch *batch, const struct event_block *block, uint64_t sp, uint64_t target)
{
    struct event_decoder *decoder = batch->decoder;

    while (decoder->frame_count > 0 && decoder->frames[decoder->frame_count - 1].sp <= sp)
        decoder->frame_count--;
    add(batch, GAIT_EVENT_CALL, last_insn_of(block), target, depth_of(decoder));
    if (MAPPED_ARRAY_RESERVE(decoder->frames, decoder->frame_capacity, decoder->frame_count + 1) != 0)
        return;
    decoder->frames[decoder->frame_count++] = (struct event_frame){block->start + block->size_bytes, sp};
}

static void leave_call(struct batch *batch, const struct event_block *block, uint64_t target)
{
    struct event_decoder *decoder = batch->decoder;
    size_t frame = decoder->frame_count;

    while (frame > 0 && decoder->frames[frame - 1].return_address != target)
        frame--;
    /* Calls above the one that returns were left by a longjmp. */
    if (frame > 0)
        decoder->frame_count = frame;
    add(batch, GAIT_EVENT_RET, last_insn_of(block), target, depth_of(decoder));
    if (decoder->frame_count == 0)
        decoder->depth_below -= !decoder->is_whole;
    else if (frame > 0)
        decoder->frame_count--;
}

/* Tells the instructions of the block told last that begin in its first ran_bytes. */
static void emit_instructions(struct batch *batch, uint32_t ran_bytes)
{
    struct event_decoder *decoder = batch->decoder;
    const struct event_block *block = &decoder->told;
    struct gait_event event = {.kind = GAIT_EVENT_EXEC, .tid = decoder->tid, .time = decoder->emitted_time};
    uint32_t offset = 0;

    if (!decoder->has_emitted)
        return;
    decoder->has_emitted = false;
    if (block->insn_lengths == NULL)
        return;
    for (uint32_t i = 0; i < block->insn_count && offset < ran_bytes; i++) {
        uint32_t length = block->insn_lengths[i];

        event.location = block->start + offset;
        if (batch->count == BATCH)
            deliver(batch);
        batch->events[batch->count] = event;
        batch->count += !(length & EVENT_INSN_LEFT_OUT);
        offset += length & ~EVENT_INSN_LEFT_OUT;
    }
}

/* Tells a block. Of one that ends here nothing can be cut. */
static inline __attribute__((always_inline)) void emit_block(struct batch *batch, const struct event_block *block,
                                                             bool is_over)
{
    struct event_decoder *decoder = batch->decoder;

    add(batch, GAIT_EVENT_BLOCK, block->start, block->start + block->size_bytes, 0);
    if (!(decoder->wanted & GAIT_EVENT_EXEC))
        return;
    decoder->told = *block;
    decoder->emitted_time = batch->time;
    decoder->has_emitted = true;
    if (is_over)
        emit_instructions(batch, UINT32_MAX);
}

static uint64_t word_at(const uint8_t *place)
{
    uint64_t word;

    __builtin_memcpy(&word, place, sizeof(word));
    return word;
}

/* Returns the record's size. 0: nothing is written there yet; -EPROTO: something that is no record. */
static inline int read_record(struct event_format format, const uint8_t *place, const uint8_t *end,
                              struct decoded_record *record_out)
{
    uint32_t header, bytes;

    if (end - place < 4)
        return place == end ? 0 : -EPROTO;
    /* Pairs with the order of the writer's stores: behind the header all of the record is there. */
    header = __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE);
    if (header == 0)
        return 0;
    *record_out = (struct decoded_record){.kind = event_header_record(header), .number = event_header_number(header)};
    bytes = event_record_bytes(format, record_out->kind);
    if (bytes == 0 || end - place < bytes)
        return -EPROTO;
    if (format.is_hooked)
        record_out->depth = (uint32_t)(word_at(place) >> 32);
    if (event_record_has_sp(record_out->kind))
        record_out->sp = word_at(place + EVENT_SP_OFFSET);
    if (event_record_has_target(record_out->kind))
        record_out->target = word_at(place + event_target_offset(record_out->kind));
    if (event_record_has_time(format, record_out->kind))
        record_out->time = word_at(place + event_time_offset(format, record_out->kind));
    return (int)bytes;
}

const uint8_t *event_records_end(struct event_format format, const uint8_t *place, const uint8_t *end)
{
    struct decoded_record record;
    int size;

    while ((size = read_record(format, place, end, &record)) > 0)
        place += size;
    return place;
}

/* Nobody asks for them: they come with enters and leaves, without which these mean something else. */
static void emit_stack_change(struct batch *batch, const struct decoded_record *record, const struct event_block *block)
{
    if (!(batch->decoder->wanted & EVENTS_HOOKED))
        return;
    if (batch->count == BATCH)
        deliver(batch);
    batch->events[batch->count++] = (struct gait_event){
        .kind = record->kind == EVENT_RECORD_SUSPENDED ? GAIT_EVENT_SUSPEND : GAIT_EVENT_RESUME,
        .depth = (int32_t)(record->depth & ((1u << EVENT_STACK_SHIFT) - 1)),
        .location = block->start,
        .target = record->depth >> EVENT_STACK_SHIFT,
        .tid = batch->decoder->tid,
        .time = batch->time,
    };
}

static void emit_goroutine(struct batch *batch, const struct decoded_record *record)
{
    if (!(batch->decoder->wanted & EVENTS_HOOKED))
        return;
    if (batch->count == BATCH)
        deliver(batch);
    batch->events[batch->count++] = (struct gait_event){
        .kind = GAIT_EVENT_GOROUTINE,
        .target = event_goroutine(record->number, record->depth),
        .tid = batch->decoder->tid,
        .time = record->time,
    };
}

/* A depth that no thread has comes from a lane that somebody else writes; it harms nobody. */
static void emit_hooked(struct batch *batch, const struct decoded_record *record, const struct event_block *block)
{
    bool begins = record->kind == EVENT_RECORD_ENTER || record->kind == EVENT_RECORD_PASSED;

    if (begins)
        add(batch, GAIT_EVENT_ENTER, block->start, 0, (int32_t)record->depth);
    if (record->kind == EVENT_RECORD_ENTER || !(batch->decoder->wanted & GAIT_EVENT_LEAVE))
        return;
    add(batch, GAIT_EVENT_LEAVE, block->start, 0, (int32_t)record->depth);
    batch->events[batch->count - 1].is_unwound = record->kind == EVENT_RECORD_UNWOUND;
    batch->events[batch->count - 1].is_entry_only = record->kind == EVENT_RECORD_PASSED;
}

static void take_record(struct batch *batch, const struct decoded_record *record, const struct event_block *block)
{
    batch->time = record->time;
    switch (record->kind) {
    case EVENT_RECORD_BLOCK:
        emit_block(batch, block, false);
        break;
    case EVENT_RECORD_CALL:
        emit_block(batch, block, true);
        enter_call(batch, block, record->sp, block->call_target);
        break;
    case EVENT_RECORD_CALL_TARGET:
        emit_block(batch, block, true);
        enter_call(batch, block, record->sp, record->target);
        break;
    case EVENT_RECORD_RETURN:
        emit_block(batch, block, true);
        leave_call(batch, block, record->target);
        break;
    case EVENT_RECORD_RETURN_LATE:
        leave_call(batch, block, record->target);
        break;
    case EVENT_RECORD_ENTER:
    case EVENT_RECORD_LEAVE:
    case EVENT_RECORD_UNWOUND:
    case EVENT_RECORD_PASSED:
        emit_hooked(batch, record, block);
        break;
    case EVENT_RECORD_SUSPENDED:
    case EVENT_RECORD_RESUMED:
        emit_stack_change(batch, record, block);
        break;
    default:
        add(batch, GAIT_EVENT_COMPILE, block->start, block->start + block->size_bytes, 0);
        break;
    }
}

/* NULL: there is no such block. */
static const struct event_block *find_block(struct event_decoder *decoder, const struct event_blocks *blocks,
                                            uint32_t number)
{
    struct event_recent_block *recent = &decoder->recent[number % EVENT_RECENT_BLOCKS];

    if (recent->number == number + 1)
        return &recent->block;
    if (!blocks->find(blocks->context, number, &recent->block)) {
        recent->number = 0;
        return NULL;
    }
    recent->number = number + 1;
    return &recent->block;
}

/* Takes records of hooked functions as long as nothing is unusual about them. Returns where that ended. */
static const uint8_t *take_hooked(struct batch *batch, const struct event_blocks *blocks, const uint8_t *place,
                                  const uint8_t *end)
{
    struct event_decoder *decoder = batch->decoder;

    for (; end - place >= EVENT_HOOK_BYTES; place += EVENT_HOOK_BYTES) {
        /* As in read_record. */
        uint32_t header = __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE);
        enum event_record record = event_header_record(header);
        uint32_t kind = record == EVENT_RECORD_ENTER ? GAIT_EVENT_ENTER : GAIT_EVENT_LEAVE;
        const struct event_block *block;

        if (!event_record_is_hooked(record) || event_record_is_of_stack(record) || record == EVENT_RECORD_PASSED ||
            !(decoder->wanted & kind))
            break;
        block = find_block(decoder, blocks, event_header_number(header));
        if (block == NULL)
            break;
        if (batch->count == BATCH)
            deliver(batch);
        if (decoder->is_closed)
            break;
        batch->events[batch->count++] = (struct gait_event){
            .kind = kind,
            .depth = (int32_t)(word_at(place) >> 32),
            .location = block->start,
            .tid = decoder->tid,
            .is_unwound = record == EVENT_RECORD_UNWOUND,
            .time = word_at(place + EVENT_WORD_BYTES),
        };
    }
    return place;
}

/* Takes records of blocks that nothing else is told of, as long as they come. Returns where that ended. */
static const uint8_t *take_blocks(struct batch *batch, const struct event_blocks *blocks, struct event_format format,
                                  const uint8_t *place, const uint8_t *end)
{
    struct event_decoder *decoder = batch->decoder;
    uint32_t bytes = event_record_bytes(format, EVENT_RECORD_BLOCK);
    bool has_time = event_record_has_time(format, EVENT_RECORD_BLOCK);

    for (; bytes != 0 && end - place >= bytes && !decoder->is_closed; place += bytes) {
        /* As in read_record. */
        uint32_t header = __atomic_load_n((const uint32_t *)(const void *)place, __ATOMIC_ACQUIRE);
        const struct event_block *block;

        if (header == 0 || event_header_record(header) != EVENT_RECORD_BLOCK)
            break;
        block = find_block(decoder, blocks, event_header_number(header));
        if (block == NULL)
            break;
        emit_instructions(batch, UINT32_MAX);
        batch->time = has_time ? word_at(place + event_time_offset(format, EVENT_RECORD_BLOCK)) : 0;
        emit_block(batch, block, false);
        if (decoder->is_closed)
            break;
    }
    return place;
}

const uint8_t *event_decoder_run(struct event_decoder *decoder, const struct event_blocks *blocks, const uint8_t *place,
                                 const uint8_t *end, int *error_out)
{
    struct batch batch; /* its events are filled one by one */
    struct event_format format = event_format_of(decoder->wanted, decoder->with_times);
    const struct event_block *block;
    struct decoded_record record;
    int size = 0;

    batch.decoder = decoder;
    batch.count = 0;
    batch.time = 0;
    if (format.is_hooked && !decoder->is_closed)
        place = take_hooked(&batch, blocks, place, end);
    while (!decoder->is_closed && (size = read_record(format, place, end, &record)) > 0) {
        if (record.kind == EVENT_RECORD_CUT) {
            emit_instructions(&batch, record.number);
        } else if (record.kind == EVENT_RECORD_GOROUTINE) {
            emit_goroutine(&batch, &record);
        } else if ((block = find_block(decoder, blocks, record.number)) != NULL) {
            if (decoder->has_emitted && record.kind != EVENT_RECORD_COMPILED)
                emit_instructions(&batch, UINT32_MAX);
            take_record(&batch, &record, block);
        } else {
            size = -EPROTO;
            break;
        }
        /* A record that was under way when the receiver had enough is lost like those behind it. */
        if (decoder->is_closed)
            break;
        place += size;
        /* Blocks come in crowds. */
        if (record.kind == EVENT_RECORD_BLOCK)
            place = take_blocks(&batch, blocks, format, place, end);
        else if (event_record_is_hooked(record.kind))
            place = take_hooked(&batch, blocks, place, end);
    }
    deliver(&batch);
    *error_out = size < 0 ? size : 0;
    return place;
}

void event_decoder_finish(struct event_decoder *decoder)
{
    struct batch batch;

    batch.decoder = decoder;
    batch.count = 0;
    batch.time = 0;
    emit_instructions(&batch, UINT32_MAX);
    deliver(&batch);
}
