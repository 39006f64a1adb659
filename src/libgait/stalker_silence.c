/* SPDX-License-Identifier: MIT */
/* Code that tells no events, at the user's word: errors with words. Stateless. */
#include "gait/stalker.h"

#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/stalker_handle.h"

#include <errno.h>
#include <string.h>

static int failed(struct gait_error *err, const char *doing, uint64_t start, uint64_t size_bytes, int result)
{
    unsigned long long first = start, size = size_bytes;

    if (result == -EINVAL)
        return error_set(err, result, "cannot %s: 0x%llx with %llu bytes is no range", doing, first, size);
    return error_set(err, result, "cannot %s: 0x%llx with %llu bytes: %s", doing, first, size, strerror(-result));
}

EXPORT int gait_stalker_silence(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes,
                                struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "silence code");
    result = quiet_range_add(stalker->engine, start, start + size_bytes);
    return result == 0 ? 0 : failed(err, "silence code", start, size_bytes, result);
}

EXPORT int gait_stalker_unsilence(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes,
                                  struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "let code write events again");
    result = quiet_range_remove(stalker->engine, start, start + size_bytes);
    return result == 0 ? 0 : failed(err, "let code write events again", start, size_bytes, result);
}

EXPORT bool gait_stalker_is_silent(struct gait_stalker *stalker, uint64_t address)
{
    return stalker != NULL && quiet_range_holds(stalker->engine, app_pc_of(address));
}
