/* SPDX-License-Identifier: MIT */
/*
 * How small do records get, and how long does it take there and back? Calls and returns of real programs, as chunks
 * that the recorder made of them. Beside it zstd at its fastest usual level, alone and behind the packing, and copying.
 */
#define _GNU_SOURCE
#include "support/followed_run.h"
#include "support/recorded_run.h"
#include "support/stopwatch.h"
#include "trace/compression.h"
#include "trace/record_packing.h"
#include "trace/stream_reader.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS         5
#define RECORDS_BYTES  (64u << 20)
#define CHUNKS_MAX     4096
#define DATA_FILES     "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define RECORD_SECONDS "5"

struct chunk {
    uint8_t *bytes;
    size_t size_bytes;
    uint8_t *packed;
    size_t packed_bytes;
};

/* What was recorded of one thread. */
struct tape {
    struct event_format format;
    struct chunk chunks[CHUNKS_MAX];
    size_t count;
    size_t records;
    size_t raw_bytes;
    size_t packed_bytes;
    size_t zstd_bytes;
    size_t both_bytes;
    struct record_predictor *predictor;
    struct compressor *compressor;
    uint8_t *buffer;
};

static size_t count_records(struct event_format format, const uint8_t *place, const uint8_t *end)
{
    size_t count = 0;

    for (; place < end; count++) {
        uint32_t header;

        memcpy(&header, place, sizeof(header));
        place += event_record_bytes(format, event_header_record(header));
    }
    return count;
}

static void keep_chunk(struct tape *tape, const struct stream_chunk *chunk)
{
    struct chunk *kept = &tape->chunks[tape->count++];

    kept->size_bytes = chunk->size_bytes;
    kept->bytes = malloc(chunk->size_bytes);
    kept->packed = malloc(record_packing_room(chunk->size_bytes));
    if (kept->bytes == NULL || kept->packed == NULL)
        exit(1);
    memcpy(kept->bytes, chunk->bytes, chunk->size_bytes);
    tape->raw_bytes += chunk->size_bytes;
    tape->records += count_records(tape->format, kept->bytes, kept->bytes + kept->size_bytes);
}

