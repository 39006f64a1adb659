/* SPDX-License-Identifier: MIT */
/* Behind what is no record, reading goes on with the next chunk, and the rest of this one is lost. */
#include "query/detail_scan.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <string.h>

static struct place_thread thread_of(const struct view_trace *trace, const struct trace_file *file)
{
    struct place_thread place = {.thread = SIZE_MAX, .tid = file->tid, .name = ""};

    for (size_t i = 0; i < trace->process_count; i++)
        if (trace->processes[i].pid == file->pid && trace->processes[i].image == file->image)
            place.process = i;
    for (size_t i = 0; i < trace->thread_count + trace->silent_count; i++)
        if (trace->threads[i].process == place.process && trace->threads[i].tid == file->tid &&
            trace->threads[i].generation == file->generation)
            place = place_of_thread(trace, i);
    return place;
}

static void open_file(struct detail_scan *scan, const struct trace_file *file)
{
    struct gait_error why;
    int result = stream_reader_open(&scan->reader, scan->source->trace->files.folder, file->path, &why);

    if (result == 0 && scan->reader.header.kind != TRACE_STREAM_DETAIL) {
        stream_reader_close(&scan->reader);
        result = error_set(&why, EPROTO,
                           "cannot read '%s': it is a stream, but not one of details; files were mixed up", file->path);
    }
    query_source_note(scan->source, result, &why);
    scan->is_open = result == 0;
    scan->at = scan->size_bytes = 0;
    scan->time = 0;
}

/* Opens the next file of interest. False: there is none. */
static bool open_next(struct detail_scan *scan)
{
    const struct trace_files *files = &scan->source->trace->files;

    while (!scan->is_open && scan->next_file < files->count) {
        const struct trace_file *file = &files->files[scan->next_file++];

        if (file->kind != TRACE_FILE_DETAIL || file->pid == 0)
            continue;
        scan->thread = thread_of(scan->source->trace, file);
        if (scan->filter == NULL || place_takes_thread(scan->filter, &scan->thread))
            open_file(scan, file);
    }
    return scan->is_open;
}

static void close_file(struct detail_scan *scan)
{
    const char *path = scan->source->trace->files.files[scan->next_file - 1].path;
    struct gait_error why;
    int result = stream_end_check(&scan->reader.end, path, &why);

    query_source_note(scan->source, result, &why);
    stream_reader_close(&scan->reader);
    scan->is_open = false;
}

static enum detail_step lose(struct detail_scan *scan, uint64_t bytes)
{
    scan->lost_bytes = bytes;
    return DETAIL_STEP_GAP;
}

/* Whether the file that is open goes on in the next one: it is a piece of the same stream. */
static bool goes_on(const struct detail_scan *scan)
{
    const struct trace_files *files = &scan->source->trace->files;
    const struct trace_file *file = &files->files[scan->next_file - 1];

    return scan->next_file < files->count && file[1].kind == TRACE_FILE_DETAIL && file[1].pid == file->pid &&
           file[1].image == file->image && file[1].tid == file->tid && file[1].generation == file->generation;
}

/* False: the chunk has records, which are to be looked at. */
static bool read_chunk(struct detail_scan *scan, enum detail_step *step_out)
{
    bool is_last;

    scan->at = scan->size_bytes = 0;
    if (stream_reader_next(&scan->reader, &scan->chunk)) {
        scan->size_bytes = scan->chunk.size_bytes;
        *step_out = lose(scan, scan->chunk.lost_before);
        return scan->chunk.lost_before != 0 || scan->chunk.has_gap_before;
    }
    *step_out = lose(scan, scan->reader.end.lost_behind);
    if (scan->lost_bytes != 0) {
        scan->reader.end.lost_behind = 0;
        return true;
    }
    is_last = !goes_on(scan);
    close_file(scan);
    *step_out = DETAIL_STEP_END;
    return is_last;
}

static enum detail_step read_record(struct detail_scan *scan)
{
    size_t rest = scan->size_bytes - scan->at, size = detail_record_check(scan->chunk.bytes + scan->at, rest);
    struct detail_record record;

    if (size == 0) {
        scan->at = scan->size_bytes;
        return lose(scan, rest);
    }
    scan->record = scan->chunk.bytes + scan->at;
    memcpy(&record, scan->record, sizeof(record));
    scan->time = record.time;
    scan->at += size;
    return DETAIL_STEP_RECORD;
}

enum detail_step detail_scan_step(struct detail_scan *scan)
{
    enum detail_step step;

    while (open_next(scan)) {
        if (scan->at < scan->size_bytes)
            return read_record(scan);
        if (read_chunk(scan, &step))
            return step;
    }
    return DETAIL_STEP_OVER;
}

void detail_scan_deinit(struct detail_scan *scan)
{
    if (scan->is_open)
        stream_reader_close(&scan->reader);
    scan->is_open = false;
}
