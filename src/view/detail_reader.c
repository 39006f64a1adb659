/* SPDX-License-Identifier: MIT */
/* A file that cannot be read is as if it was not there: what is missing is told as a gap before what follows. */
#include "view/detail_reader.h"

#include "trace/stream_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct detail_reader {
    const struct view_trace *trace;
    const struct trace_file *pieces;
    size_t piece_count;
    size_t next_piece;
    bool is_open; /* the piece before that is: */
    struct stream_reader stream;
    struct stream_chunk chunk;
    size_t at;    /* in the chunk */
    size_t size;  /* of the record there; 0: none was looked at */
    bool has_gap; /* before that place */
    uint64_t next_sequence;
    struct detail_item item;
};

/* The pieces of the thread's details follow each other. */
static const struct trace_file *find_pieces(const struct view_trace *trace, size_t thread, size_t *count_out)
{
    const struct trace_file *index = trace->threads[thread].pieces;

    for (size_t i = 0; i < trace->files.count; i++) {
        const struct trace_file *file = &trace->files.files[i];

        if (file->kind == TRACE_FILE_DETAIL && file->pid == index->pid && file->image == index->image &&
            file->tid == index->tid && file->generation == index->generation) {
            *count_out = trace_files_pieces(&trace->files, i);
            return file;
        }
    }
    return NULL;
}

int detail_reader_create(struct detail_reader **reader_out, const struct view_trace *trace, size_t thread)
{
    struct detail_reader *reader = NULL;
    size_t count = 0;
    const struct trace_file *pieces = find_pieces(trace, thread, &count);

    if (pieces != NULL) {
        reader = calloc(1, sizeof(*reader));
        if (reader == NULL)
            return -ENOMEM;
        reader->trace = trace;
        reader->pieces = pieces;
        reader->piece_count = count;
    }
    *reader_out = reader;
    return 0;
}

void detail_reader_destroy(struct detail_reader *reader)
{
    if (reader != NULL && reader->is_open)
        stream_reader_close(&reader->stream);
    free(reader);
}

/* False: there are no more pieces. */
static bool open_piece(struct detail_reader *reader)
{
    while (reader->next_piece < reader->piece_count) {
        const char *path = reader->pieces[reader->next_piece++].path;

        if (stream_reader_open(&reader->stream, reader->trace->files.folder, path, NULL) != 0) {
            reader->has_gap = true;
            continue;
        }
        reader->is_open = reader->stream.header.kind == TRACE_STREAM_DETAIL;
        if (reader->is_open)
            return true;
        stream_reader_close(&reader->stream);
        reader->has_gap = true;
    }
    return false;
}

/* False: there are no more chunks. */
static bool next_chunk(struct detail_reader *reader)
{
    for (;;) {
        if (!reader->is_open && !open_piece(reader))
            return false;
        if (stream_reader_next(&reader->stream, &reader->chunk)) {
            reader->has_gap |= reader->chunk.has_gap_before || reader->chunk.lost_before != 0 ||
                               reader->chunk.sequence != reader->next_sequence;
            reader->next_sequence = reader->chunk.sequence + 1;
            reader->at = 0;
            return true;
        }
        stream_reader_close(&reader->stream);
        reader->is_open = false;
        reader->chunk.size_bytes = reader->at = 0;
    }
}

const struct detail_item *detail_reader_peek(struct detail_reader *reader)
{
    if (reader->size != 0)
        return &reader->item;
    for (;;) {
        const uint8_t *place = reader->chunk.bytes + reader->at;
        size_t available = reader->is_open ? reader->chunk.size_bytes - reader->at : 0;

        reader->size = available == 0 ? 0 : detail_record_check(place, available);
        if (reader->size != 0) {
            memcpy(&reader->item.record, place, sizeof(reader->item.record));
            reader->item.bytes = place;
            reader->item.is_behind_gap = reader->has_gap;
            return &reader->item;
        }
        reader->has_gap |= available != 0;
        if (!next_chunk(reader))
            return NULL;
    }
}

void detail_reader_pass(struct detail_reader *reader)
{
    reader->at += reader->size;
    reader->size = 0;
    reader->has_gap = false;
}

struct detail_enter detail_item_enter(const struct detail_item *item)
{
    struct detail_enter enter;

    memcpy(&enter, item->bytes, sizeof(enter));
    return enter;
}

struct detail_leave detail_item_leave(const struct detail_item *item)
{
    struct detail_leave leave;

    memcpy(&leave, item->bytes, sizeof(leave));
    return leave;
}
