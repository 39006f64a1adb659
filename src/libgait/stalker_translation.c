/* SPDX-License-Identifier: MIT */
/* What the engine made of a block, for those who want to see it: errors with words. Stateless. */
#include "gait/stalker.h"

#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "libgait/stalker_handle.h"
#include "stalker/stalker_engine.h"

#include <errno.h>
#include <string.h>

static const struct options_type translation_type = {
    "show a translation",
    "gait_translation",
    sizeof(struct gait_translation),
};

EXPORT int gait_stalker_find_translation(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                         uint64_t address, struct gait_translation *translation_out,
                                         struct gait_error *err)
{
    struct gait_translation translation = {0}, asked;
    struct follow_request request;
    struct block_extent extent;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, translation_type.doing);
    if (translation_out == NULL)
        return error_set(err, EINVAL, "cannot show a translation: nowhere to put it, translation_out is NULL");
    translation.size_bytes = translation_out->size_bytes < sizeof(asked) ? translation_out->size_bytes : sizeof(asked);
    result = options_read(&translation_type, &translation, &asked, err);
    if (result == 0)
        result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = block_lookup(stalker->engine, &request.configuration, app_pc_of(address), &extent);
    if (result != 0)
        return error_set(err, result,
                         "cannot show a translation of 0x%llx: no block that begins there is translated for these "
                         "events and this transformer",
                         (unsigned long long)address);
    asked = (struct gait_translation){
        .size_bytes = translation_out->size_bytes,
        .start = extent.start.value,
        .original_bytes = extent.size_bytes,
        .code = (const void *)(uintptr_t)extent.code.value,
        .code_bytes = extent.code_bytes,
    };
    memset(translation_out, 0, translation_out->size_bytes);
    memcpy(translation_out, &asked, translation.size_bytes);
    return 0;
}

EXPORT int gait_stalker_original_address(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                         uint64_t code_address, uint64_t *address_out, struct gait_error *err)
{
    struct follow_request request;
    struct app_pc original;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, translation_type.doing);
    if (address_out == NULL)
        return error_set(err, EINVAL, "cannot show a translation: nowhere to put it, address_out is NULL");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = block_lookup_original(stalker->engine, &request.configuration, cache_pc_of(code_address), &original);
    if (result != 0)
        return error_set(err, result, "cannot find what 0x%llx stands for: nothing is known of that place",
                         (unsigned long long)code_address);
    *address_out = original.value;
    return 0;
}
