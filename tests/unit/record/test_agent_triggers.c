/* SPDX-License-Identifier: MIT */
#include "record/agent_triggers.h"

#include "base/time_counter.h"
#include "record/flight.h"
#include "record/trigger_spec.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <signal.h>

static const struct trigger_spec specs[] = {
    {.kind = TRIGGER_SPEC_SYMBOL, .text = "symbol=a"},
    {.kind = TRIGGER_SPEC_SIGNAL, .text = "signal=USR1", .signal = SIGUSR1},
    {.kind = TRIGGER_SPEC_SLOW, .text = "slow=b>5ms"},
};
static const struct trigger_list list = {specs, 3};
static struct ring_region *ring;
static struct ring_reader *reader;
static struct flight flight;
static struct agent_triggers triggers;

static void begin(void)
{
    static const struct ring_options options;

    triggers = (struct agent_triggers){.looked_time = 0};
    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    flight_init(&flight, &(struct flight_options){.keeps_index = true}, clock_pair_read());
}

static void end(void)
{
    flight_deinit(&flight);
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static void add(uint32_t kind, uint32_t number, uint64_t value)
{
    trigger_log_add(
        ring, &(struct ring_trigger){.time = time_counter(), .kind = kind, .number = number, .tid = 9, .value = value});
}

static void take(void)
{
    CHECK_EQUAL(agent_triggers_take(&triggers, reader, &list, &flight, 7), 0);
}

static void triggers_are_those_that_were_asked_for(void)
{
    begin();
    take();
    CHECK_EQUAL(flight.trigger_count, 0);
    add(RING_TRIGGER_CALL, 0, 0);
    add(RING_TRIGGER_SIGNAL, 0, SIGUSR1);
    add(RING_TRIGGER_SLOW, 2, 100);
    take();
    take();
    CHECK_EQUAL(flight.trigger_count, 3);
    CHECK_TEXT(flight.triggers[0].kind, "symbol");
    CHECK_TEXT(flight.triggers[0].text, "symbol=a");
    CHECK_EQUAL(flight.triggers[0].pid, 7);
    CHECK_EQUAL(flight.triggers[0].tid, 9);
    CHECK_TEXT(flight.triggers[1].text, "signal=USR1");
    CHECK_TEXT(flight.triggers[2].kind, "slow");
    end();
}

static void what_nobody_asked_for_is_passed_over(void)
{
    begin();
    add(RING_TRIGGER_CALL, 1, 0);
    add(RING_TRIGGER_CALL, 3, 0);
    add(RING_TRIGGER_CALL, UINT32_MAX, 0);
    add(RING_TRIGGER_SLOW, 0, 0);
    add(RING_TRIGGER_SIGNAL, 0, SIGUSR2);
    add(77, 0, 0);
    take();
    CHECK_EQUAL(flight.trigger_count, 0);
    end();
}

static void times_that_cannot_be_are_set_right(void)
{
    uint64_t before;

    begin();
    take();
    before = triggers.looked_time;
    trigger_log_add(ring, &(struct ring_trigger){.time = 5, .kind = RING_TRIGGER_CALL});
    trigger_log_add(ring, &(struct ring_trigger){.time = UINT64_MAX, .kind = RING_TRIGGER_CALL});
    take();
    CHECK_EQUAL(flight.trigger_count, 2);
    CHECK_EQUAL(flight.triggers[0].time, before);
    CHECK_EQUAL(flight.triggers[1].time, before);
    end();
}

static void those_that_are_missing_are_counted_and_their_time_is_wanted(void)
{
    uint64_t before;

    begin();
    take();
    before = triggers.looked_time;
    for (unsigned i = 0; i < 5000; i++)
        add(RING_TRIGGER_CALL, 0, 0);
    take();
    CHECK_EQUAL(flight.trigger_count + flight.triggers_left_out, 5000);
    CHECK_EQUAL(flight.triggers[0].time, before);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(triggers_are_those_that_were_asked_for),
    CHECK_CASE(what_nobody_asked_for_is_passed_over),
    CHECK_CASE(times_that_cannot_be_are_set_right),
    CHECK_CASE(those_that_are_missing_are_counted_and_their_time_is_wanted),
};

CHECK_MAIN(cases)
