/* SPDX-License-Identifier: MIT */
/* Translations that are forgotten, renewed or made ahead of time at the user's word: errors with words. Stateless. */
#include "gait/stalker.h"

#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/stalker_handle.h"
#include "stalker/invalidate.h"
#include "stalker/unit.h"

#include <errno.h>
#include <string.h>

static bool is_range(uint64_t start, uint64_t size_bytes)
{
    return size_bytes != 0 && start + size_bytes >= start;
}

static int no_range(struct gait_error *err, uint64_t start, uint64_t size_bytes)
{
    return error_set(err, EINVAL, "cannot invalidate code: 0x%llx with %llu bytes is no range",
                     (unsigned long long)start, (unsigned long long)size_bytes);
}

EXPORT int gait_stalker_invalidate(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes,
                                   struct gait_error *err)
{
    if (stalker == NULL)
        return stalker_handle_missing(err, "invalidate code");
    if (!is_range(start, size_bytes))
        return no_range(err, start, size_bytes);
    stalker_invalidate(stalker->engine, start, start + size_bytes);
    return 0;
}

EXPORT int gait_stalker_invalidate_for(struct gait_stalker *stalker, int tid, uint64_t start, uint64_t size_bytes,
                                       struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "invalidate code");
    if (!is_range(start, size_bytes))
        return no_range(err, start, size_bytes);
    result = stalker_invalidate_for(stalker->engine, tid, start, start + size_bytes);
    if (result != 0)
        return error_set(err, result, "cannot invalidate code for thread %d: it is not followed", tid);
    return 0;
}

EXPORT int gait_stalker_prefetch(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                 uint64_t address, struct gait_error *err)
{
    struct follow_request request;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "translate code ahead of time");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = unit_prefetch(stalker->engine, &request.configuration, app_pc_of(address), NULL);
    if (result == -EFAULT)
        return error_set(err, result, "cannot translate 0x%llx ahead of time: no code can be read there",
                         (unsigned long long)address);
    if (result != 0)
        return error_set(err, result, "cannot translate 0x%llx ahead of time: %s", (unsigned long long)address,
                         strerror(-result));
    return 0;
}

EXPORT int gait_stalker_prefetch_link(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                      uint64_t from, uint64_t to, struct gait_error *err)
{
    unsigned long long source = from, target = to;
    struct app_pc to_pc = app_pc_of(to);
    struct follow_request request;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "link blocks ahead of time");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = unit_prefetch(stalker->engine, &request.configuration, app_pc_of(from), &to_pc);
    if (result == -ENOENT)
        return error_set(err, result, "cannot link 0x%llx to 0x%llx: no branch of that block leads there", source,
                         target);
    if (result == -EFAULT)
        return error_set(err, result, "cannot link 0x%llx to 0x%llx: no code can be read at one of them", source,
                         target);
    if (result != 0)
        return error_set(err, result, "cannot link 0x%llx to 0x%llx: %s", source, target, strerror(-result));
    return 0;
}

EXPORT int gait_stalker_recompile(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                  uint64_t address, struct gait_error *err)
{
    unsigned long long start = address;
    struct follow_request request;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "translate code again");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = stalker_recompile(stalker->engine, &request.configuration, app_pc_of(address));
    switch (result) {
    case 0:
        return 0;
    case -ENOENT:
        return error_set(err, result,
                         "cannot translate 0x%llx again: no block that begins there is translated for these events and "
                         "this transformer; gait_stalker_prefetch does that",
                         start);
    case -EFAULT:
        return error_set(err, result, "cannot translate 0x%llx again: no code can be read there any more", start);
    default:
        return error_set(err, result, "cannot translate 0x%llx again: %s", start, strerror(-result));
    }
}
