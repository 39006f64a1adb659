/* SPDX-License-Identifier: MIT */
/* The calls of one thread of a trace, in order. Memory is bounded by a chunk and by how deep calls go. */
#ifndef GAIT_VIEW_CALL_READER_H
#define GAIT_VIEW_CALL_READER_H

#include "view/call_tracker.h"
#include "view/view_trace.h"

/*
 * Tells all calls of the thread with that index. 0: all that can be read was told, up to where the receiver had enough;
 * what is missing was told as a gap. The receiver's own result, if that was not 0. Else the stream cannot be read, and
 * err says why. A stream that is cut off or damaged is read up to there: that is no failure, but err says
 * so, unless it already says something that matters more. Several threads may read at once.
 */
MUST_USE int call_reader_read(const struct view_trace *trace, size_t thread, const struct call_receiver *receiver,
                              struct gait_error *err);

/* The same in steps, a chunk each, for who reads several threads side by side. */
struct call_reader;

/* The trace stays open until the end. -ENOMEM. */
MUST_USE int call_reader_begin(struct call_reader **reader_out, const struct view_trace *trace, size_t thread,
                               const struct call_receiver *receiver);
/*
 * Calls that have ended before that time need not be told. Of hooked functions what came before is not read then, but
 * for what is needed to tell those that are open. Before the first step.
 */
void call_reader_skip(struct call_reader *reader, uint64_t before);
/* Tells some calls, or none. False: there are no more. */
bool call_reader_step(struct call_reader *reader);
/* As call_reader_read; tells what is still open, if not all was read, and gives the reader back. */
int call_reader_end(struct call_reader *reader, struct gait_error *err);

#endif
