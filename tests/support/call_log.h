/* SPDX-License-Identifier: MIT */
/* What a reader of calls tells, as text: "<f@t" begins, "f@t" ends, with its flags, inner time behind "/"; "!" a gap.
 */
#ifndef GAIT_TESTS_CALL_LOG_H
#define GAIT_TESTS_CALL_LOG_H

#include "view/call_merge.h"
#include "view/call_tracker.h"

struct call_log {
    char text[4096];
    size_t used;
    unsigned enough; /* after so many things no more are wanted; 0: all are */
    unsigned count;
};

struct call_receiver call_log_receiver(struct call_log *log);
/* The same with the thread's index in front of each. */
struct merged_receiver call_log_merged(struct call_log *log);

#endif
