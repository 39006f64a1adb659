/* SPDX-License-Identifier: MIT */
/*
 * Both directions keep the same memory of what was written: the last event of each source, the last stacks, and who
 * threads are. An event is a byte that says what is not as in that memory (enum packed_parts), then only that:
 *
 *   2, 3, 4 or 8 bytes   how much later than the event before it is
 *   2 bytes              the source, if it is not the one that came after the one before the last time
 *   1 or 9 bytes         the thread, if it is not the last one: its place in the memory, with NEW_THREAD the pid and
 * tid 4 bytes              the sizes: raw bytes, frames of the kernel, frames of the program words                of
 * the raw bytes, in groups of eight: a byte with a bit for each that changed, then these frames               for each
 * stack, how many of the outermost are those of the last one; the others, from the innermost on, each compared with the
 * one before it
 *
 * A word that changed is a byte with a bit for each of its bytes that did, then these, each combined with the old one
 * by exclusive or.
 */
#include "trace/kernel_packing.h"

#include "trace/kernel_events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES_KNOWN 64u  /* at a time */
#define WORDS_KNOWN   128u /* of each of them; those behind are compared with 0 */
#define GROUP_WORDS   8u
#define THREADS_KNOWN 64u
#define NEW_THREAD    0x40u

enum packed_parts {
    TOLD_TIME_MASK = 3, /* how many bytes it takes */
    TOLD_SOURCE = 1u << 2,
    TOLD_THREAD = 1u << 3,
    TOLD_SIZES = 1u << 4,
    TOLD_WORDS = 1u << 5,
    TOLD_KERNEL_FRAMES = 1u << 6,
    TOLD_USER_FRAMES = 1u << 7,
};

static const uint8_t time_bytes[] = {2, 3, 4, 8};

/* The last event of a source. */
struct last_event {
    uint32_t source; /* 0: of none */
    uint32_t next;   /* the source that came after it */
    uint16_t raw_bytes;
    uint8_t kernel_frames;
    uint8_t user_frames;
    uint64_t words[WORDS_KNOWN];
};

struct last_stack {
    size_t count;
    uint64_t frames[KERNEL_FRAMES_MAX];
};

struct packed_thread {
    uint32_t pid;
    uint32_t tid;
};

struct kernel_predictor {
    uint64_t time;
    struct last_event *last; /* NULL: there was none */
    struct packed_thread thread;
    uint64_t threads_known; /* a bit for each */
    struct packed_thread threads[THREADS_KNOWN];
    struct last_stack kernel;
    struct last_stack user;
    struct last_event sources[SOURCES_KNOWN];
};

int kernel_predictor_create(struct kernel_predictor **predictor_out)
{
    struct kernel_predictor *predictor = malloc(sizeof(*predictor));

    if (predictor == NULL)
        return -ENOMEM;
    kernel_packing_begin(predictor);
    *predictor_out = predictor;
    return 0;
}

void kernel_predictor_destroy(struct kernel_predictor *predictor)
{
    free(predictor);
}

void kernel_packing_begin(struct kernel_predictor *predictor)
{
    predictor->time = 0;
    predictor->last = NULL;
    predictor->thread = (struct packed_thread){0, 0};
    predictor->threads_known = 0;
    predictor->kernel.count = predictor->user.count = 0;
    for (size_t i = 0; i < SOURCES_KNOWN; i++)
        predictor->sources[i].source = 0;
}

static uint32_t guess_source(const struct kernel_predictor *predictor)
{
    return predictor->last == NULL ? 0 : predictor->last->next;
}

/* Goes on to an event of that source: what was guessed wrongly is learnt, and who has its place gives way. */
static struct last_event *enter_source(struct kernel_predictor *predictor, uint32_t source)
{
    struct last_event *event = &predictor->sources[source % SOURCES_KNOWN];

    if (predictor->last != NULL)
        predictor->last->next = source;
    if (event->source != source) {
        memset(event, 0, sizeof(*event));
        event->source = event->next = source;
    }
    predictor->last = event;
    return event;
}

