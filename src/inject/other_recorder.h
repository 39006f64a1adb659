/* SPDX-License-Identifier: MIT */
/*
 * Who records a process already. The ring that the process writes into is mapped in both, and says whether its reader
 * lives.
 */
#ifndef GAIT_INJECT_OTHER_RECORDER_H
#define GAIT_INJECT_OTHER_RECORDER_H

#include "base/attributes.h"
#include "gait/error.h"

#include <sys/types.h>

/* What is found in a process. */
enum other_recorder {
    OTHER_RECORDER_NONE,
    OTHER_RECORDER_LIVES,
    OTHER_RECORDER_DIED, /* the process has a ring that nobody reads any more */
};

/*
 * Looks for one, in a process that runs or is stopped. One that has only begun, and has not said yet that it is there,
 * is waited for, for a second at most. `reader_out` is the process that reads the ring, or 0: it cannot be seen from
 * here. What may not be read is as if there were none: who may not read a process may not record it either.
 */
enum other_recorder other_recorder_find(pid_t pid, pid_t *reader_out);

/* Says who records the process, and how it is ended, of one that lives. Returns -EALREADY. */
int other_recorder_explain(pid_t pid, pid_t reader, struct gait_error *err);

#endif
