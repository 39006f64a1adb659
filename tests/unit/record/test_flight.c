/* SPDX-License-Identifier: MIT */
#include "record/flight.h"

#include "base/time_counter.h"
#include "record/recorded_stream.h"
#include "support/check.h"
#include "support/trace_folder.h"

#include <unistd.h>

static struct trace_folder folder;
static struct flight flight;
static struct recorded_stream *stream;

static void begin(const struct flight_options *options)
{
    struct recorded_stream_plan plan = {.header = {.kind = TRACE_STREAM_INDEX}};

    trace_folder_init(&folder);
    plan.folder = folder.fd;
    CHECK_EQUAL(chunk_encoder_create(false, &plan.encoder), 0);
    CHECK_EQUAL(recorded_stream_create(&plan, &stream), 0);
    flight_init(&flight, options, clock_pair_read());
}

static void end(void)
{
    flight_deinit(&flight);
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    chunk_encoder_destroy(stream->plan.encoder);
    recorded_stream_destroy(stream);
    trace_folder_deinit(&folder);
}

static void put(uint64_t from, uint64_t to, bool is_keeping)
{
    struct chunk_contents contents = {.bytes = "12345678", .size_bytes = 8, .first_time = from, .last_time = to};

    CHECK_EQUAL(flight_put(&flight, stream, &contents, is_keeping), 0);
}

static void trigger(uint64_t time, bool wants_all)
{
    struct flight_event event = {.kind = "manual", .text = "note", .time = time, .pid = 1, .tid = 2};

    event.wants_all = wants_all;
    CHECK_EQUAL(flight_trigger(&flight, &event), 0);
}

static void what_is_not_to_be_kept_is_written_at_once(void)
{
    begin(&(struct flight_options){.keeps_detail = true});
    put(1, 2, false);
    CHECK_EQUAL(stream->written_bytes, 8);
    put(2, 3, true);
    CHECK_EQUAL(stream->written_bytes, 8);
    end();
}

static void a_trigger_writes_what_was_kept_and_what_comes(void)
{
    uint64_t now, second;
    struct manifest manifest = {.ended = ""};

    begin(&(struct flight_options){.keeps_index = true, .pre_roll_ns = 1000000000, .post_roll_ns = 1000000000});
    usleep(10000);
    now = counter_clock_update(&flight.clock);
    second = counter_clock_ticks(&flight.clock, 1000000000);
    put(now, now + 1, true);
    put(now + 1, now + 2, true);
    CHECK(!flight_take_news(&flight));
    trigger(now + 2, false);
    put(now + 2, now + 3, true);
    CHECK_EQUAL(stream->written_bytes, 24);
    put(now + 2 * second, now + 2 * second + 1, true);
    CHECK_EQUAL(flight_settle(&flight), 0);
    CHECK_EQUAL(stream->written_bytes, 24);
    CHECK(flight_take_news(&flight));
    CHECK(!flight_take_news(&flight));
    /* Longer. */
    trigger(now + 2 * second - second / 2, false);
    CHECK_EQUAL(flight_settle(&flight), 0);
    CHECK_EQUAL(stream->written_bytes, 32);
    CHECK(!flight_take_news(&flight));
    flight_describe(&flight, &manifest);
    CHECK(manifest.is_flight);
    CHECK_EQUAL(manifest.window_count, 1);
    CHECK_EQUAL(manifest.trigger_count, 2);
    CHECK_TEXT(manifest.triggers[1].text, "note");
    CHECK_EQUAL(manifest.triggers[1].tid, 2);
    /* The recording began later than what was asked for. */
    CHECK_EQUAL(manifest.windows[0].from, flight.clock.first.counter);
    CHECK(!manifest.windows[0].is_cut);
    flight_end(&flight);
    CHECK(flight.windows.windows[0].to <= time_counter());
    end();
}

static void windows_say_what_was_too_much_for_the_memory(void)
{
    uint64_t now;

    begin(&(struct flight_options){.keeps_index = true, .pre_roll_ns = 60000000000, .memory_bytes = 1000});
    usleep(1000);
    now = counter_clock_update(&flight.clock);
    for (uint64_t i = 0; i < 100; i++)
        put(now + i, now + i + 1, true);
    trigger(now + 100, false);
    CHECK_EQUAL(flight_settle(&flight), 0);
    CHECK(stream->written_bytes < 100);
    CHECK_EQUAL(flight.windows.windows[0].from, now + 100 - stream->written_bytes / 8);
    CHECK(flight.windows.windows[0].is_cut);
    end();
}

static void a_crash_wants_all_that_is_there(void)
{
    uint64_t now;

    begin(&(struct flight_options){.keeps_index = true});
    now = counter_clock_update(&flight.clock);
    put(now, now + 1, true);
    put(now + 1, now + 2, true);
    trigger(now + 1000, true);
    CHECK_EQUAL(flight_settle(&flight), 0);
    CHECK_EQUAL(stream->written_bytes, 16);
    end();
}

static void so_many_triggers_are_counted_and_not_listed(void)
{
    begin(&(struct flight_options){.keeps_index = true});
    for (uint64_t i = 0; i < FLIGHT_TRIGGERS_MAX + 5; i++)
        trigger(time_counter(), false);
    CHECK_EQUAL(flight.trigger_count, FLIGHT_TRIGGERS_MAX);
    CHECK_EQUAL(flight.triggers_left_out, 5);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_not_to_be_kept_is_written_at_once),    CHECK_CASE(a_trigger_writes_what_was_kept_and_what_comes),
    CHECK_CASE(windows_say_what_was_too_much_for_the_memory), CHECK_CASE(a_crash_wants_all_that_is_there),
    CHECK_CASE(so_many_triggers_are_counted_and_not_listed),
};

CHECK_MAIN(cases)