/* The bits of bytes that are not 0. */
static inline unsigned bytes_that_differ(uint64_t word)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7full;
    uint64_t high = (((word & low) + low) | word) & ~low;

    return (unsigned)(((high >> 7) * 0x0102040810204080ull) >> 56);
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static inline uint8_t *put_number(uint8_t *at, uint64_t number, size_t bytes)
{
    memcpy(at, &number, sizeof(number));
    return at + bytes;
}

static inline uint8_t *put_word(uint8_t *at, uint64_t change)
{
    unsigned mask = bytes_that_differ(change);

    *at++ = (uint8_t)mask;
    /* Mostly the low bytes of numbers change. */
    if ((mask & (mask + 1)) == 0)
        return put_number(at, change, (size_t)__builtin_popcount(mask));
    for (; mask != 0; mask >>= 1, change >>= 8)
        if (mask & 1)
            *at++ = (uint8_t)change;
    return at;
}

static uint8_t *put_time(struct kernel_predictor *predictor, uint64_t time, uint8_t *at, unsigned *told)
{
    uint64_t later = time - predictor->time;
    unsigned size = later < 1ull << 16 ? 0 : later < 1ull << 24 ? 1 : later < 1ull << 32 ? 2 : 3;

    predictor->time = time;
    *told |= size;
    return put_number(at, later, time_bytes[size]);
}

static uint8_t *put_thread(struct kernel_predictor *predictor, const struct kernel_event *event, uint8_t *at)
{
    struct packed_thread *known;
    unsigned place = (event->tid * 0x9e3779b1u) >> 26;

    predictor->thread = (struct packed_thread){event->pid, event->tid};
    known = &predictor->threads[place];
    if (predictor->threads_known & 1ull << place && known->pid == event->pid && known->tid == event->tid)
        return put_number(at, place, 1);
    *known = predictor->thread;
    predictor->threads_known |= 1ull << place;
    at = put_number(at, place | NEW_THREAD, 1);
    return put_number(at, event->pid | (uint64_t)event->tid << 32, sizeof(uint64_t));
}

static bool has_sizes(const struct last_event *last, const struct kernel_event *event)
{
    return last->raw_bytes == event->raw_bytes && last->kernel_frames == event->kernel_frame_count &&
           last->user_frames == event->user_frame_count;
}

static uint8_t *put_sizes(struct last_event *last, const struct kernel_event *event, uint8_t *at)
{
    last->raw_bytes = (uint16_t)event->raw_bytes;
    last->kernel_frames = (uint8_t)event->kernel_frame_count;
    last->user_frames = (uint8_t)event->user_frame_count;
    at = put_number(at, last->raw_bytes, 2);
    at = put_number(at, last->kernel_frames, 1);
    return put_number(at, last->user_frames, 1);
}

/* The word at a place of the raw bytes, with zeroes behind their end. */
static inline uint64_t raw_word(const struct kernel_event *event, size_t which)
{
    size_t place = which * sizeof(uint64_t), left = event->raw_bytes - place;
    uint64_t word = 0;

    if (left >= sizeof(word))
        memcpy(&word, event->raw + place, sizeof(word));
    else
        memcpy(&word, event->raw + place, left);
    return word;
}

