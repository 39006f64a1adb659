/* SPDX-License-Identifier: MIT */
#include "trace/kernel_packing.h"

#include "support/check.h"
#include "support/random.h"
#include "trace/kernel_events.h"

#include <errno.h>

#define ROOM (4u << 20)

static struct kernel_predictor *predictor;
static uint8_t packed[ROOM + KERNEL_PACKED_BYTES_MAX];
static size_t packed_bytes, records_bytes;
static _Alignas(8) uint8_t expected[ROOM + 65536], records[ROOM + 65536];

static void begin(void)
{
    kernel_packing_begin(predictor);
    packed_bytes = records_bytes = 0;
}

/* Packs it, and puts down the record that it should become again. Returns how many bytes it was packed to. */
static size_t put(const struct kernel_event *event)
{
    size_t padded = trace_padded(event->raw_bytes), kernel_bytes = 8 * event->kernel_frame_count,
           user_bytes = 8 * event->user_frame_count;
    const struct kernel_record record = {
        .size_bytes = (uint16_t)(sizeof(record) + padded + kernel_bytes + user_bytes),
        .source = (uint16_t)event->source,
        .pid = event->pid,
        .tid = event->tid,
        .raw_bytes = (uint16_t)event->raw_bytes,
        .kernel_frames = (uint8_t)event->kernel_frame_count,
        .user_frames = (uint8_t)event->user_frame_count,
        .time = event->time,
    };
    uint8_t *at = expected + records_bytes;
    size_t size = kernel_packing_put(predictor, event, packed + packed_bytes);

    memset(at, 0, record.size_bytes);
    memcpy(at, &record, sizeof(record));
    if (event->raw_bytes != 0)
        memcpy(at + sizeof(record), event->raw, event->raw_bytes);
    if (kernel_bytes != 0)
        memcpy(at + sizeof(record) + padded, event->kernel_frames, kernel_bytes);
    if (user_bytes != 0)
        memcpy(at + sizeof(record) + padded + kernel_bytes, event->user_frames, user_bytes);
    records_bytes += record.size_bytes;
    packed_bytes += size;
    return size;
}

static void check_way_back(void)
{
    memset(records, 0xa5, records_bytes);
    CHECK_EQUAL(kernel_packing_undo(predictor, packed, packed_bytes, records, records_bytes), 0);
    CHECK_EQUAL(memcmp(records, expected, records_bytes), 0);
}

static struct kernel_event event_of(uint32_t source, uint64_t time, const void *raw, size_t raw_bytes)
{
    return (struct kernel_event){
        .source = source, .time = time, .pid = 100, .tid = 101, .raw = raw, .raw_bytes = raw_bytes};
}

/* A function with three arguments, two of which change. */
static void events_of_a_function_take_a_few_bytes(void)
{
    begin();
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t raw[3] = {i, 0x7ffd00001000 + 64 * i, 4096};
        struct kernel_event event = event_of(1, 1000000 + 3000 * i, raw, sizeof(raw));

        CHECK(put(&event) <= (i == 0 ? 50 : 11));
    }
    CHECK(packed_bytes < 10 * 1000);
    check_way_back();
}

static void what_is_the_same_is_not_told(void)
{
    static const char raw[] = "prev_comm next_comm and so on.";

    begin();
    for (uint64_t i = 0; i < 100; i++) {
        struct kernel_event event = event_of(7, 5000 * i, raw, sizeof(raw));

        CHECK(put(&event) == 3 || i == 0);
    }
    check_way_back();
}

/* What goes in comes out: that one follows the other is learnt. */
static void sources_in_turns_are_guessed(void)
{
    uint64_t numbers[2] = {1, 2};

    begin();
    for (uint64_t i = 0; i < 100; i++) {
        struct kernel_event event = event_of(i % 2 == 0 ? 300 : 301, 1000 * i, numbers, i % 2 == 0 ? 16 : 8);

        CHECK(put(&event) == 3 || i < 3);
    }
    check_way_back();
}

static void threads_in_turns_take_a_byte(void)
{
    begin();
    for (uint32_t i = 0; i < 100; i++) {
        struct kernel_event event = event_of(1, 1000 * i, NULL, 0);

        event.tid = 101 + i % 3;
        CHECK(put(&event) == 4 || i < 3);
    }
    check_way_back();
}

static void stacks_are_told_from_where_they_differ(void)
{
    uint64_t kernel[20], user[30];

    for (uint64_t i = 0; i < 20; i++)
        kernel[i] = 0xffffffff81000000 + 4099 * i;
    for (uint64_t i = 0; i < 30; i++)
        user[i] = 0x7f0011220000 + 911 * i;
    begin();
    for (uint64_t i = 0; i < 100; i++) {
        struct kernel_event event = event_of(1, 1000 * i, NULL, 0);

        user[0] = 0x7f0011220000 + i % 5;
        event.kernel_frames = kernel;
        event.kernel_frame_count = 20;
        event.user_frames = user + i % 2;
        event.user_frame_count = 30 - i % 2;
        CHECK(put(&event) <= 3 + 4 + 1 + 2 * 4 || i == 0);
    }
    check_way_back();
    /* A longer one, a shorter one, none, and the same again. */
    begin();
    for (uint64_t i = 0; i < 40; i++) {
        struct kernel_event event = event_of(1, 1000 * i, NULL, 0);

        event.kernel_frames = kernel + i % 7;
        event.kernel_frame_count = i % 4 == 3 ? 0 : 20 - i % 7 - i % 3;
        put(&event);
    }
    check_way_back();
}

