/* SPDX-License-Identifier: MIT */
/* Traces for tests: a temporary folder and streams of synthetic records in it. Ends the program if that fails. */
#ifndef GAIT_TESTS_TRACE_FOLDER_H
#define GAIT_TESTS_TRACE_FOLDER_H

#include "ring/event_record.h"
#include "trace/stream_writer.h"
#include "trace/trace_files.h"

#include <stddef.h>
#include <stdint.h>

struct trace_folder {
    int fd;
    char path[64];
};

void trace_folder_init(struct trace_folder *folder);
/* Removes it, with all that is in it. */
void trace_folder_deinit(struct trace_folder *folder);

void trace_folder_make(const struct trace_folder *folder, const char *subfolder);

/* All bytes of a file, to be freed. */
uint8_t *trace_folder_read(const struct trace_folder *folder, const char *name, size_t *size_out);
/* Replaces a file. */
void trace_folder_write(const struct trace_folder *folder, const char *name, const void *bytes, size_t size_bytes);

/* What a stream is to consist of. */
struct trace_bytes {
    uint8_t bytes[65536];
    size_t size_bytes;
};

void trace_bytes_put(struct trace_bytes *bytes, const void *value, size_t size_bytes);
void trace_bytes_put_header(struct trace_bytes *bytes, uint32_t number, enum event_record record);
void trace_bytes_put_wide_header(struct trace_bytes *bytes, uint32_t number, enum event_record record);
void trace_bytes_put_long(struct trace_bytes *bytes, uint64_t value);
/* A block of three instructions, 1, 2 and 5 bytes long, of which the last one calls call_target. */
void trace_bytes_put_block(struct trace_bytes *bytes, uint32_t number, uint64_t start, uint64_t call_target);
void trace_bytes_put_module(struct trace_bytes *bytes, const struct trace_module *module, const char *path);

/* A stream, in pieces of that size; so much was lost before each but the first. */
struct trace_stream_plan {
    const char *name;
    struct trace_stream_header header;
    const struct trace_bytes *bytes;
    size_t piece_bytes; /* 0: all in one */
    uint64_t lost;
    uint64_t first_sequence; /* of the first chunk */
    bool compress;
    bool pack;
    const struct trace_mark *marks; /* of each piece */
    uint32_t mark_count;
    const uint64_t *times; /* between pieces, and around them; NULL: a tick a byte, from 1000 on */
};

void trace_folder_put_stream(const struct trace_folder *folder, const struct trace_stream_plan *plan);

/*
 * A small trace: process 100 with threads 100 and 101, a module, three blocks, calls and returns, losses in thread 101.
 * The counter runs at 1 GHz.
 */
void trace_folder_put_example(const struct trace_folder *folder);

/* A stream of one piece at that path of a folder, good until the next call. */
const struct trace_file *trace_piece_at(const char *path);

/* Changes its manifest: it is a recording in pieces, of which those before that number were deleted. */
void trace_folder_delete_pieces(const struct trace_folder *folder, uint32_t first_kept);

#endif