/* Returns `at` if there is no change. */
static uint8_t *put_words(struct last_event *last, const struct kernel_event *event, uint8_t *at)
{
    size_t count = (event->raw_bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    uint8_t *begin = at;
    unsigned all = 0;

    for (size_t first = 0; first < count; first += GROUP_WORDS) {
        size_t end = first + GROUP_WORDS < count ? first + GROUP_WORDS : count;
        uint8_t *changed_at = at++;
        unsigned changed = 0;

        for (size_t i = first; i < end; i++) {
            uint64_t word = raw_word(event, i), old = i < WORDS_KNOWN ? last->words[i] : 0;

            if (word == old)
                continue;
            changed |= 1u << (i - first);
            at = put_word(at, word ^ old);
            if (i < WORDS_KNOWN)
                last->words[i] = word;
        }
        *changed_at = (uint8_t)changed;
        all |= changed;
    }
    return all == 0 ? begin : at;
}

/* Returns `at` if it is the last one again, or there is none. */
static uint8_t *put_frames(struct last_stack *last, const uint64_t *frames, size_t count, uint8_t *at)
{
    uint64_t before = last->count == 0 ? 0 : last->frames[0];
    size_t alike = 0;

    while (alike < count && alike < last->count && frames[count - 1 - alike] == last->frames[last->count - 1 - alike])
        alike++;
    if (count == 0 || (alike == count && alike == last->count))
        return at;
    *at++ = (uint8_t)alike;
    for (size_t i = 0; i < count - alike; i++) {
        at = put_word(at, frames[i] ^ before);
        before = frames[i];
    }
    memcpy(last->frames, frames, count * sizeof(*frames));
    last->count = count;
    return at;
}

size_t kernel_packing_put(struct kernel_predictor *predictor, const struct kernel_event *event, uint8_t *packed)
{
    unsigned told = event->source == guess_source(predictor) ? 0 : TOLD_SOURCE;
    struct last_event *last = enter_source(predictor, event->source);
    uint8_t *at = put_time(predictor, event->time, packed + 1, &told), *behind;

    if (told & TOLD_SOURCE)
        at = put_number(at, event->source, 2);
    if (event->tid != predictor->thread.tid || event->pid != predictor->thread.pid) {
        told |= TOLD_THREAD;
        at = put_thread(predictor, event, at);
    }
    if (!has_sizes(last, event)) {
        told |= TOLD_SIZES;
        at = put_sizes(last, event, at);
    }
    behind = put_words(last, event, at);
    told |= behind != at ? TOLD_WORDS : 0;
    at = behind;
    behind = put_frames(&predictor->kernel, event->kernel_frames, event->kernel_frame_count, at);
    told |= behind != at ? TOLD_KERNEL_FRAMES : 0;
    at = behind;
    behind = put_frames(&predictor->user, event->user_frames, event->user_frame_count, at);
    told |= behind != at ? TOLD_USER_FRAMES : 0;
    packed[0] = (uint8_t)told;
    return (size_t)(behind - packed);
}

/* ---- unpacking --------------------------------------------------------------------------------------------------- */

struct packed_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad; /* it ended too early, or cannot be */
};

static uint64_t take(struct packed_cursor *cursor, size_t bytes)
{
    uint64_t number = 0;

    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->is_bad = true;
        return 0;
    }
    memcpy(&number, cursor->at, bytes);
    cursor->at += bytes;
    return number;
}

static uint64_t take_word(struct packed_cursor *cursor)
{
    unsigned mask = (unsigned)take(cursor, 1), count = (unsigned)__builtin_popcount(mask);
    uint64_t bytes, word = 0;

    if ((mask & (mask + 1)) == 0)
        return take(cursor, count);
    bytes = take(cursor, count);
    for (unsigned shift = 0; mask != 0; mask >>= 1, shift += 8)
        if (mask & 1) {
            word |= (bytes & 0xff) << shift;
            bytes >>= 8;
        }
    return word;
}

static void take_thread(struct kernel_predictor *predictor, struct packed_cursor *cursor)
{
    unsigned place = (unsigned)take(cursor, 1);
    struct packed_thread *known = &predictor->threads[place % THREADS_KNOWN];
    uint64_t bit = 1ull << place % THREADS_KNOWN;

    if (place & NEW_THREAD) {
        uint64_t ids = take(cursor, sizeof(ids));

        *known = (struct packed_thread){(uint32_t)ids, (uint32_t)(ids >> 32)};
        predictor->threads_known |= bit;
    }
    if (place >= NEW_THREAD + THREADS_KNOWN || !(predictor->threads_known & bit))
        cursor->is_bad = true;
    else
        predictor->thread = *known;
}

static void take_sizes(struct last_event *last, struct packed_cursor *cursor)
{
    last->raw_bytes = (uint16_t)take(cursor, 2);
    last->kernel_frames = (uint8_t)take(cursor, 1);
    last->user_frames = (uint8_t)take(cursor, 1);
}

