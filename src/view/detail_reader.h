/* SPDX-License-Identifier: MIT */
/*
 * The detail records of one thread of a trace, one after the other, for who looks at something else at the same time.
 * Nothing in the files is trusted: behind what is no record, reading goes on with the next chunk. Memory is bounded by
 * the largest chunk. One thread at a time.
 */
#ifndef GAIT_VIEW_DETAIL_READER_H
#define GAIT_VIEW_DETAIL_READER_H

#include "trace/trace_details.h"
#include "view/view_trace.h"

/* What all kinds have; the rest is in the bytes of the record, which was checked. */
struct detail_item {
    struct detail_record record;
    const uint8_t *bytes; /* the reader's, until the next one */
    bool is_behind_gap;   /* some are missing before it */
};

struct detail_reader;

/* *reader_out is NULL if there are no details of that thread. -ENOMEM. */
MUST_USE int detail_reader_create(struct detail_reader **reader_out, const struct view_trace *trace, size_t thread);
/* NULL is fine. */
void detail_reader_destroy(struct detail_reader *reader);

/* The next one, which stays the next until detail_reader_pass. NULL: there are no more that can be read. */
const struct detail_item *detail_reader_peek(struct detail_reader *reader);
void detail_reader_pass(struct detail_reader *reader);

/* The fields of a record that is of that kind. */
struct detail_enter detail_item_enter(const struct detail_item *item);
struct detail_leave detail_item_leave(const struct detail_item *item);

#endif
