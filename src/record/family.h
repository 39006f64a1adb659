/* SPDX-License-Identifier: MIT */
/*
 * The processes that are recorded, or listed, together: the first one, and those that come from it. Children that are
 * forked bring a ring of their own; programs that are executed get the agent before their first instruction. One
 * thread, which is the one that traces.
 */
#ifndef GAIT_RECORD_FAMILY_H
#define GAIT_RECORD_FAMILY_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct family_member;
struct family_watch;
struct ring_drain;

struct family_options {
    const struct agent_options *agent; /* stays the caller's */
    bool is_child;                     /* the first one is ours: it is waited for */
    /* A program is executed, which the agent is about to be told of as `agent` is then. May be NULL. */
    void (*executed)(void *context, pid_t pid);
    /* Gets a sentence about what is not recorded although the user might expect it. */
    void (*report)(void *context, const char *text);
    void *context;
    struct foreign_roots *roots; /* gets those of programs before they begin; NULL: not wanted */
};

#define FAMILY_EARLY_MAX 64

struct family {
    struct family_options options;
    struct ring_drain *drain;
    pid_t first;
    bool first_has_ended;
    int first_status; /* as wait gives it; -1: not known */
    struct family_member *members;
    size_t member_count;
    struct family_watch *watches;
    pid_t early[FAMILY_EARLY_MAX]; /* children whose watch was over before their parents were known */
    unsigned early_count;          /* how many there ever were */
    uint64_t tracers_ms;           /* when it was last looked at who else traces them */
    uint32_t signals_seen;         /* how many children of ours had changed at the last look */
};

/* Why the watching ended. */
enum family_run_end {
    FAMILY_OVER,    /* no process is left */
    FAMILY_STOPPED, /* the user said so, or nothing else is wanted; processes may be left */
    FAMILY_FAILED,  /* the error says why */
};

/* How they are watched. Functions may be NULL. */
struct family_run_options {
    bool only_first;         /* what other processes do is not wanted when the first one has ended */
    bool typed_is_for_first; /* what is typed at the terminal is for a first process that is ours, and ends nothing */
    void (*before)(void *context);                        /* is called before each look; */
    int (*behind)(void *context, struct gait_error *err); /* behind it: an error ends the loop */
    bool (*is_to_end)(void *context);                     /* whether another than a signal wants an end */
    void *context;
};

/* Begins with the first process, whose ring is emptied with the others from now on; the target is taken over. */
MUST_USE int family_begin(struct family *family, struct ring_drain *drain, const struct family_options *options,
                          const struct target *first, struct gait_error *err);

/* Another one that is not of the first one's. The target is taken over. */
MUST_USE int family_join(struct family *family, const struct target *other, struct gait_error *err);

/*
 * Looks at everything again and again: what processes ask, which ones came and ended; empties the rings; and sleeps
 * until there is more. Until no process is left, or stop_signals.h or is_to_end ends it. Errors are those of what
 * becomes of the records: it cannot go on.
 */
MUST_USE enum family_run_end family_run(struct family *family, const struct family_run_options *run,
                                        struct gait_error *err);

/* Whether no process is left that is, or could be, recorded. */
bool family_is_over(const struct family *family);

/* Whether the first one has ended; *status_out is then its wait status, or -1. */
bool family_first_has_ended(const struct family *family, int *status_out);

/*
 * Lets all processes that are left go on without us, and takes the agent out of them. What they had written until then
 * is drained, if that is possible. -ETIMEDOUT: the agent stays in one of them.
 */
MUST_USE int family_detach(struct family *family, struct gait_error *err);

/* Waits for the end of the first one, if it is ours. */
void family_wait_for_first(struct family *family);

/* Gives everything back but the rings. */
void family_end(struct family *family);

#endif
