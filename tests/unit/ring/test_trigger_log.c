/* SPDX-License-Identifier: MIT */
#include "ring/trigger_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <pthread.h>

static struct ring_region *ring;
static struct ring_reader *reader;
static struct trigger_log_place place;

static void begin(void)
{
    static const struct ring_options options;

    place = (struct trigger_log_place){0};
    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
}

static void end(void)
{
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static void add(uint64_t value)
{
    trigger_log_add(ring, &(struct ring_trigger){.time = value * 10, .kind = RING_TRIGGER_CALL, .value = value});
}

static void triggers_come_in_their_order_and_once(void)
{
    struct ring_trigger trigger;
    uint64_t missed;

    begin();
    CHECK(!trigger_log_next(reader, &place, &trigger, &missed));
    for (uint64_t round = 0; round < 10; round++) {
        for (uint64_t i = 0; i < 300; i++)
            add(round * 300 + i);
        for (uint64_t i = 0; i < 300; i++) {
            CHECK(trigger_log_next(reader, &place, &trigger, &missed));
            CHECK_EQUAL(missed, 0);
            CHECK_EQUAL(trigger.value, round * 300 + i);
            CHECK_EQUAL(trigger.time, trigger.value * 10);
        }
        CHECK(!trigger_log_next(reader, &place, &trigger, &missed));
    }
    end();
}

static void who_reads_too_rarely_is_told_how_many_are_missing(void)
{
    struct ring_trigger trigger;
    uint64_t missed;

    begin();
    for (uint64_t i = 0; i < 5000; i++)
        add(i);
    CHECK(trigger_log_next(reader, &place, &trigger, &missed));
    CHECK_EQUAL(missed, 5000 - RING_TRIGGERS_KEPT / 2);
    CHECK_EQUAL(trigger.value, missed);
    while (trigger_log_next(reader, &place, &trigger, &missed))
        CHECK_EQUAL(missed, 0);
    CHECK_EQUAL(trigger.value, 4999);
    end();
}

static void *add_many(void *argument)
{
    for (uint64_t i = 0; i < 20000; i++)
        add((uintptr_t)argument << 32 | i);
    return NULL;
}

static void threads_do_not_get_into_each_others_way(void)
{
    uint64_t missed, taken = 0, told = 0, next[3] = {0};
    struct ring_trigger trigger;
    pthread_t threads[2];

    begin();
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add_many, (void *)(i + 1));
    while (place.next < 40000) {
        if (!trigger_log_next(reader, &place, &trigger, &missed))
            continue;
        taken++;
        told += missed;
        CHECK_EQUAL(trigger.time, trigger.value * 10);
        CHECK((uint32_t)trigger.value >= next[trigger.value >> 32]);
        next[trigger.value >> 32] = (uint32_t)trigger.value + 1;
    }
    CHECK_EQUAL(taken + told + place.missed, 40000);
    CHECK(taken > 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    end();
}

/* Somebody who is killed in the middle of it holds nobody up. */
static void one_that_never_comes_is_passed_over(void)
{
    struct ring_trigger trigger;
    uint64_t missed;

    begin();
    add(1);
    /* As if it had been handed out. */
    ++*(uint64_t *)(void *)(ring->base + RING_TRIGGERS_OFFSET);
    add(3);
    CHECK(trigger_log_next(reader, &place, &trigger, &missed));
    CHECK(!trigger_log_next(reader, &place, &trigger, &missed));
    CHECK(trigger_log_next(reader, &place, &trigger, &missed));
    CHECK_EQUAL(trigger.value, 3);
    CHECK_EQUAL(missed, 1);
    CHECK(!trigger_log_next(reader, &place, &trigger, &missed));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(triggers_come_in_their_order_and_once),
    CHECK_CASE(who_reads_too_rarely_is_told_how_many_are_missing),
    CHECK_CASE(one_that_never_comes_is_passed_over),
    CHECK_CASE(threads_do_not_get_into_each_others_way),
};

CHECK_MAIN(cases)
