/* SPDX-License-Identifier: MIT */
/*
 * Damages a trace at random until the time is up, and reads all of it: --seconds N --seed S. Damage is of two kinds:
 * any bytes of any file, and contents of streams whose sums are right. Whatever is read, there are errors or events and
 * nothing else; crashes and hangs end the program, and a repaired stream must be good.
 */
#define _GNU_SOURCE
#include "cli/command.h"
#include "ring/crash_record.h"
#include "ring/detail_record.h"
#include "support/command_run.h"
#include "support/fuzz_arguments.h"
#include "support/kernel_trace.h"
#include "support/long_calls.h"
#include "support/random.h"
#include "trace/crc32c.h"
#include "trace/kernel_events.h"
#include "trace/kernel_packing.h"
#include "trace/record_counts.h"
#include "trace/stream_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A case takes milliseconds. */
#define CASE_SECONDS_MAX 20

extern const struct command command_verify, command_report, command_replay, command_export;

static const char *const names[] = {
    "manifest.json",         "100/modules.gait",     "100/blocks.gait",      "100/100.1.index.gait",
    "100/101.1.index.gait",  "100/102.1.index.gait", "100/103.1.index.gait", "100/104.1.index.gait",
    "100/100.1.detail.gait", "100/crash.gait",       "100/105.1.index.gait", "kernel/sources.gait",
    "kernel/0.events.gait",  "kernel/1.events.gait",
};

/* All that write text or bytes. */
static const char *const formats[] = {"chrome",     "perfetto", "speedscope", "folded", "perf",
                                      "flamegraph", "pprof",    "csv",        "json"};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* The files as they are when nothing is damaged. */
struct original {
    uint8_t *bytes;
    size_t size_bytes;
};

static void damage_bytes(struct random *random, uint8_t *bytes, size_t *size_bytes)
{
    for (uint64_t changes = random_below(random, 8); changes > 0 && *size_bytes > 0; changes--) {
        size_t at = random_below(random, *size_bytes);
        uint64_t edge = random_edge(random);

        if (random_chance(random, 1, 2))
            bytes[at] = (uint8_t)random_u64(random);
        else
            memcpy(bytes + at, &edge, *size_bytes - at < sizeof(edge) ? *size_bytes - at : sizeof(edge));
    }
    if (random_chance(random, 1, 4))
        *size_bytes = random_below(random, *size_bytes + 1);
}

/* Of a chunk's counts, as far as they fit. */
static void mend_counts(struct trace_chunk *chunk)
{
    struct trace_counts *counts = (void *)(chunk + 1);

    if (chunk->flags & TRACE_CHUNK_COUNTS && chunk->stored_bytes >= sizeof(*counts) &&
        trace_counts_bytes(counts->count) <= chunk->stored_bytes)
        counts->crc = record_counts_sum((const uint8_t *)counts, counts->count);
}

/* Makes the sums of a stream right again, as far as its sizes make sense. */
static void mend_sums(uint8_t *bytes, size_t size_bytes)
{
    struct trace_stream_header *header = (void *)bytes;
    size_t at = sizeof(*header);

    if (size_bytes < at)
        return;
    header->magic = TRACE_STREAM_MAGIC;
    header->version = TRACE_VERSION;
    header->crc = crc32c(0, header, offsetof(struct trace_stream_header, crc));
    while (size_bytes - at >= sizeof(struct trace_chunk)) {
        struct trace_chunk *chunk = (void *)(bytes + at);

        if (chunk->magic != TRACE_CHUNK_MAGIC || chunk->stored_bytes > size_bytes - at - sizeof(*chunk))
            return;
        mend_counts(chunk);
        chunk->data_crc = crc32c(0, chunk + 1, chunk->stored_bytes);
        chunk->crc = crc32c(0, chunk, offsetof(struct trace_chunk, crc));
        at += sizeof(*chunk) + trace_padded(chunk->stored_bytes);
        if (at > size_bytes)
            return;
    }
}

static void write_damaged(const struct trace_folder *folder, const struct original *originals, struct random *random)
{
    size_t chosen = random_below(random, NAMES);

    for (size_t i = 0; i < NAMES; i++) {
        size_t size_bytes = originals[i].size_bytes;
        uint8_t *bytes = malloc(size_bytes);

        memcpy(bytes, originals[i].bytes, size_bytes);
        if (i == chosen || random_chance(random, 1, 4))
            damage_bytes(random, bytes, &size_bytes);
        if (i != 0 && random_chance(random, 1, 2))
            mend_sums(bytes, size_bytes);
        trace_folder_write(folder, names[i], bytes, size_bytes);
        free(bytes);
    }
}

