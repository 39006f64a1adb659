/* SPDX-License-Identifier: MIT */
#include "trace/trace_crash.h"

#include "hosted/error_text.h"
#include "ring/crash_lane.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int add_chunk(struct trace_crash *crash, const struct stream_chunk *chunk, const char *path,
                     struct gait_error *err)
{
    uint8_t *grown;

    for (size_t at = 0, size; at < chunk->size_bytes; at += size) {
        size = crash_record_check(chunk->bytes + at, chunk->size_bytes - at);
        if (size == 0)
            return error_set(err, EPROTO,
                             "cannot read '%s': byte %zu of chunk %" PRIu64 " begins no record; it was written by "
                             "something else than gait",
                             path, at, chunk->sequence);
        crash->count++;
    }
    grown = realloc(crash->bytes, crash->size_bytes + chunk->size_bytes + 1);
    if (grown == NULL)
        return error_set(err, ENOMEM, "cannot read '%s': there is no memory for it; try to free some", path);
    memcpy(grown + crash->size_bytes, chunk->bytes, chunk->size_bytes);
    crash->bytes = grown;
    crash->size_bytes += chunk->size_bytes;
    return 0;
}

int trace_crash_read(struct trace_crash *crash, int folder, const char *path, struct gait_error *err)
{
    struct trace_crash made = {.count = 0};
    struct stream_reader reader;
    struct stream_chunk chunk;
    int result = stream_reader_open(&reader, folder, path, err);

    if (result != 0)
        return result;
    if (reader.header.kind != TRACE_STREAM_CRASH)
        result = error_set(err, EPROTO, "cannot read '%s': it is a stream, but not one of a crash; files were mixed up",
                           path);
    while (result == 0 && stream_reader_next(&reader, &chunk))
        result = add_chunk(&made, &chunk, path, err);
    made.end = reader.end;
    stream_reader_close(&reader);
    if (result != 0) {
        free(made.bytes);
        return result;
    }
    *crash = made;
    return 0;
}

void trace_crash_deinit(struct trace_crash *crash)
{
    free(crash->bytes);
    *crash = (struct trace_crash){.count = 0};
}

/* Finds the next record of that kind, copies its beginning, and leads to what follows that. */
static bool next(const struct trace_crash *crash, size_t *place, enum crash_record_kind kind, void *record_out,
                 size_t record_bytes, const uint8_t **behind_out)
{
    while (*place < crash->size_bytes) {
        const uint8_t *at = crash->bytes + *place;
        struct crash_record record;

        memcpy(&record, at, sizeof(record));
        *place += record.size_bytes;
        if (record.kind != kind)
            continue;
        memcpy(record_out, at, record_bytes);
        *behind_out = at + record_bytes;
        return true;
    }
    return false;
}

bool trace_crash_next_signal(const struct trace_crash *crash, size_t *place, struct crash_signal *signal_out,
                             const uint8_t **stack_out)
{
    return next(crash, place, CRASH_SIGNAL, signal_out, sizeof(*signal_out), stack_out);
}

bool trace_crash_next_thread(const struct trace_crash *crash, size_t *place, struct crash_thread *thread_out,
                             const uint8_t **stack_out)
{
    return next(crash, place, CRASH_THREAD, thread_out, sizeof(*thread_out), stack_out);
}
