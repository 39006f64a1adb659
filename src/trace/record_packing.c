/* SPDX-License-Identifier: MIT */
/*
 * Each direction has a loop for records that are as guessed, made for each of the three forms of records by inlining,
 * and a function for one record of any kind. The loops check nothing but that there is room: what is unusual they leave
 * to the function. Packed bytes are operations, each of which tells of one record what was guessed wrongly:
 *
 *   1 byte          run << 4 | enum wrong_guess. The run is how many records before this one were guessed; 15: see
 * below varint          if that is 15: by how many more than 15 3 or 4 bytes    if the header is told: header << 1 |
 * whether there are 4 varint          if the sp is told: how far it is above that of the frame, zigzag varint if the
 * target is told: how far it is above the one told last, zigzag
 *
 * Of hooked functions the depth takes the place of the sp: it is told how far it is above the guess.
 *
 * Times are apart, behind the operations, so that a guessed record needs no operation for it: 2 bytes with how much
 * later than the last one it is, or 0xffff and then 8. In front is how many bytes of operations there are.
 */
#include "trace/record_packing.h"

#include "trace/record_predictor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE    __attribute__((always_inline)) static inline

#define RUN_SHORT        15u
#define HEADER_MAX       0x7fffffffu
#define HEADER_SHORT     (1u << 23) /* those below take 3 bytes */
#define TIME_LONG        0xffffu
#define VARINT_BYTES_MAX 10
/* The longest, and one byte that is written and not used. */
#define OPERATION_BYTES_MAX (1 + 4 + 3 * VARINT_BYTES_MAX + 1)

enum wrong_guess {
    WRONG_HEADER_FIRST = 1, /* it is the second guess */
    WRONG_HEADER_BOTH,      /* it is told */
    WRONG_END,              /* no record follows those that were guessed */
    WRONG_HEADER_MASK = 3,
    WRONG_SP = 4,
    WRONG_TARGET = 8,
};

int record_predictor_create(struct record_predictor **predictor_out)
{
    struct record_predictor *predictor = malloc(sizeof(*predictor));

    if (predictor == NULL)
        return -ENOMEM;
    *predictor_out = predictor;
    return 0;
}

void record_predictor_destroy(struct record_predictor *predictor)
{
    free(predictor);
}

static inline uint64_t load(const uint8_t *place, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, place, bytes);
    return value;
}

/* Small numbers for small differences, in either direction. */
static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

struct packer {
    struct record_predictor *predictor;
    struct predictor_place at;
    const uint8_t *place;
    const uint8_t *end;
    uint64_t run;          /* records that were guessed since the last operation */
    uint64_t record_count; /* up to the last operation */
    uint64_t last_target;
    uint64_t last_time;
    uint8_t *operations;
    const uint8_t *operations_last; /* there is room for one there */
    uint8_t *times;                 /* there is room for all */
};

static inline uint8_t *put_varint(uint8_t *place, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *place++ = (uint8_t)(value | 0x80);
    *place++ = (uint8_t)value;
    return place;
}

static inline uint8_t *put_time(uint8_t *place, uint64_t later)
{
    uint16_t word = (uint16_t)(later < TIME_LONG ? later : TIME_LONG);

    memcpy(place, &word, sizeof(word));
    if (word != TIME_LONG)
        return place + sizeof(word);
    memcpy(place + sizeof(word), &later, sizeof(later));
    return place + sizeof(word) + sizeof(later);
}

static inline bool call_is_guessed(struct record_predictor *predictor, uint32_t frame, uint32_t block, uint64_t sp)
{
    return predictor_frame(predictor, frame)->sp - predictor_block(predictor, block)->frame_bytes == sp;
}

static inline bool return_is_guessed(struct record_predictor *predictor, uint32_t frame, uint64_t target)
{
    return predictor_block(predictor, predictor_frame(predictor, frame)->block)->returns_to == target;
}