static int load_tape(void *context, const char *trace)
{
    struct tape *tape = context;
    struct stream_reader reader;
    struct stream_chunk chunk;
    char pattern[400];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/*/*.index.gait", trace);
    if (glob(pattern, 0, NULL, &found) != 0 || stream_reader_open(&reader, AT_FDCWD, found.gl_pathv[0], NULL) != 0)
        return -1;
    tape->format = event_format_of(reader.header.events, reader.header.with_times != 0);
    while (tape->raw_bytes < RECORDS_BYTES && tape->count < CHUNKS_MAX && stream_reader_next(&reader, &chunk))
        keep_chunk(tape, &chunk);
    stream_reader_close(&reader);
    globfree(&found);
    return 0;
}

static size_t run_pack(void *context)
{
    struct tape *tape = context;

    tape->packed_bytes = 0;
    for (struct chunk *chunk = tape->chunks; chunk < tape->chunks + tape->count; chunk++) {
        if (record_packing_do(tape->predictor, tape->format, (struct packing_source){chunk->bytes, chunk->size_bytes},
                              chunk->packed, &chunk->packed_bytes) != 0)
            chunk->packed_bytes = 0;
        tape->packed_bytes += chunk->packed_bytes == 0 ? chunk->size_bytes : chunk->packed_bytes;
    }
    return tape->records;
}

static size_t run_unpack(void *context)
{
    struct tape *tape = context;

    for (struct chunk *chunk = tape->chunks; chunk < tape->chunks + tape->count; chunk++)
        if (chunk->packed_bytes != 0 && record_packing_undo(tape->predictor, tape->format,
                                                            (struct packing_source){chunk->packed, chunk->packed_bytes},
                                                            tape->buffer, chunk->size_bytes) != 0)
            exit(1);
    return tape->records;
}

static size_t compressed_size(struct tape *tape, const uint8_t *bytes, size_t size_bytes)
{
    const void *made;
    size_t made_bytes;

    return compressor_run(tape->compressor, bytes, size_bytes, &made, &made_bytes) == 0 ? made_bytes : size_bytes;
}

static size_t run_zstd(void *context)
{
    struct tape *tape = context;

    tape->zstd_bytes = 0;
    for (struct chunk *chunk = tape->chunks; chunk < tape->chunks + tape->count; chunk++)
        tape->zstd_bytes += compressed_size(tape, chunk->bytes, chunk->size_bytes);
    return tape->records;
}

static size_t run_both(void *context)
{
    struct tape *tape = context;

    run_pack(tape);
    tape->both_bytes = 0;
    for (struct chunk *chunk = tape->chunks; chunk < tape->chunks + tape->count; chunk++)
        tape->both_bytes += compressed_size(tape, chunk->packed, chunk->packed_bytes);
    return tape->records;
}

static size_t run_copy(void *context)
{
    struct tape *tape = context;

    for (struct chunk *chunk = tape->chunks; chunk < tape->chunks + tape->count; chunk++) {
        memcpy(tape->buffer, chunk->bytes, chunk->size_bytes);
        __asm__ volatile("" : : "r"(tape->buffer) : "memory");
    }
    return tape->records;
}

static void forget(struct tape *tape)
{
    for (size_t i = 0; i < tape->count; i++) {
        free(tape->chunks[i].bytes);
        free(tape->chunks[i].packed);
    }
    tape->count = tape->records = tape->raw_bytes = 0;
}

static int measure(struct tape *tape, const char *name, const struct recorded_plan *plan)
{
    struct contestant contestants[] = {
        {.name = "pack", .run = run_pack}, {.name = "unpack", .run = run_unpack}, {.name = "zstd", .run = run_zstd},
        {.name = "both", .run = run_both}, {.name = "memcpy", .run = run_copy},
    };
    struct recorded_result result;
    double records;

    if (recorded_run(plan, &result) != 0 || tape->records == 0)
        return 1;
    stopwatch_compare(contestants, 5, ROUNDS, tape);
    records = (double)tape->records;
    printf("| %s | %.1f | %.2f | %.3f | %.3f | %.3f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", name, records * 1e-6,
           (double)tape->raw_bytes / records, (double)tape->packed_bytes / records, (double)tape->zstd_bytes / records,
           (double)tape->both_bytes / records, contestants[0].best_ns, contestants[1].best_ns, contestants[2].best_ns,
           contestants[3].best_ns, contestants[4].best_ns);
    forget(tape);
    return 0;
}

int main(void)
{
    static const char *const ways[][6] = {
        {"--follow", "call,ret", "--duration", RECORD_SECONDS},
        {"--follow", "call,ret", "--times", "--duration", RECORD_SECONDS},
        {"--follow", "block", "--duration", RECORD_SECONDS},
    };
    static const char *const names[] = {"call,ret", "call,ret with times", "block"};
    static const char *const programs[][4] = {
        {"gzip", "-9c", DATA_FILES},
        {"sqlite3", ":memory:",
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) "
         "SELECT count(DISTINCT i * 7919 % 10007), max(printf('%d', i)) FROM n;"},
        {"/usr/bin/python3", "-c",
         "d = {}\nfor i in range(300000): d.setdefault(i * 7919 % 997, []).append(str(i))\n"
         "print(max(map(len, d.values())))"},
    };
    struct tape *tape = calloc(1, sizeof(*tape));
    int failures = 0;

    tape->buffer = malloc(TRACE_CHUNK_BYTES_MAX);
    if (record_predictor_create(&tape->predictor) != 0 || compressor_create(&tape->compressor) != 0)
        return 1;
    printf(
        "| records | million | bytes | packed | zstd | both | pack ns | unpack ns | zstd ns | both ns | memcpy ns |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t program = 0; program < 3; program++)
        for (size_t way = 0; way < 3; way++) {
            struct recorded_plan plan = recorded_plan_spawn(ways[way]);
            char name[100];

            snprintf(name, sizeof(name), "%s %s", basename(programs[program][0]), names[way]);
            memcpy(plan.command, programs[program], sizeof(programs[program]));
            plan.look = load_tape;
            plan.context = tape;
            plan.skip_events = true;
            failures += measure(tape, name, &plan);
            fflush(stdout);
        }
    compressor_destroy(tape->compressor);
    record_predictor_destroy(tape->predictor);
    free(tape->buffer);
    free(tape);
    return failures > 0;
}
