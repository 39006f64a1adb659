/* SPDX-License-Identifier: MIT */
/*
 * The ways to follow a thread that differ in what is written into translations, each with an engine of its own and with
 * what it observed: the states that callouts saw, and events. All of it belongs to the process: one at a time. What
 * runs on the followed thread takes no memory and calls nobody in libc.
 */
#ifndef GAIT_TESTS_FOLLOW_MODE_H
#define GAIT_TESTS_FOLLOW_MODE_H

#include "gait/stalker.h"
#include "support/event_list.h"
#include "support/step_list.h"

/* What a transformer puts in front of each instruction. */
enum follow_mode_put {
    FOLLOW_MODE_PUTS_NOTHING,
    FOLLOW_MODE_PUTS_CALLOUTS,         /* that use general registers only */
    FOLLOW_MODE_PUTS_CALLOUTS_VECTORS, /* that overwrite vector registers */
    FOLLOW_MODE_PUTS_COUNTS,           /* in a counter of the engine's, near the code */
    FOLLOW_MODE_PUTS_COUNTS_FAR,       /* in one of ours */
    FOLLOW_MODE_PUTS_CODE,
};

/* What callouts do besides looking, now and then. */
enum follow_mode_act {
    FOLLOW_MODE_LOOKS,
    FOLLOW_MODE_UNFOLLOWS,   /* once, half-way */
    FOLLOW_MODE_INVALIDATES, /* the code that is running */
    FOLLOW_MODE_PAUSES,      /* and does not resume */
};

struct follow_mode {
    const char *name;
    struct gait_stalker_options stalker;
    uint32_t events; /* of enum gait_event_kind */
    size_t buffer_bytes;
    enum follow_mode_put puts;
    enum follow_mode_act act;
    bool probes;     /* where blocks of the program begin */
    bool excludes;   /* a piece of the code */
    bool outside;    /* by another thread, in turns */
    bool interrupts; /* by signals that have nothing to do with the program */
};

extern const struct follow_mode follow_modes[];
extern const unsigned follow_mode_count;

/* What was observed of one run. */
struct follow_observation {
    size_t step_count; /* by callouts, or by probes */
    uint64_t counted;  /* by counts, in a counter of ours */
    struct step steps[STEP_LIST_ROOM];
    struct event_list events;
};

extern struct follow_observation follow_observation;

/* The same by another thread, in turns. */
void follow_mode_start_outside(unsigned mode);
void follow_mode_stop_outside(void);

/* How many instructions were counted since following began. */
uint64_t follow_mode_counted(unsigned mode);

/* Makes the engine of each mode, for code in a range. 0 or -errno. */
int follow_modes_begin(struct arena_span code) __attribute__((warn_unused_result));

/* Tells a mode's engine that the code is another one, with blocks that begin at `starts`. */
void follow_mode_renew(unsigned mode, const uint64_t *starts, unsigned start_count);

/*
 * Follow the calling thread, and no more. `act_after` is the number of the callout that does something besides
 * looking. Nothing was observed when following begins. End the program, with the reason, if they cannot.
 */
void follow_mode_follow(unsigned mode, size_t act_after);
void follow_mode_unfollow(unsigned mode);

#endif