/* The same as pack_guessed, of hooked functions. */
static void pack_hooked_guessed(struct packer *packer)
{
    struct record_predictor *predictor = packer->predictor;
    struct predictor_place at = packer->at;
    const uint8_t *place = packer->place, *end = packer->end;
    uint64_t run = packer->run, last_time = packer->last_time;
    uint8_t *times = packer->times;

    for (; end - place >= EVENT_HOOK_BYTES; run++, place += EVENT_HOOK_BYTES) {
        uint32_t header = (uint32_t)load(place, 4), depth = (uint32_t)load(place + EVENT_DEPTH_OFFSET, 4);
        uint64_t time = load(place + 8, 8);

        if (!event_record_is_hooked(event_header_record(header)) ||
            predictor_header(predictor, at.history)->first != predictor_hook_header(predictor, at.frame, header) ||
            predictor_hook_depth(predictor, at.frame, header) != depth)
            break;
        at.frame = predictor_hook(predictor, at.frame, header, depth);
        at.history = predictor_history(at.history, header);
        times = put_time(times, time - last_time);
        last_time = time;
    }
    packer->at = at;
    packer->place = place;
    packer->run = run;
    packer->last_time = last_time;
    packer->times = times;
}

/* Takes records as long as they are as guessed, and not the last ones. */
ALWAYS_INLINE void pack_guessed(struct packer *packer, struct event_format format)
{
    struct record_predictor *predictor = packer->predictor;
    struct predictor_place at = packer->at;
    const uint8_t *place = packer->place, *end = packer->end;
    const uint32_t header_bytes = format.is_wide ? 8 : 4, time_bytes = format.with_times ? 8 : 0;
    uint64_t run = packer->run, last_time = packer->last_time;
    uint8_t *times = packer->times;

    for (; end - place >= EVENT_RECORD_BYTES_MAX; run++) {
        uint64_t header = load(place, header_bytes);
        enum event_record kind = event_header_record((uint32_t)header);

        if (predictor_header(predictor, at.history)->first != header)
            break;
        if (format.is_wide && event_record_has_sp(kind)) {
            uint32_t block = predictor_block_place(predictor, (uint32_t)header);
            uint64_t sp = load(place + EVENT_SP_OFFSET, 8);

            if (!call_is_guessed(predictor, at.frame, block, sp) ||
                (kind == EVENT_RECORD_CALL_TARGET && load(place + 16, 8) != predictor_block(predictor, block)->target))
                break;
            at.frame = predictor_call(predictor, at.frame, block, sp);
            place += (kind == EVENT_RECORD_CALL_TARGET ? 24 : 16) + time_bytes;
        } else if (format.is_wide && event_record_has_target(kind)) {
            if (!return_is_guessed(predictor, at.frame, load(place + 8, 8)))
                break;
            at.frame = predictor_frame_below(at.frame);
            place += 16 + time_bytes;
        } else if (kind == EVENT_RECORD_BLOCK) {
            place += header_bytes + time_bytes;
        } else {
            break;
        }
        if (format.with_times) {
            uint64_t time = load(place - 8, 8);

            times = put_time(times, time - last_time);
            last_time = time;
        }
        at.history = predictor_history(at.history, (uint32_t)header);
    }
    packer->at = at;
    packer->place = place;
    packer->run = run;
    packer->last_time = last_time;
    packer->times = times;
}

/* What is told of a record, besides the run before it. */
struct packed_record {
    uint32_t wrong; /* of enum wrong_guess */
    uint32_t header;
    uint64_t sp_above;
    uint64_t target_above;
};

static void learn_header(struct header_guess *guess, uint32_t header, struct packed_record *told)
{
    told->header = header;
    if (guess->first == header)
        return;
    told->wrong |= guess->second == header ? WRONG_HEADER_FIRST : WRONG_HEADER_BOTH;
    guess->second = guess->first;
    guess->first = header;
}

static void learn_sp(struct packer *packer, uint32_t block, uint64_t sp, struct packed_record *told)
{
    struct record_predictor *predictor = packer->predictor;

    if (!call_is_guessed(predictor, packer->at.frame, block, sp)) {
        told->wrong |= WRONG_SP;
        told->sp_above = sp - predictor_frame(predictor, packer->at.frame)->sp;
        packer->at.frame = predictor_unwind(predictor, packer->at.frame, block, sp);
    }
    packer->at.frame = predictor_call(predictor, packer->at.frame, block, sp);
}

