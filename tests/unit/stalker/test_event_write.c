/* SPDX-License-Identifier: MIT */

#include "base/time_counter.h"
#include "stalker/code_cache.h"
#include "stalker/event_buffer.h"
#include "stalker/thread.h"
#include "support/check.h"

static struct code_cache cache;
static struct event_buffer *buffer;
static struct stalker_thread thread;

static void begin(bool times)
{
    cache.configuration.times = times;
    CHECK_EQUAL(event_buffer_create(4096, &buffer), 0);
    thread = (struct stalker_thread){
        .events = buffer,
        .observed_cache = &cache,
        .event_position = buffer->start,
    };
}

static uint32_t word(unsigned index)
{
    return ((const uint32_t *)(uintptr_t)buffer->start)[index];
}

static uint64_t written(void)
{
    return thread.event_position - buffer->start;
}

static void records_are_a_header(void)
{
    begin(false);
    event_write(&thread, 77, EVENT_RECORD_COMPILED);
    CHECK_EQUAL(written(), 4);
    CHECK_EQUAL(word(0), event_header(77, EVENT_RECORD_COMPILED));
    event_buffer_destroy(buffer);
}

static void or_a_header_and_a_time(void)
{
    uint64_t before = time_counter(), time;

    begin(true);
    event_write(&thread, 77, EVENT_RECORD_COMPILED);
    CHECK_EQUAL(written(), 16);
    time = word(2) | (uint64_t)word(3) << 32;
    CHECK(time >= before && time <= time_counter());
    event_buffer_destroy(buffer);
}

static void a_cut_is_told_once(void)
{
    begin(false);
    thread.event_cut = (struct event_cut){.is_cut = true, .is_told = true, .block = 5, .ran_bytes = 9};
    event_write_cut(&thread);
    event_write_cut(&thread);
    CHECK_EQUAL(written(), 4);
    CHECK_EQUAL(word(0), event_header(9, EVENT_RECORD_CUT));
    event_buffer_destroy(buffer);
}

static void a_block_that_is_cut_before_it_was_told_is_told_too(void)
{
    begin(false);
    thread.event_cut = (struct event_cut){.is_cut = true, .block = 5, .ran_bytes = 9};
    event_write_cut(&thread);
    CHECK_EQUAL(written(), 8);
    CHECK_EQUAL(word(0), event_header(5, EVENT_RECORD_BLOCK));
    CHECK_EQUAL(word(1), event_header(9, EVENT_RECORD_CUT));
    event_buffer_destroy(buffer);
}

static void of_which_nothing_ran_nothing_is_told(void)
{
    begin(false);
    thread.event_cut = (struct event_cut){.is_cut = true, .block = 5};
    event_write_cut(&thread);
    CHECK_EQUAL(written(), 0);
    event_write_cut(&(struct stalker_thread){.event_cut = {.is_cut = true, .is_told = true}});
    event_buffer_destroy(buffer);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_are_a_header),
    CHECK_CASE(or_a_header_and_a_time),
    CHECK_CASE(a_cut_is_told_once),
    CHECK_CASE(a_block_that_is_cut_before_it_was_told_is_told_too),
    CHECK_CASE(of_which_nothing_ran_nothing_is_told),
};

CHECK_MAIN(cases)
