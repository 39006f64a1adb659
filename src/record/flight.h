/* SPDX-License-Identifier: MIT */
/*
 * The flight recorder: which records of a recording are written, and which only kept in memory for a while. What is
 * kept is written when a trigger opens a window of time around it. One for each recording; one thread at a time.
 */
#ifndef GAIT_RECORD_FLIGHT_H
#define GAIT_RECORD_FLIGHT_H

#include "base/attributes.h"
#include "record/counter_clock.h"
#include "record/kept_chunks.h"
#include "record/window_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many triggers are listed; others are counted. */
#define FLIGHT_TRIGGERS_MAX 1000u

/* All zero: everything is written. */
struct flight_options {
    bool keeps_index;      /* index lanes are written in windows only */
    bool keeps_detail;     /* the same of detail lanes */
    uint64_t pre_roll_ns;  /* what is wanted before a trigger */
    uint64_t post_roll_ns; /* and behind it */
    size_t memory_bytes;   /* for what is kept; 0: 256 MiB */
};

struct flight {
    struct flight_options options;
    struct counter_clock clock;
    struct kept_chunks chunks;
    struct window_list windows;
    bool is_wanting; /* a window was opened, and what is kept not written yet */
    bool is_new;     /* a window was opened since the last question */
    struct manifest_trigger *triggers;
    size_t trigger_count;
    size_t trigger_capacity;
    uint64_t triggers_left_out;
};

/* What happened; the text is copied. */
struct flight_event {
    const char *kind; /* as in struct manifest_trigger */
    const char *text;
    uint64_t time; /* the counter; 0: now */
    uint32_t pid;
    uint32_t tid;
    bool wants_all; /* all that is in memory, however old */
};

void flight_init(struct flight *flight, const struct flight_options *options, struct clock_pair began);
void flight_deinit(struct flight *flight);

/* Opens a window, or makes the last one longer. -ENOMEM. */
MUST_USE int flight_trigger(struct flight *flight, const struct flight_event *event);

/* Writes a chunk, or keeps it. It is written before this returns, if it is; errors are those of writing. */
MUST_USE int flight_put(struct flight *flight, struct recorded_stream *stream, const struct chunk_contents *contents,
                        bool is_keeping);

/* Between two drains: writes what windows want that were opened since, and drops what is too old. */
MUST_USE int flight_settle(struct flight *flight);

/* Nothing can be written any more: what windows want, and have not got, is lost. */
void flight_give_up(struct flight *flight);

/* Whether records that begin at that time are to be written, of a lane that is kept. */
bool flight_wants(const struct flight *flight, uint64_t time);

/* Whether a window was opened since the last time that this was asked: then the manifest should say so. */
bool flight_take_news(struct flight *flight);

/* What the manifest is to say. Valid until the next call of any other function here. */
void flight_describe(const struct flight *flight, struct manifest *manifest);

/* Nothing comes any more. */
void flight_end(struct flight *flight);

#endif