static void learn_target(struct packer *packer, uint64_t *guess, uint64_t target, struct packed_record *told)
{
    if (*guess == target)
        return;
    told->wrong |= WRONG_TARGET;
    told->target_above = target - packer->last_target;
    *guess = packer->last_target = target;
}

static void put_operation(struct packer *packer, const struct packed_record *told)
{
    uint8_t *place = packer->operations;

    *place++ = (uint8_t)((packer->run < RUN_SHORT ? packer->run : RUN_SHORT) << 4 | told->wrong);
    if (packer->run >= RUN_SHORT)
        place = put_varint(place, packer->run - RUN_SHORT);
    if ((told->wrong & WRONG_HEADER_MASK) == WRONG_HEADER_BOTH) {
        uint32_t is_long = told->header >= HEADER_SHORT, word = told->header << 1 | is_long;

        memcpy(place, &word, sizeof(word));
        place += 3 + is_long;
    }
    if (told->wrong & WRONG_SP)
        place = put_varint(place, zigzag(told->sp_above));
    if (told->wrong & WRONG_TARGET)
        place = put_varint(place, zigzag(told->target_above));
    packer->operations = place;
    packer->record_count += packer->run + ((told->wrong & WRONG_HEADER_MASK) != WRONG_END);
    packer->run = 0;
}

/* Takes the next record, whatever it is. False: it is none, or there is no room. */
ALWAYS_INLINE bool pack_any(struct packer *packer, struct event_format format)
{
    const uint8_t *place = packer->place;
    size_t left = (size_t)(packer->end - place), header_bytes = format.is_wide ? 8 : 4;
    uint64_t header = left < header_bytes ? 0 : load(place, header_bytes);
    enum event_record kind = event_header_record((uint32_t)header);
    uint32_t size = event_record_bytes(format, kind);
    uint32_t block = predictor_block_place(packer->predictor, (uint32_t)header);
    struct packed_record told = {.wrong = 0};

    /* Behind the header there is nothing but zeroes, or it cannot be told. */
    if (size == 0 || left < size || header > HEADER_MAX || packer->operations > packer->operations_last)
        return false;
    learn_header(predictor_header(packer->predictor, packer->at.history), (uint32_t)header, &told);
    packer->at.history = predictor_history(packer->at.history, (uint32_t)header);
    if (event_record_has_target(kind)) {
        uint64_t *guess = predictor_target(packer->predictor, packer->at.frame, block, kind);

        learn_target(packer, guess, load(place + event_target_offset(kind), 8), &told);
    }
    if (event_record_has_sp(kind))
        learn_sp(packer, block, load(place + EVENT_SP_OFFSET, 8), &told);
    else if (event_record_has_target(kind))
        packer->at.frame = predictor_frame_below(packer->at.frame);
    if (event_record_has_time(format, kind)) {
        uint64_t time = load(place + size - 8, 8);

        packer->times = put_time(packer->times, time - packer->last_time);
        packer->last_time = time;
    }
    packer->place += size;
    if (told.wrong == 0)
        packer->run++;
    else
        put_operation(packer, &told);
    return true;
}

ALWAYS_INLINE bool pack(struct packer *packer, struct event_format format)
{
    for (;;) {
        pack_guessed(packer, format);
        if (packer->place == packer->end)
            break;
        if (!pack_any(packer, format))
            return false;
    }
    if (packer->operations > packer->operations_last)
        return false;
    put_operation(packer, &(struct packed_record){.wrong = WRONG_END});
    return true;
}

