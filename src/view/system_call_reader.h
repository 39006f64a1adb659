/* SPDX-License-Identifier: MIT */
/*
 * The system calls of one thread of a trace, one after the other, in the order in which they ended. One that was begun
 * and did not come back is told where it was made. Nothing in the files is trusted. One thread at a time.
 */
#ifndef GAIT_VIEW_SYSTEM_CALL_READER_H
#define GAIT_VIEW_SYSTEM_CALL_READER_H

#include "ring/detail_record.h"
#include "view/view_trace.h"

struct view_system_call {
    uint64_t number;
    uint64_t begin; /* the counter */
    uint64_t end;   /* the same as begin, if it did not return */
    int64_t result;
    uint32_t flags; /* of enum detail_system_call_flag */
    uint64_t arguments[DETAIL_ARGUMENTS];
    struct detail_values values; /* the reader's, until the next one */
    bool is_behind_gap;          /* some are missing before it */
};

struct system_call_reader;

/* *reader_out is NULL if there are no details of that thread. -ENOMEM. */
MUST_USE int system_call_reader_create(struct system_call_reader **reader_out, const struct view_trace *trace,
                                       size_t thread);
/* NULL is fine. */
void system_call_reader_destroy(struct system_call_reader *reader);

/* The next one, which stays the next until system_call_reader_pass. NULL: there are no more that can be read. */
const struct view_system_call *system_call_reader_peek(struct system_call_reader *reader);
void system_call_reader_pass(struct system_call_reader *reader);

/* What a record that was checked, of such a call, says. */
struct view_system_call view_system_call_of(const uint8_t *record);

#endif
