/* SPDX-License-Identifier: MIT */
/* The memory part of gait/process.h: the core's functions, with words for people. Stateless. */
#include "gait/process.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "process/mapping_list.h"
#include "process/memory_pattern.h"
#include "process/memory_probe.h"
#include "process/memory_scan.h"

#include <errno.h>
#include <string.h>

#define TEXT_PIECE 64u

struct range_visit {
    gait_range_visit visit;
    void *context;
    bool is_ended;
};

static void visit_mapping(void *context, const struct mapping *mapping)
{
    struct range_visit *all = context;
    char path[MAPPING_PATH_BYTES_MAX + 1];
    struct gait_range range = {
        .size_bytes = sizeof(range),
        .start = mapping->start,
        .end = mapping->end,
        .access = mapping_access(mapping),
        .is_shared = mapping->is_shared,
        .file_offset = mapping->file_offset,
        .path = path,
    };

    if (all->is_ended)
        return;
    memcpy(path, mapping->path, mapping->path_length);
    path[mapping->path_length] = '\0';
    all->is_ended = !all->visit(all->context, &range);
}

EXPORT int gait_process_ranges(uint64_t start, uint64_t end, gait_range_visit visit, void *context,
                               struct gait_error *err)
{
    struct range_visit all = {visit, context, false};
    int result;

    if (visit == NULL)
        return error_set(err, EINVAL, "cannot list what is mapped: visit is NULL");
    result = mapping_list_visit(start, end, visit_mapping, &all);
    if (result != 0)
        return error_set(err, result, "cannot list what is mapped: /proc/thread-self/maps: %s", strerror(-result));
    return 0;
}

EXPORT int gait_memory_read(uint64_t address, void *bytes_out, size_t size_bytes)
{
    return memory_probe_copy(address, bytes_out, size_bytes);
}

EXPORT long gait_memory_read_text(uint64_t address, char *text_out, size_t capacity)
{
    size_t used = 0;

    if (capacity == 0)
        return -EINVAL;
    while (used < capacity - 1) {
        size_t left = capacity - 1 - used, piece = left < TEXT_PIECE ? left : TEXT_PIECE;
        /* A text may end right before memory that cannot be read. */
        size_t got = memory_probe_copy_some(address + used, text_out + used, piece);
        const char *end = memchr(text_out + used, '\0', got);

        if (end != NULL)
            return end - text_out;
        used += got;
        if (got < piece)
            return -EFAULT;
    }
    text_out[used] = '\0';
    return (long)used;
}

EXPORT int gait_memory_write(uint64_t address, const void *bytes, size_t size_bytes)
{
    return memory_probe_write(address, bytes, size_bytes);
}

static int pattern_failed(int result, const char *pattern, struct gait_error *err)
{
    switch (result) {
    case -E2BIG:
        return error_set(err, EINVAL, "cannot look for a pattern in memory: it has more than %u bytes",
                         MEMORY_PATTERN_BYTES_MAX);
    case -ENODATA:
        return error_set(err, EINVAL,
                         "cannot look for \"%.64s\" in memory: all of it may be anything, so it is everywhere",
                         pattern);
    default:
        return error_set(err, EINVAL,
                         "cannot look for \"%.64s\" in memory: a pattern is bytes of two hexadecimal digits or ?, as "
                         "\"48 8b ?? 0f\", perhaps with as many bytes of a mask behind a colon",
                         pattern);
    }
}

EXPORT int gait_memory_scan(uint64_t start, uint64_t end, const char *pattern,
                            bool (*visit)(void *context, uint64_t address), void *context, struct gait_error *err)
{
    struct memory_pattern parsed;
    int result;

    if (pattern == NULL || visit == NULL)
        return error_set(err, EINVAL, "cannot look for a pattern in memory: pattern or visit is NULL");
    result = memory_pattern_parse(pattern, strlen(pattern), &parsed);
    if (result != 0)
        return pattern_failed(result, pattern, err);
    result = memory_scan(&parsed, start, end, visit, context);
    if (result == -EINVAL)
        return error_set(err, EINVAL, "cannot look for a pattern in memory: the range ends before it begins");
    if (result != 0)
        return error_set(err, result, "cannot look for a pattern in memory: %s", strerror(-result));
    return 0;
}