/* Takes the next record of a hooked function. False: it is none, or there is no room. */
static bool pack_hooked_any(struct packer *packer)
{
    struct record_predictor *predictor = packer->predictor;
    const uint8_t *place = packer->place;
    struct packed_record told = {.wrong = 0};
    uint32_t header, depth, guess;

    if (packer->end - place < EVENT_HOOK_BYTES || packer->operations > packer->operations_last)
        return false;
    header = (uint32_t)load(place, 4);
    depth = (uint32_t)load(place + EVENT_DEPTH_OFFSET, 4);
    if (!event_record_is_hooked(event_header_record(header)) || header > HEADER_MAX)
        return false;
    learn_header(predictor_header(predictor, packer->at.history),
                 predictor_hook_header(predictor, packer->at.frame, header), &told);
    guess = predictor_hook_depth(predictor, packer->at.frame, header);
    if (guess != depth) {
        told.wrong |= WRONG_SP;
        told.sp_above = (uint64_t)depth - guess;
    }
    packer->at.frame = predictor_hook(predictor, packer->at.frame, header, depth);
    packer->at.history = predictor_history(packer->at.history, header);
    packer->times = put_time(packer->times, load(place + 8, 8) - packer->last_time);
    packer->last_time = load(place + 8, 8);
    packer->place += EVENT_HOOK_BYTES;
    if (told.wrong == 0)
        packer->run++;
    else
        put_operation(packer, &told);
    return true;
}

static bool pack_hooked(struct packer *packer)
{
    for (;;) {
        pack_hooked_guessed(packer);
        if (packer->place == packer->end)
            break;
        if (!pack_hooked_any(packer))
            return false;
    }
    if (packer->operations > packer->operations_last)
        return false;
    put_operation(packer, &(struct packed_record){.wrong = WRONG_END});
    return true;
}

/* The three forms of records of followed threads, each with its own loop. */
static bool pack_narrow(struct packer *packer)
{
    return pack(packer, (struct event_format){.is_wide = false});
}

static bool pack_wide(struct packer *packer)
{
    return pack(packer, (struct event_format){.is_wide = true});
}

static bool pack_with_times(struct packer *packer)
{
    return pack(packer, (struct event_format){.is_wide = true, .with_times = true});
}

int record_packing_do(struct record_predictor *predictor, struct event_format format, struct packing_source records,
                      uint8_t *packed, size_t *packed_bytes_out)
{
    uint8_t *operations = packed + (format.with_times ? sizeof(uint32_t) : 0);
    /* A time of 10 bytes at most is in a record of 16 at least, so half of the room is enough for all. */
    uint8_t *times = packed + records.size_bytes;
    struct packer packer = {
        .predictor = predictor,
        .place = records.bytes,
        .end = records.bytes + records.size_bytes,
        .operations = operations,
        .operations_last = times - OPERATION_BYTES_MAX,
        .times = times,
    };
    uint32_t operation_bytes;
    size_t time_bytes;
    bool is_packed;

    if (records.size_bytes < OPERATION_BYTES_MAX + sizeof(operation_bytes) || records.size_bytes > UINT32_MAX)
        return -E2BIG;
    predictor_reset(predictor, records.size_bytes);
    is_packed = format.is_hooked    ? pack_hooked(&packer)
                : format.with_times ? pack_with_times(&packer)
                : format.is_wide    ? pack_wide(&packer)
                                    : pack_narrow(&packer);
    time_bytes = (size_t)(packer.times - times);
    if (!is_packed || (size_t)(packer.operations - packed) + time_bytes >= records.size_bytes)
        return -E2BIG;
    operation_bytes = (uint32_t)(packer.operations - operations);
    if (format.with_times)
        memcpy(packed, &operation_bytes, sizeof(operation_bytes));
    memmove(packer.operations, times, time_bytes);
    predictor->record_count = packer.record_count;
    *packed_bytes_out = (size_t)(packer.operations - packed) + time_bytes;
    return 0;
}

uint64_t record_packing_count(const struct record_predictor *predictor)
{
    return predictor->record_count;
}

/* ---- unpacking --------------------------------------------------------------------------------------------------- */

struct unpacker {
    struct record_predictor *predictor;
    struct predictor_place at;
    const uint8_t *operations;
    const uint8_t *operations_end;
    const uint8_t *times;
    const uint8_t *times_end;
    uint64_t last_target;
    uint64_t last_time;
    uint8_t *place;
    uint8_t *end;
};

static bool take_varint(struct unpacker *unpacker, uint64_t *value_out)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (unpacker->operations == unpacker->operations_end)
            return false;
        value |= (uint64_t)(*unpacker->operations & 0x7f) << shift;
        if (*unpacker->operations++ < 0x80) {
            *value_out = value;
            return true;
        }
    }
    return false;
}