/* Whether the stream reads to its proper end. */
static bool is_complete(const struct trace_folder *folder, const char *name)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    bool result;

    if (stream_reader_open(&reader, folder->fd, name, NULL) != 0)
        return false;
    while (stream_reader_next(&reader, &chunk))
        ;
    result = reader.end.state == STREAM_COMPLETE;
    stream_reader_close(&reader);
    return result;
}

/* Whether a stream is not complete that was only cut off, or was said to be repaired. */
static bool has_bad_repair(const struct trace_folder *folder, const char *output)
{
    for (size_t i = 1; i < NAMES; i++) {
        const char *line = strstr(output, names[i]), *end = line == NULL ? NULL : strchr(line, '\n');
        const char *verdict = end == NULL ? NULL : line + strlen(names[i]) + strspn(line + strlen(names[i]), " ");
        bool is_repaired = end != NULL && strncmp(end + 1 + strspn(end + 1, " "), "repaired", 8) == 0;

        if (end != NULL && (is_repaired || strncmp(verdict, "cut off", 7) == 0) && !is_complete(folder, names[i]))
            return true;
    }
    return false;
}

static bool run_case(const struct trace_folder *folder, const struct original *originals, uint64_t seed)
{
    struct random random;
    struct command_run report, replay, export, verify, repair;
    bool is_explained, is_repaired;

    random_init(&random, seed);
    alarm(CASE_SECONDS_MAX);
    write_damaged(folder, originals, &random);
    report = COMMAND_RUN(&command_report, 100, folder->path, "--limit", "3");
    replay = COMMAND_RUN(&command_replay, 100, folder->path, "--from", "50us", "--limit", "9", "--no-pager");
    export = COMMAND_RUN(&command_export, 100, folder->path, "-f",
                         formats[random_below(&random, sizeof(formats) / sizeof(formats[0]))]);
    verify = COMMAND_RUN(&command_verify, 100, folder->path);
    repair = COMMAND_RUN(&command_verify, 100, folder->path, "--repair");
    alarm(0);
    is_explained = (report.status == COMMAND_DONE) == (report.err.text[0] == '\0') &&
                   (replay.status == COMMAND_DONE) == (replay.err.text[0] == '\0') &&
                   (export.status == COMMAND_DONE || export.err.text[0] != '\0') &&
                   (verify.status == COMMAND_DONE) == (verify.err.text[0] == '\0') &&
                   (repair.status == COMMAND_DONE || verify.status == COMMAND_FAILED);
    is_repaired = !has_bad_repair(folder, repair.output);
    command_run_deinit(&report);
    command_run_deinit(&replay);
    command_run_deinit(&export);
    command_run_deinit(&verify);
    command_run_deinit(&repair);
    return is_explained && is_repaired;
}

/* Threads whose streams are compressed, packed, and both. */
static void put_stored(const struct trace_folder *folder)
{
    static const struct trace_mark marks[] = {{.time = 1001, .offset = 4}, {.time = 1002, .offset = 400}};
    static struct trace_bytes bytes;

    while (bytes.size_bytes < 4000)
        trace_bytes_put_header(&bytes, bytes.size_bytes / 4 % 3, EVENT_RECORD_BLOCK);
    for (uint32_t way = 1; way <= 3; way++) {
        struct trace_stream_plan plan = {
            .name = names[4 + way],
            .header = {.kind = TRACE_STREAM_INDEX,
                       .pid = 100,
                       .tid = 101 + way,
                       .generation = 1,
                       .space = 1,
                       .events = GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC},
            .bytes = &bytes,
            .piece_bytes = 1000,
            .compress = way & TRACE_CHUNK_ZSTD,
            .pack = way & TRACE_CHUNK_PACKED,
            .marks = marks,
            .mark_count = 2,
        };

        trace_folder_put_stream(folder, &plan);
    }
}

