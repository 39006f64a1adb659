/* SPDX-License-Identifier: MIT */
/*
 * Triggers are looked at before rings are drained, and what is kept is written before what follows it: so each stream
 * stays in order. A window begins where everything is still there: what was dropped has left its time.
 */
#include "record/flight.h"

#include "hosted/growing_array.h"
#include "record/recorded_stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES_DEFAULT ((size_t)256 << 20)
/* Triggers are told a little late: so much longer than asked for is kept. */
#define LATENESS_NS 1000000000ull

void flight_init(struct flight *flight, const struct flight_options *options, struct clock_pair began)
{
    *flight = (struct flight){.options = *options};
    if (flight->options.memory_bytes == 0)
        flight->options.memory_bytes = MEMORY_BYTES_DEFAULT;
    counter_clock_init(&flight->clock, began);
    kept_chunks_init(&flight->chunks, flight->options.memory_bytes);
}

void flight_deinit(struct flight *flight)
{
    kept_chunks_deinit(&flight->chunks);
    window_list_deinit(&flight->windows);
    for (size_t i = 0; i < flight->trigger_count; i++)
        free(flight->triggers[i].text);
    free(flight->triggers);
    flight->triggers = NULL;
    flight->trigger_count = 0;
}

static int note_trigger(struct flight *flight, const struct flight_event *event, uint64_t time)
{
    struct manifest_trigger *trigger;

    if (flight->trigger_count == FLIGHT_TRIGGERS_MAX) {
        flight->triggers_left_out++;
        return 0;
    }
    if (ARRAY_RESERVE(flight->triggers, flight->trigger_capacity, flight->trigger_count + 1) != 0)
        return -ENOMEM;
    trigger = &flight->triggers[flight->trigger_count];
    *trigger = (struct manifest_trigger){.time = time, .pid = event->pid, .tid = event->tid};
    snprintf(trigger->kind, sizeof(trigger->kind), "%s", event->kind);
    trigger->text = strdup(event->text == NULL ? "" : event->text);
    if (trigger->text == NULL)
        return -ENOMEM;
    flight->trigger_count++;
    return 0;
}

static uint64_t before(uint64_t time, uint64_t ticks)
{
    return time > ticks ? time - ticks : 0;
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The window that is asked for, as far as it can be had. */
static struct manifest_window window_around(const struct flight *flight, const struct flight_event *event,
                                            uint64_t time)
{
    const struct flight_options *options = &flight->options;
    const struct kept_chunks *chunks = &flight->chunks;
    uint64_t wanted = before(time, counter_clock_ticks(&flight->clock, options->pre_roll_ns));
    uint64_t from = later_of(event->wants_all ? 0 : wanted, flight->clock.first.counter);

    return (struct manifest_window){
        .from = later_of(from, later_of(chunks->aged_until, chunks->crowded_until)),
        .to = time + counter_clock_ticks(&flight->clock, options->post_roll_ns),
        .is_cut = chunks->crowded_until > later_of(wanted, chunks->aged_until),
    };
}

int flight_trigger(struct flight *flight, const struct flight_event *event)
{
    uint64_t now = counter_clock_update(&flight->clock);
    uint64_t time = event->time == 0 ? now : event->time;
    struct manifest_window window = window_around(flight, event, time);
    bool is_new;
    int result = note_trigger(flight, event, time);

    if (result == 0)
        result = window_list_open(&flight->windows, &window, &is_new);
    if (result != 0)
        return result;
    flight->is_wanting = true;
    flight->is_new |= is_new;
    return 0;
}

bool flight_wants(const struct flight *flight, uint64_t time)
{
    return window_list_wants(&flight->windows, time);
}

int flight_put(struct flight *flight, struct recorded_stream *stream, const struct chunk_contents *contents,
               bool is_keeping)
{
    int result;

    if (!is_keeping)
        return recorded_stream_put(stream, contents);
    if (flight->is_wanting) {
        result = flight_settle(flight);
        if (result != 0)
            return result;
    }
    if (flight_wants(flight, contents->first_time))
        return recorded_stream_put(stream, contents);
    return kept_chunks_add(&flight->chunks, stream, contents);
}

int flight_settle(struct flight *flight)
{
    uint64_t kept_ns = flight->options.pre_roll_ns + LATENESS_NS;
    uint64_t now;
    int result;

    if (flight->is_wanting) {
        const struct manifest_window *window = &flight->windows.windows[flight->windows.count - 1];

        result = kept_chunks_write(&flight->chunks, window->from, window->to);
        if (result != 0)
            return result;
        flight->is_wanting = false;
    }
    if (flight->chunks.first == NULL)
        return 0;
    now = counter_clock_update(&flight->clock);
    kept_chunks_age(&flight->chunks, before(now, counter_clock_ticks(&flight->clock, kept_ns)));
    return 0;
}

void flight_give_up(struct flight *flight)
{
    const struct manifest_window *window;

    if (!flight->is_wanting)
        return;
    window = &flight->windows.windows[flight->windows.count - 1];
    kept_chunks_lose(&flight->chunks, window->from, window->to);
    flight->is_wanting = false;
}

bool flight_take_news(struct flight *flight)
{
    bool is_new = flight->is_new;

    flight->is_new = false;
    return is_new;
}

void flight_describe(const struct flight *flight, struct manifest *manifest)
{
    manifest->is_flight = flight->options.keeps_index;
    manifest->triggers = flight->triggers;
    manifest->trigger_count = flight->trigger_count;
    manifest->triggers_left_out = flight->triggers_left_out;
    manifest->windows = flight->windows.windows;
    /* Where all is written, there is nothing to be said of windows. */
    manifest->window_count = flight->options.keeps_index || flight->options.keeps_detail ? flight->windows.count : 0;
}

void flight_end(struct flight *flight)
{
    window_list_end_at(&flight->windows, counter_clock_update(&flight->clock));
}
