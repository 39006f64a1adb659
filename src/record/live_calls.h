/* SPDX-License-Identifier: MIT */
/*
 * System calls while they happen: what rings of processes bring (ring_drain.h), in the order of time. They come thread
 * by thread; those that were there before a look at all rings began are complete. A program that is executed is
 * reported when something follows that its own thread would not have done otherwise. One thread at a time.
 */
#ifndef GAIT_RECORD_LIVE_CALLS_H
#define GAIT_RECORD_LIVE_CALLS_H

#include "base/attributes.h"
#include "record/ring_drain.h"

#include <stdint.h>
#include <sys/types.h>

struct live_calls;
struct system_call_request;

/* The receiver of their rings: its context is the struct live_calls. */
extern const struct drain_receiver live_calls_receiver;

/* Time begins. What comes goes to the request's callback; the request stays the caller's. -ENOMEM. */
MUST_USE int live_calls_create(const struct system_call_request *request, struct live_calls **calls_out);
/* NULL is fine. */
void live_calls_destroy(struct live_calls *calls);

/* The process that was begun with: where others are not followed, its first thread is the one that is meant. */
void live_calls_set_first(struct live_calls *calls, pid_t first);

/* Nothing more comes: reports what waits for its turn. */
void live_calls_finish(struct live_calls *calls);

/* When they were created, and now, since 1970. */
uint64_t live_calls_began_ns(const struct live_calls *calls);
uint64_t live_calls_now_ns(struct live_calls *calls);

#endif
