/* SPDX-License-Identifier: MIT */
/*
 * Probes at work: the events, the programs in the kernel that belong to them, and the filters, set up together and
 * taken down together. One thread at a time.
 */
#ifndef GAIT_KERNEL_WATCH_H
#define GAIT_KERNEL_WATCH_H

#include "kernel/chosen_probes.h"
#include "kernel/kernel_program.h"
#include "kernel/perf_session.h"

struct watch_options {
    struct perf_session_options session;
    const char *condition; /* events that do not fulfil it are dropped in the kernel; NULL: none are */
    bool is_counting;      /* in the kernel: no events come */
    const char *by;        /* counts are by this value; NULL: by probe alone */
    const char *measure;   /* and by the size of this one; NULL: of none */
};

struct watch {
    struct watch_options options;
    struct chosen_probes *list;
    struct perf_session session;
    struct kernel_programs programs;
    int *descriptors; /* of what only programs look at */
    size_t descriptor_count;
};

/* Sets everything up; the list stays the caller's and must outlive it. Explains errors. */
MUST_USE int watch_open(struct watch *watch, struct chosen_probes *list, const struct watch_options *options,
                        struct gait_error *err);
void watch_close(struct watch *watch);

/* From now on events come. */
MUST_USE int watch_start(struct watch *watch, struct gait_error *err);

#endif
