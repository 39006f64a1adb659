/* SPDX-License-Identifier: MIT */
/*
 * Sees to it that what was written is on the disk, and survives the end of the machine: at the end, or every so many
 * seconds. All of the file system is synchronized, by a thread of its own: the drain never waits for it.
 */
#ifndef GAIT_RECORD_DISK_SYNC_H
#define GAIT_RECORD_DISK_SYNC_H

#include "base/attributes.h"

/* When. */
enum disk_sync_when {
    DISK_SYNC_NEVER,
    DISK_SYNC_END,
    DISK_SYNC_SECONDS, /* every so many, and at the end */
};

struct disk_sync_options {
    enum disk_sync_when when;
    unsigned seconds;
};

struct disk_sync;

/* On the file system of an open folder, which has to stay open. The caller owns it. -ENOMEM, -EAGAIN: no thread. */
MUST_USE int disk_sync_begin(const struct disk_sync_options *options, int folder, struct disk_sync **sync_out);

/* What was written last is on the disk when this returns, if it is to be. What synchronizing gave, at any time. */
MUST_USE int disk_sync_end(struct disk_sync *sync);

#endif