static bool take_time(struct unpacker *unpacker)
{
    size_t left = (size_t)(unpacker->times_end - unpacker->times);
    uint64_t later;

    if (left < 2)
        return false;
    later = load(unpacker->times, 2);
    unpacker->times += 2;
    if (later == TIME_LONG) {
        if (left < 10)
            return false;
        later = load(unpacker->times, 8);
        unpacker->times += 8;
    }
    unpacker->last_time += later;
    return true;
}

static inline void store(uint8_t *place, uint64_t value, size_t bytes)
{
    memcpy(place, &value, bytes);
}

/* Makes up to `run` records as they are guessed. Returns how many are left to be made. */
ALWAYS_INLINE uint64_t unpack_guessed(struct unpacker *unpacker, struct event_format format, uint64_t run)
{
    struct record_predictor *predictor = unpacker->predictor;
    struct predictor_place at = unpacker->at;
    uint8_t *place = unpacker->place, *end = unpacker->end;
    const uint32_t header_bytes = format.is_wide ? 8 : 4, time_bytes = format.with_times ? 8 : 0;
    const uint8_t *times = unpacker->times, *times_end = unpacker->times_end;
    uint64_t last_time = unpacker->last_time;

    for (; run > 0 && end - place >= EVENT_RECORD_BYTES_MAX; run--) {
        uint32_t header = predictor_header(predictor, at.history)->first;
        enum event_record kind = event_header_record(header);

        if (format.with_times && (times_end - times < 2 || load(times, 2) == TIME_LONG))
            break;
        if (format.is_wide && event_record_has_sp(kind)) {
            uint32_t block = predictor_block_place(predictor, header);
            uint64_t sp = predictor_frame(predictor, at.frame)->sp - predictor_block(predictor, block)->frame_bytes;

            at.frame = predictor_call(predictor, at.frame, block, sp);
            store(place, header, 8);
            store(place + EVENT_SP_OFFSET, sp, 8);
            store(place + 16, predictor_block(predictor, block)->target, 8);
            place += (kind == EVENT_RECORD_CALL_TARGET ? 24 : 16) + time_bytes;
        } else if (format.is_wide && event_record_has_target(kind)) {
            store(place, header, 8);
            store(place + 8, *predictor_target(predictor, at.frame, 0, kind), 8);
            at.frame = predictor_frame_below(at.frame);
            place += 16 + time_bytes;
        } else if (kind == EVENT_RECORD_BLOCK) {
            store(place, header, header_bytes);
            place += header_bytes + time_bytes;
        } else {
            break;
        }
        if (format.with_times) {
            last_time += load(times, 2);
            times += 2;
            store(place - 8, last_time, 8);
        }
        at.history = predictor_history(at.history, header);
    }
    unpacker->at = at;
    unpacker->place = place;
    unpacker->times = times;
    unpacker->last_time = last_time;
    return run;
}

static bool take_header(struct unpacker *unpacker, uint32_t wrong, uint32_t *header_out)
{
    struct header_guess *guess = predictor_header(unpacker->predictor, unpacker->at.history);
    size_t left = (size_t)(unpacker->operations_end - unpacker->operations), bytes;
    uint32_t header = wrong == WRONG_HEADER_FIRST ? guess->second : guess->first;

    if (wrong == WRONG_HEADER_BOTH) {
        bytes = left == 0 || !(*unpacker->operations & 1) ? 3 : 4;
        if (left < bytes)
            return false;
        header = (uint32_t)(load(unpacker->operations, bytes) >> 1);
        unpacker->operations += bytes;
    }
    if (wrong != 0) {
        guess->second = guess->first;
        guess->first = header;
    }
    *header_out = header;
    return true;
}

static bool take_sp(struct unpacker *unpacker, bool is_told, uint32_t block, uint64_t *sp_out)
{
    struct record_predictor *predictor = unpacker->predictor;
    uint64_t above, sp = predictor_frame(predictor, unpacker->at.frame)->sp;

    if (is_told) {
        if (!take_varint(unpacker, &above))
            return false;
        sp += unzigzag(above);
        unpacker->at.frame = predictor_unwind(predictor, unpacker->at.frame, block, sp);
    } else {
        sp -= predictor_block(predictor, block)->frame_bytes;
    }
    unpacker->at.frame = predictor_call(predictor, unpacker->at.frame, block, sp);
    *sp_out = sp;
    return true;
}

