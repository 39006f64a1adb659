/* SPDX-License-Identifier: MIT */
/* A sink that remembers events. Takes no memory while a thread is followed, which may be in malloc. */
#ifndef GAIT_TESTS_EVENT_LIST_H
#define GAIT_TESTS_EVENT_LIST_H

#include "gait/stalker.h"

#include <stddef.h>
#include <stdint.h>

struct event_list {
    struct gait_event_sink sink; /* for gait_follow_options */
    struct gait_event *events;
    size_t count;
    size_t capacity;
    uint64_t total;    /* of events, those for which there was no room too */
    uint64_t batches;  /* how often it was called */
    size_t batch_most; /* events in one of them */
    uint64_t fails_at; /* the batch, from 1, at which it reports an error; 0: none */
};

/* One thread at a time may use it. Ends the program without memory. */
void event_list_init(struct event_list *list, size_t capacity);
void event_list_deinit(struct event_list *list);
void event_list_clear(struct event_list *list);

/* Forgets all but the kinds in `kinds` with a location in [start, end). */
void event_list_filter(struct event_list *list, uint32_t kinds, uint64_t start, uint64_t end);

/* How many there are of these kinds. */
size_t event_list_count(const struct event_list *list, uint32_t kinds);

#endif
