/* SPDX-License-Identifier: MIT */
/* The kernel's events between the calls of a replay, by time. One thread at a time. */
#ifndef GAIT_CLI_SCREENS_REPLAY_KERNEL_H
#define GAIT_CLI_SCREENS_REPLAY_KERNEL_H

#include "cli/screens/replay_screen.h"
#include "trace/kernel_events.h"

/* Which. */
struct replay_kernel_options {
    uint64_t from; /* the counter */
    uint64_t to;
    bool with_sched; /* the many that --sched records, too */
};

struct replay_kernel {
    struct replay_screen *shown;
    bool is_there; /* the trace has some */
    struct kernel_sources sources;
    struct kernel_events events;
    struct kernel_event next;
    bool has_next;
    uint64_t from; /* the counter */
    uint64_t to;
    bool with_sched; /* those of --sched, too */
    uint32_t *tids;  /* of those that are wanted; NULL: all are */
    size_t tid_count;
};

/* Opens them, if there are any. What is wrong with them is said at the end. */
void replay_kernel_init(struct replay_kernel *kernel, struct replay_screen *shown,
                        const struct replay_kernel_options *options);
void replay_kernel_deinit(struct replay_kernel *kernel);

/* Only those of these threads. -ENOMEM. */
MUST_USE int replay_kernel_choose(struct replay_kernel *kernel, const size_t *threads, size_t count);

/* Shows the next one, if it was before that time. False: it was not, or there is none. */
bool replay_kernel_put(struct replay_kernel *kernel, uint64_t before);

#endif