static bool take_target(struct unpacker *unpacker, bool is_told, uint64_t *guess)
{
    uint64_t above;

    if (!is_told)
        return true;
    if (!take_varint(unpacker, &above))
        return false;
    *guess = unpacker->last_target += unzigzag(above);
    return true;
}

/* Makes one record of any kind. False: there is no room for it, it is none, or not all of it is told. */
ALWAYS_INLINE bool unpack_any(struct unpacker *unpacker, struct event_format format, uint32_t wrong)
{
    uint8_t *place = unpacker->place;
    uint32_t header, size, block;
    enum event_record kind;
    uint64_t *target = NULL, sp;

    if (!take_header(unpacker, wrong & WRONG_HEADER_MASK, &header))
        return false;
    kind = event_header_record(header);
    size = event_record_bytes(format, kind);
    block = predictor_block_place(unpacker->predictor, header);
    if (size == 0 || (size_t)(unpacker->end - place) < size || (wrong & WRONG_SP && !event_record_has_sp(kind)) ||
        (wrong & WRONG_TARGET && !event_record_has_target(kind)))
        return false;
    store(place, header, format.is_wide ? 8 : 4);
    if (event_record_has_target(kind))
        target = predictor_target(unpacker->predictor, unpacker->at.frame, block, kind);
    if (event_record_has_sp(kind)) {
        if (!take_sp(unpacker, wrong & WRONG_SP, block, &sp))
            return false;
        store(place + EVENT_SP_OFFSET, sp, 8);
    } else if (target != NULL) {
        unpacker->at.frame = predictor_frame_below(unpacker->at.frame);
    }
    if (target != NULL) {
        if (!take_target(unpacker, wrong & WRONG_TARGET, target))
            return false;
        store(place + event_target_offset(kind), *target, 8);
    }
    if (event_record_has_time(format, kind)) {
        if (!take_time(unpacker))
            return false;
        store(place + size - 8, unpacker->last_time, 8);
    }
    unpacker->at.history = predictor_history(unpacker->at.history, header);
    unpacker->place += size;
    return true;
}

static bool take_operation(struct unpacker *unpacker, uint64_t *run_out, uint32_t *wrong_out)
{
    uint64_t more = 0;

    if (unpacker->operations == unpacker->operations_end)
        return false;
    *wrong_out = *unpacker->operations & 15;
    *run_out = *unpacker->operations++ >> 4;
    if (*run_out == RUN_SHORT && !take_varint(unpacker, &more))
        return false;
    /* More than there can be, and no less for being added up. */
    *run_out += more < UINT32_MAX ? more : UINT32_MAX;
    return *wrong_out != 0;
}

ALWAYS_INLINE bool unpack(struct unpacker *unpacker, struct event_format format)
{
    uint64_t run;
    uint32_t wrong;

    for (;;) {
        if (!take_operation(unpacker, &run, &wrong))
            return false;
        while ((run = unpack_guessed(unpacker, format, run)) > 0) {
            if (!unpack_any(unpacker, format, 0))
                return false;
            run--;
        }
        if ((wrong & WRONG_HEADER_MASK) == WRONG_END)
            return wrong == WRONG_END;
        if (!unpack_any(unpacker, format, wrong))
            return false;
    }
}

/* Makes one record of a hooked function. False: there is no room for it, it is none, or not all of it is told. */
static bool unpack_hooked_any(struct unpacker *unpacker, uint32_t wrong)
{
    struct record_predictor *predictor = unpacker->predictor;
    uint8_t *place = unpacker->place;
    uint32_t header, depth;
    uint64_t above = 0;

    if (!take_header(unpacker, wrong & WRONG_HEADER_MASK, &header))
        return false;
    header = predictor_hook_header(predictor, unpacker->at.frame, header);
    if (unpacker->end - place < EVENT_HOOK_BYTES || !event_record_is_hooked(event_header_record(header)) ||
        wrong & WRONG_TARGET || (wrong & WRONG_SP && !take_varint(unpacker, &above)) || !take_time(unpacker))
        return false;
    depth = predictor_hook_depth(predictor, unpacker->at.frame, header) + (uint32_t)unzigzag(above);
    store(place, header, 4);
    store(place + EVENT_DEPTH_OFFSET, depth, 4);
    store(place + 8, unpacker->last_time, 8);
    unpacker->at.frame = predictor_hook(predictor, unpacker->at.frame, header, depth);
    unpacker->at.history = predictor_history(unpacker->at.history, header);
    unpacker->place += EVENT_HOOK_BYTES;
    return true;
}

