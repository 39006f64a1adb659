/* SPDX-License-Identifier: MIT */
/*
 * Unpacking a trace that is in one file. Trusts nothing: only files that belong to a trace are written, none outside of
 * the folder, none twice, and no more bytes than the file says and there is room for. One thread at a time.
 */
#ifndef GAIT_TRACE_TRACE_UNPACK_H
#define GAIT_TRACE_TRACE_UNPACK_H

#include "base/attributes.h"
#include "gait/error.h"

struct temporary_folder;

/* Into an open folder that is empty. Explains errors; what was written by then is left. */
MUST_USE int trace_unpack_to(const char *path, int folder, struct gait_error *err);

/*
 * Into a temporary folder, which is the caller's to remove, and is also opened. Explains errors, such as that it is no
 * packed trace; there is no folder then.
 */
MUST_USE int trace_unpack_open(const char *path, struct temporary_folder **unpacked_out, int *folder_out,
                               struct gait_error *err);

#endif