/* Calls that were looked at closely, and a death. */
static void put_details_and_crash(const struct trace_folder *folder)
{
    static struct trace_bytes details, crash;
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter) + 16, .kind = DETAIL_ENTER, .time = 2000, .function = 0x401100},
        .stack_bytes = 16,
    };
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .time = 2500, .function = 0x401100},
        .entered_time = 2000,
    };
    struct crash_signal signal = {
        .record = {sizeof(signal), CRASH_SIGNAL}, .signal = 11, .machine = 62, .is_known = 1, .register_count = 18};
    struct crash_thread thread = {.record = {sizeof(thread) + 8, CRASH_THREAD}, .tid = 101, .stack_bytes = 8};

    for (unsigned i = 0; i < 10; i++) {
        trace_bytes_put(&details, &enter, sizeof(enter));
        trace_bytes_put_long(&details, i);
        trace_bytes_put_long(&details, i);
        trace_bytes_put(&details, &leave, sizeof(leave));
    }
    trace_bytes_put(&crash, &signal, sizeof(signal));
    trace_bytes_put(&crash, &thread, sizeof(thread));
    trace_bytes_put_long(&crash, 0);
    trace_folder_put_stream(
        folder,
        &(struct trace_stream_plan){.name = "100/100.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 100, .tid = 100, .generation = 1},
                                    .bytes = &details,
                                    .piece_bytes = 2 * (sizeof(enter) + 16 + sizeof(leave))});
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/crash.gait",
                                                                .header = {.kind = TRACE_STREAM_CRASH, .pid = 100},
                                                                .bytes = &crash});
}

/* Of one CPU packed, of the other as it was in the first version. */
static void put_kernel_events(const struct trace_folder *folder)
{
    static uint8_t packed[4096 + KERNEL_PACKED_BYTES_MAX];
    static const uint64_t frames[] = {0x1234, 0x1890, 0x9999};
    const struct trace_stream_header header = {.kind = TRACE_STREAM_KERNEL_EVENTS};
    struct chunk_contents contents = {.bytes = packed, .last_time = 10000};
    struct kernel_predictor *predictor;
    struct chunk_encoder *encoder;
    struct stream_writer writer;

    kernel_trace_put_example(folder);
    unlinkat(folder->fd, "kernel/0.events.gait", 0);
    if (kernel_predictor_create(&predictor) != 0 || chunk_encoder_create(false, &encoder) != 0 ||
        stream_writer_open(&writer, folder->fd, "kernel/0.events.gait", &header, encoder) != 0)
        abort();
    for (uint64_t i = 0; i < 90; i++) {
        const uint64_t raw[] = {i * i, 0x64726f77, i};
        const struct kernel_event event = {
            .time = 1100 + 50 * i,
            .source = 1 + i % 2,
            .pid = 100,
            .tid = 100 + (uint32_t)i % 3,
            .raw = (const uint8_t *)raw,
            .raw_bytes = i % 2 == 0 ? 24 : 16,
            .kernel_frames = frames + i % 2,
            .kernel_frame_count = i % 3,
            .user_frames = frames,
            .user_frame_count = i % 4,
        };

        contents.size_bytes += kernel_packing_put(predictor, &event, packed + contents.size_bytes);
        contents.unpacked_bytes +=
            sizeof(struct kernel_record) + event.raw_bytes + 8 * (event.kernel_frame_count + event.user_frame_count);
    }
    if (stream_writer_put(&writer, &contents) != 0 || stream_writer_close(&writer, 0) != 0)
        abort();
    chunk_encoder_destroy(encoder);
    kernel_predictor_destroy(predictor);
}

int main(int argc, char **argv)
{
    struct fuzz_arguments arguments;
    uint64_t cases = 0, failures = 0;
    struct original originals[NAMES];
    struct trace_folder folder;
    time_t start = time(NULL);

    if (!fuzz_arguments_read(argc, argv, "", &arguments))
        return 2;
    /* What commands say of damage on the side is not of interest; what sanitizers say takes another way. */
    stderr = fopen("/dev/null", "w");
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    put_stored(&folder);
    put_details_and_crash(&folder);
    long_calls_put(&folder, 105, 0);
    put_kernel_events(&folder);
    for (size_t i = 0; i < NAMES; i++)
        originals[i].bytes = trace_folder_read(&folder, names[i], &originals[i].size_bytes);
    for (; (uint64_t)(time(NULL) - start) < arguments.seconds && failures < 10; cases++)
        if (!run_case(&folder, originals, random_seed_derive(arguments.seed, cases))) {
            printf("case %" PRIu64 " of seed %" PRIu64 " is neither read nor explained\n", cases, arguments.seed);
            failures++;
        }
    printf("seed %" PRIu64 ": %" PRIu64 " damaged traces, %" PRIu64 " failures\n", arguments.seed, cases, failures);
    for (size_t i = 0; i < NAMES; i++)
        free(originals[i].bytes);
    trace_folder_deinit(&folder);
    return failures == 0 ? 0 : 1;
}
