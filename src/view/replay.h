/* SPDX-License-Identifier: MIT */
/*
 * The calls of a trace as rows, in the order of time or thread by thread, of which some are left out: those outside of
 * what was asked for. Rows come as they are read. Memory grows with how deep calls go, and with threads. One thread at
 * a time.
 */
#ifndef GAIT_VIEW_REPLAY_H
#define GAIT_VIEW_REPLAY_H

#include "view/function_choice.h"
#include "view/replay_rows.h"

struct replay_options {
    const size_t *threads; /* indexes */
    size_t thread_count;
    bool by_thread;                 /* one after the other, each behind a row that names it */
    struct function_choice *choice; /* NULL: all functions; else only these, with what is beneath them */
    uint32_t depth;                 /* how many levels of what is shown; 0: all */
    uint64_t from;                  /* the counter: what has ended before is not shown */
    uint64_t to;                    /* nor what began after it; UINT64_MAX: all is shown */
    uint64_t min_ticks;             /* nor calls that took less */
};

/*
 * 0: all was told that can be read, up to where the receiver had enough. Else a thread's stream cannot be read, and err
 * says why; the others were told. As for call_reader_read, err also says if one of them is cut off or damaged.
 */
MUST_USE int replay_read(struct view_functions *functions, const struct replay_options *options,
                         const struct replay_receiver *receiver, struct gait_error *err);

#endif
