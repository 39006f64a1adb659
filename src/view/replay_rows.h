/* SPDX-License-Identifier: MIT */
/*
 * Rows of a replay, held back as long as it is not known what they are: a call that begins becomes one row with its end
 * if nothing is shown in between, and none if it turns out to be shorter than what is wanted. So much is in memory as
 * is open, and no more. One thread at a time.
 */
#ifndef GAIT_VIEW_REPLAY_ROWS_H
#define GAIT_VIEW_REPLAY_ROWS_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum replay_row_kind {
    REPLAY_THREAD,      /* what follows is of that thread */
    REPLAY_OPEN,        /* a call begins, and others within it follow */
    REPLAY_CLOSE,       /* it ends */
    REPLAY_LEAF,        /* a call begins and ends */
    REPLAY_GAP,         /* events are missing */
    REPLAY_UNSURE,      /* captured arguments are missing: those of the next call may be of another */
    REPLAY_SYSTEM_CALL, /* one was made: all of it is in the arguments */
    REPLAY_PROBE,       /* a probe is passed; what it is, with its arguments, is in arguments */
};

struct replay_row {
    enum replay_row_kind kind;
    size_t thread;       /* index */
    uint32_t function;   /* number */
    uint32_t level;      /* how many rows that are open it is within */
    uint32_t flags;      /* of enum call_flag */
    uint64_t time;       /* the counter: when it begins; of REPLAY_CLOSE: when it ends */
    uint64_t ticks;      /* that it took; of REPLAY_OPEN 0 */
    uint64_t lost_bytes; /* of REPLAY_GAP; 0: nobody asked for what is missing */
    char *arguments;     /* as text; NULL: they were not captured. The receiver may look, no more */
    char *result;        /* the same */
};

struct replay_receiver {
    /* Nonzero: no more. */
    int (*row)(void *context, const struct replay_row *row);
    void *context;
};

struct held_row;

struct replay_rows {
    struct replay_receiver receiver;
    uint64_t min_ticks;
    struct held_row *first;
    struct held_row *last;
    struct held_row *spare;
    uint64_t next_ticket;
    int result; /* not 0: the receiver's, or -ENOMEM */
};

/* A call that began, for its end. */
struct replay_ticket {
    uint64_t number;
    struct held_row *row; /* for replay_rows only: it may be gone */
};

/* Calls that take less than min_ticks are not told. Takes no memory yet. */
void replay_rows_init(struct replay_rows *rows, const struct replay_receiver *receiver, uint64_t min_ticks);
void replay_rows_deinit(struct replay_rows *rows);

/* A call begins: row->kind does not matter, texts become those of the rows. */
struct replay_ticket replay_rows_begin(struct replay_rows *rows, const struct replay_row *row);
/* It ends. */
void replay_rows_end(struct replay_rows *rows, struct replay_ticket ticket, const struct replay_row *row);
/* Something else happens. */
void replay_rows_put(struct replay_rows *rows, const struct replay_row *row);

/* There is no more: what is held back is told, but not what may be too short at that time. Returns rows->result. */
MUST_USE int replay_rows_finish(struct replay_rows *rows, uint64_t time);

#endif