static void take_words(struct last_event *last, struct packed_cursor *cursor, bool is_told, uint64_t *words)
{
    size_t count = trace_padded(last->raw_bytes) / sizeof(*words);
    unsigned changed = 0;

    for (size_t i = 0; i < count && !cursor->is_bad; i++) {
        if (is_told && i % GROUP_WORDS == 0)
            changed = (unsigned)take(cursor, 1);
        words[i] = i < WORDS_KNOWN ? last->words[i] : 0;
        if (changed & 1u << i % GROUP_WORDS)
            words[i] ^= take_word(cursor);
        if (i < WORDS_KNOWN)
            last->words[i] = words[i];
    }
}

static void take_frames(struct last_stack *last, struct packed_cursor *cursor, bool is_told, uint64_t *frames,
                        size_t count)
{
    uint64_t before = last->count == 0 ? 0 : last->frames[0];
    size_t alike = is_told ? (size_t)take(cursor, 1) : last->count;

    if (count == 0 && !is_told)
        return;
    if (alike > count || alike > last->count || (!is_told && alike != count)) {
        cursor->is_bad = true;
        return;
    }
    for (size_t i = 0; i < count - alike && !cursor->is_bad; i++)
        before = frames[i] = before ^ take_word(cursor);
    memcpy(frames + count - alike, last->frames + last->count - alike, alike * sizeof(*frames));
    memcpy(last->frames, frames, count * sizeof(*frames));
    last->count = count;
}

/* One event, into a record for which there is so much room. Returns the record's size; 0: it cannot be. */
static size_t unpack(struct kernel_predictor *predictor, struct packed_cursor *cursor, uint8_t *bytes, size_t room)
{
    unsigned told = (unsigned)take(cursor, 1);
    struct kernel_record record = {.time = predictor->time + take(cursor, time_bytes[told & TOLD_TIME_MASK])};
    uint32_t source = told & TOLD_SOURCE ? (uint32_t)take(cursor, 2) : guess_source(predictor);
    struct last_event *last;
    uint64_t *words = (uint64_t *)(void *)(bytes + sizeof(record));
    size_t raw_words, size;

    if (source == 0 || cursor->is_bad)
        return 0;
    predictor->time = record.time;
    last = enter_source(predictor, source);
    if (told & TOLD_THREAD)
        take_thread(predictor, cursor);
    if (told & TOLD_SIZES)
        take_sizes(last, cursor);
    raw_words = trace_padded(last->raw_bytes) / sizeof(*words);
    size = sizeof(record) + sizeof(*words) * (raw_words + last->kernel_frames + last->user_frames);
    if (cursor->is_bad || size > room || size > KERNEL_RECORD_BYTES_MAX)
        return 0;
    record.size_bytes = (uint16_t)size;
    record.source = (uint16_t)source;
    record.pid = predictor->thread.pid;
    record.tid = predictor->thread.tid;
    record.raw_bytes = last->raw_bytes;
    record.kernel_frames = last->kernel_frames;
    record.user_frames = last->user_frames;
    memcpy(bytes, &record, sizeof(record));
    take_words(last, cursor, told & TOLD_WORDS, words);
    words += raw_words;
    take_frames(&predictor->kernel, cursor, told & TOLD_KERNEL_FRAMES, words, record.kernel_frames);
    take_frames(&predictor->user, cursor, told & TOLD_USER_FRAMES, words + record.kernel_frames, record.user_frames);
    return cursor->is_bad ? 0 : size;
}

int kernel_packing_undo(struct kernel_predictor *predictor, const uint8_t *packed, size_t packed_bytes,
                        uint8_t *records, size_t records_bytes)
{
    struct packed_cursor cursor = {packed, packed + packed_bytes, false};
    size_t used = 0, size;

    kernel_packing_begin(predictor);
    for (; cursor.at < cursor.end; used += size) {
        size = unpack(predictor, &cursor, records + used, records_bytes - used);
        if (size == 0)
            return -EPROTO;
    }
    return used == records_bytes ? 0 : -EPROTO;
}
