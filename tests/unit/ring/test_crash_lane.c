/* SPDX-License-Identifier: MIT */
#include "ring/crash_lane.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"
#include "support/random.h"

static struct ring_region *ring;
static struct ring_reader *reader;
static uint8_t bytes[RING_CRASHES_BYTES];

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
}

static void end(void)
{
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static struct crash_signal *put_signal(int32_t signal, uint32_t stack_bytes)
{
    struct crash_signal *record = crash_lane_reserve(ring, sizeof(*record) + stack_bytes);

    if (record == NULL)
        return NULL;
    record->signal = signal;
    record->stack_bytes = stack_bytes;
    crash_lane_commit(record, sizeof(*record) + stack_bytes, CRASH_SIGNAL);
    return record;
}

static void what_was_committed_is_read(void)
{
    const struct crash_signal *signal = (const struct crash_signal *)(const void *)bytes;
    struct crash_thread *thread;

    begin();
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    CHECK(put_signal(11, 13) != NULL);
    thread = crash_lane_reserve(ring, sizeof(*thread));
    /* Not written yet, and may never be. */
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), sizeof(struct crash_signal) + 16);
    crash_lane_commit(thread, sizeof(*thread), CRASH_THREAD);
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), sizeof(struct crash_signal) + 16 + sizeof(*thread));
    CHECK_EQUAL(signal->record.kind, CRASH_SIGNAL);
    CHECK_EQUAL(signal->record.size_bytes, sizeof(*signal) + 16);
    CHECK_EQUAL(signal->signal, 11);
    /* As many as there is room for. */
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(struct crash_signal) + 16 + 8), sizeof(struct crash_signal) + 16);
    end();
}

static void there_is_room_for_many_and_an_end(void)
{
    unsigned count = 0;

    begin();
    while (put_signal(6, CRASH_STACK_BYTES_MAX) != NULL)
        count++;
    CHECK(count >= 32);
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)),
                count * (sizeof(struct crash_signal) + CRASH_STACK_BYTES_MAX));
    CHECK(crash_lane_reserve(ring, SIZE_MAX) == NULL);
    CHECK(crash_lane_reserve(ring, RING_CRASHES_BYTES) == NULL);
    end();
}

static void what_is_no_record_is_not_read(void)
{
    struct crash_signal *record;

    begin();
    record = put_signal(11, 100);
    record->stack_bytes = 200;
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    record->stack_bytes = 100;
    record->register_count = CRASH_REGISTERS_MAX + 1;
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    record->register_count = 0;
    record->record.kind = 3;
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    record->record.kind = CRASH_THREAD;
    CHECK(crash_lane_read(reader, bytes, sizeof(bytes)) > 0);
    record->record.size_bytes = UINT32_MAX & ~7u;
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    record->record.size_bytes = 4;
    CHECK_EQUAL(crash_lane_read(reader, bytes, sizeof(bytes)), 0);
    end();
}

/* Whatever stands there, what is read is whole records, and no more than there is room for. */
static void anything_may_stand_there(void)
{
    struct random random;
    uint8_t *place;

    begin();
    place = ring->base + RING_CRASHES_OFFSET;
    random_init(&random, 1);
    for (unsigned round = 0; round < 2000; round++) {
        size_t size, used = 0;

        for (unsigned i = 0; i < 64; i++) {
            uint32_t word = random_chance(&random, 1, 2) ? (uint32_t)random_below(&random, 600) & ~7u
                                                         : (uint32_t)random_edge(&random);

            memcpy(place + 8 + 4 * random_below(&random, 512), &word, sizeof(word));
        }
        size = crash_lane_read(reader, bytes, sizeof(bytes));
        CHECK(size <= sizeof(bytes));
        while (used < size) {
            size_t step = crash_record_check(bytes + used, size - used);

            if (step == 0)
                break;
            used += step;
        }
        CHECK_EQUAL(used, size);
    }
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_committed_is_read),
    CHECK_CASE(there_is_room_for_many_and_an_end),
    CHECK_CASE(what_is_no_record_is_not_read),
    CHECK_CASE(anything_may_stand_there),
};

CHECK_MAIN(cases)