static void each_chunk_stands_for_itself(void)
{
    const uint64_t raw[2] = {5, 6};
    struct kernel_event event = event_of(1, 1000, raw, sizeof(raw));
    size_t first, again;

    begin();
    first = put(&event);
    begin();
    again = put(&event);
    CHECK_EQUAL(first, again);
    check_way_back();
}

static uint64_t frames_of(struct random *random, uint64_t *frames, bool is_kernel)
{
    uint64_t count = random_chance(random, 1, 3) ? 0 : random_below(random, random_chance(random, 1, 50) ? 256 : 12);

    for (uint64_t i = 0; i < count; i++)
        frames[i] = (is_kernel ? 0xffffffff81000000 : 0x401000) + 16 * random_below(random, 9);
    return count;
}

/* Of any source, thread, size and content. */
static void put_any(struct random *random)
{
    static uint64_t raw[KERNEL_RAW_BYTES_MAX / 8 + 1], kernel[256], user[256];
    size_t raw_bytes = random_below(random, random_chance(random, 1, 100) ? KERNEL_RAW_BYTES_MAX + 1 : 200);
    struct kernel_event event;

    for (uint64_t changes = random_below(random, 4); changes > 0; changes--)
        raw[random_below(random, 30)] = random_chance(random, 1, 2) ? random_edge(random) : random_below(random, 300);
    if (random_chance(random, 1, 20))
        random_fill(random, raw, sizeof(raw));
    event = event_of(1 + (uint32_t)random_below(random, random_chance(random, 1, 9) ? 65535 : 5), random_u64(random),
                     raw, random_chance(random, 1, 2) ? 40 : raw_bytes);
    if (random_chance(random, 2, 3))
        event.time = random_below(random, 1ull << random_below(random, 40));
    event.pid = (uint32_t)random_below(random, 200);
    event.tid = (uint32_t)random_below(random, 200);
    event.kernel_frames = kernel;
    event.kernel_frame_count = frames_of(random, kernel, true);
    event.user_frames = user;
    event.user_frame_count = frames_of(random, user, false);
    put(&event);
}

static void put_many(struct random *random, uint64_t seed)
{
    random_init(random, seed);
    begin();
    for (uint64_t left = 1 + random_below(random, 300); left > 0 && packed_bytes < ROOM && records_bytes < ROOM; left--)
        put_any(random);
}

static void whatever_comes_goes_both_ways(void)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct random random;

        put_many(&random, seed);
        check_way_back();
    }
}

/* Whatever is unpacked, it is refused or becomes records, one behind the other, that can be read. Nothing follows. */
static void check_unpacking(const uint8_t *given, size_t given_bytes, size_t bytes)
{
    static const uint8_t untouched[1024];
    struct kernel_event event;
    size_t at = 0, size = 1;
    int result;

    memset(records + bytes, 0, sizeof(untouched));
    result = kernel_packing_undo(predictor, given, given_bytes, records, bytes);
    CHECK(result == 0 || result == -EPROTO);
    CHECK_EQUAL(memcmp(records + bytes, untouched, sizeof(untouched)), 0);
    for (; result == 0 && at < bytes && size != 0; at += size)
        size = kernel_record_read(records + at, bytes - at, &event);
    CHECK(result != 0 || at == bytes);
}

static void damage_is_refused_or_harmless(void)
{
    for (uint64_t seed = 1000; seed < 2000; seed++) {
        struct random random;
        size_t bytes;

        put_many(&random, seed % 40);
        random_init(&random, seed);
        for (uint64_t changes = 1 + random_below(&random, 4); changes > 0; changes--)
            packed[random_below(&random, random_chance(&random, 1, 2) ? packed_bytes : 64 % (packed_bytes + 1))] =
                (uint8_t)random_u64(&random);
        bytes = random_chance(&random, 1, 2) ? records_bytes : random_below(&random, records_bytes / 8) * 8;
        check_unpacking(packed, packed_bytes, bytes);
    }
}

static void noise_is_refused_or_harmless(void)
{
    static uint8_t noise[512];

    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct random random;
        size_t size, bytes;

        random_init(&random, seed);
        size = 1 + random_below(&random, sizeof(noise));
        bytes = random_below(&random, 2048) * 8;
        random_fill(&random, noise, size);
        check_unpacking(noise, size, bytes);
    }
}

static void what_is_cut_off_is_refused(void)
{
    const uint64_t raw[3] = {1, 2, 3};
    struct kernel_event event = event_of(1, 1ull << 40, raw, sizeof(raw));
    size_t size;

    begin();
    size = put(&event);
    for (size_t i = 0; i < size; i++)
        CHECK_EQUAL(kernel_packing_undo(predictor, packed, i, records, records_bytes), -EPROTO);
    CHECK_EQUAL(kernel_packing_undo(predictor, packed, size, records, records_bytes - 8), -EPROTO);
    CHECK_EQUAL(kernel_packing_undo(predictor, packed, size, records, records_bytes + 8), -EPROTO);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(events_of_a_function_take_a_few_bytes),  CHECK_CASE(what_is_the_same_is_not_told),
        CHECK_CASE(sources_in_turns_are_guessed),           CHECK_CASE(threads_in_turns_take_a_byte),
        CHECK_CASE(stacks_are_told_from_where_they_differ), CHECK_CASE(each_chunk_stands_for_itself),
        CHECK_CASE(whatever_comes_goes_both_ways),          CHECK_CASE(damage_is_refused_or_harmless),
        CHECK_CASE(noise_is_refused_or_harmless),           CHECK_CASE(what_is_cut_off_is_refused),
    };
    int result;

    CHECK_EQUAL(kernel_predictor_create(&predictor), 0);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    kernel_predictor_destroy(predictor);
    return result;
}
