/* SPDX-License-Identifier: MIT */
/*
 * A folder for some time, which nobody else may look into: it goes when it is removed, and also when this process ends
 * in whatever way. It is in $TMPDIR, or in /tmp. One thread at a time; waits for no other process but its own.
 */
#ifndef GAIT_TRACE_TEMPORARY_FOLDER_H
#define GAIT_TRACE_TEMPORARY_FOLDER_H

#include "base/attributes.h"
#include "gait/error.h"

#include <sys/types.h>

struct temporary_folder {
    char *path;
    int fd;
    int end;       /* is closed when we end: what the cleaner waits for */
    pid_t cleaner; /* a process that removes the folder */
};

/* Explains errors: no room, no permission. */
MUST_USE int temporary_folder_make(struct temporary_folder **folder_out, struct gait_error *err);

/* With all that is in it; comes back when it is gone. NULL is fine. */
void temporary_folder_remove(struct temporary_folder *folder);

#endif
