/* SPDX-License-Identifier: MIT */
/*
 * What the detail lane tells of the calls of one thread, joined to them as they are told in order: their arguments when
 * they begin, their results and exact times when they end. Calls of which there are no events, since only details were
 * asked for, are told from here. Memory grows with how deep calls go. One thread at a time.
 */
#ifndef GAIT_VIEW_JOINED_DETAILS_H
#define GAIT_VIEW_JOINED_DETAILS_H

#include "symbolize/call_arguments.h"
#include "view/call_tracker.h"
#include "view/view_functions.h"

struct joined_details;

/* What was captured when a call began. */
struct joined_details_begin {
    bool is_known;  /* there is a record of the call: its arguments are in the text */
    bool is_unsure; /* records are missing before it, so it may be that of a call nearby */
};

/* And when it ended. */
struct joined_details_end {
    bool is_known;   /* there is a record: what it returned, if anything is known of that, is in the text */
    bool is_unwound; /* it did not return */
    uint64_t ticks;  /* that it took */
};

/* Something of a call that no event tells of. */
struct joined_details_own {
    bool is_begin; /* it begins: its arguments are in the text; else it ends, with its result */
    bool is_known; /* anything is, of these */
    bool is_unwound;
    bool is_cut;       /* it ends since records are missing: it may go on */
    uint64_t function; /* where it begins */
    uint64_t entered;  /* the counter: when it began */
    uint64_t time;     /* now */
};

/* *details_out is NULL if there are none of the thread. The others must outlive it. -ENOMEM. */
MUST_USE int joined_details_create(struct joined_details **details_out, size_t thread, struct view_functions *functions,
                                   struct call_arguments *arguments);
/* NULL is fine. */
void joined_details_destroy(struct joined_details *details);

/*
 * Before this time there is nothing that no event tells of, if all events before it were told; UINT64_MAX where that
 * cannot be said, since times of events are guesses.
 */
uint64_t joined_details_next_time(struct joined_details *details);

/*
 * A call will begin next, or the innermost one end: where times are guesses, this is how it is known what happened
 * before. To be followed by joined_details_take_own until there is nothing.
 */
void joined_details_expect_begin(struct joined_details *details, const struct view_call *call);
void joined_details_expect_end(struct joined_details *details, const struct view_call *call);

/* Events are missing here; those of the calls that are open have ended. */
void joined_details_lose(struct joined_details *details);

/* The next thing that no event tells of, before what is expected or that time. False: there is none. */
bool joined_details_take_own(struct joined_details *details, uint64_t time, struct joined_details_own *own_out,
                             struct detail_text *text);

/* The next call begins. Arguments are added to the text. Without memory, nothing is known of it. */
struct joined_details_begin joined_details_begin(struct joined_details *details, const struct view_call *call,
                                                 struct detail_text *text);

/* The innermost call ends. Its result is added to the text. */
struct joined_details_end joined_details_end(struct joined_details *details, const struct view_call *call,
                                             struct detail_text *text);

#endif
