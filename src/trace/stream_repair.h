/* SPDX-License-Identifier: MIT */
/*
 * Ending a stream that was not ended: what is damaged behind the last good chunk is cut off, and a footer is written.
 * Good chunks are never touched; where some follow the damage, the file is left as it is. One thread at a time, and
 * nobody may be recording.
 */
#ifndef GAIT_TRACE_STREAM_REPAIR_H
#define GAIT_TRACE_STREAM_REPAIR_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdint.h>

struct stream_end;

struct stream_repair {
    uint64_t cut_bytes;   /* how much was cut off */
    uint64_t chunk_count; /* how many are left */
};

/*
 * `end` is how stream_reader found it: cut off or damaged. -EBUSY: good chunks follow the damage; -EACCES, -EROFS and
 * others: the file cannot be written. err says so.
 */
MUST_USE int stream_repair_run(int folder, const char *path, const struct stream_end *end,
                               struct stream_repair *repair_out, struct gait_error *err);

#endif