/* The same as unpack_guessed, of hooked functions. */
static uint64_t unpack_hooked_guessed(struct unpacker *unpacker, uint64_t run)
{
    struct record_predictor *predictor = unpacker->predictor;
    struct predictor_place at = unpacker->at;
    uint8_t *place = unpacker->place, *end = unpacker->end;
    const uint8_t *times = unpacker->times, *times_end = unpacker->times_end;
    uint64_t last_time = unpacker->last_time;

    for (; run > 0 && end - place >= EVENT_HOOK_BYTES && times_end - times >= 2; run--) {
        uint32_t guess = predictor_header(predictor, at.history)->first;
        uint32_t header = predictor_hook_header(predictor, at.frame, guess);
        uint32_t depth = predictor_hook_depth(predictor, at.frame, header);
        uint64_t later = load(times, 2);

        if (later == TIME_LONG || !event_record_is_hooked(event_header_record(header)))
            break;
        last_time += later;
        store(place, (uint64_t)depth << 32 | header, 8);
        store(place + 8, last_time, 8);
        at.frame = predictor_hook(predictor, at.frame, header, depth);
        at.history = predictor_history(at.history, header);
        times += 2;
        place += EVENT_HOOK_BYTES;
    }
    unpacker->at = at;
    unpacker->place = place;
    unpacker->times = times;
    unpacker->last_time = last_time;
    return run;
}

static bool unpack_hooked(struct unpacker *unpacker)
{
    uint64_t run;
    uint32_t wrong;

    for (;;) {
        if (!take_operation(unpacker, &run, &wrong))
            return false;
        while ((run = unpack_hooked_guessed(unpacker, run)) > 0) {
            if (!unpack_hooked_any(unpacker, 0))
                return false;
            run--;
        }
        if ((wrong & WRONG_HEADER_MASK) == WRONG_END)
            return wrong == WRONG_END;
        if (!unpack_hooked_any(unpacker, wrong))
            return false;
    }
}

static bool unpack_narrow(struct unpacker *unpacker)
{
    return unpack(unpacker, (struct event_format){.is_wide = false});
}

static bool unpack_wide(struct unpacker *unpacker)
{
    return unpack(unpacker, (struct event_format){.is_wide = true});
}

static bool unpack_with_times(struct unpacker *unpacker)
{
    return unpack(unpacker, (struct event_format){.is_wide = true, .with_times = true});
}

int record_packing_undo(struct record_predictor *predictor, struct event_format format, struct packing_source packed,
                        uint8_t *records, size_t records_bytes)
{
    const uint8_t *end = packed.bytes + packed.size_bytes;
    struct unpacker unpacker = {
        .predictor = predictor,
        .operations = packed.bytes,
        .operations_end = end,
        .times = end,
        .times_end = end,
        .place = records,
        .end = records + records_bytes,
    };
    bool is_unpacked;

    if (format.with_times) {
        if (packed.size_bytes < 4 || load(packed.bytes, 4) > packed.size_bytes - 4)
            return -EPROTO;
        unpacker.operations = packed.bytes + 4;
        unpacker.operations_end = unpacker.times = unpacker.operations + load(packed.bytes, 4);
    }
    predictor_reset(predictor, records_bytes);
    is_unpacked = format.is_hooked    ? unpack_hooked(&unpacker)
                  : format.with_times ? unpack_with_times(&unpacker)
                  : format.is_wide    ? unpack_wide(&unpacker)
                                      : unpack_narrow(&unpacker);
    return is_unpacked && unpacker.place == unpacker.end && unpacker.operations == unpacker.operations_end &&
                   unpacker.times == unpacker.times_end
               ? 0
               : -EPROTO;
}
