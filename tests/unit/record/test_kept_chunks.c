/* SPDX-License-Identifier: MIT */
#include "record/kept_chunks.h"

#include "record/recorded_stream.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/stream_reader.h"

#include <stdlib.h>

static struct trace_folder folder;
static struct kept_chunks chunks;
static struct recorded_stream *streams[2];
static struct chunk_encoder *encoder;

static void begin(size_t memory_bytes)
{
    struct recorded_stream_plan plan = {.header = {.kind = TRACE_STREAM_INDEX}};

    trace_folder_init(&folder);
    plan.folder = folder.fd;
    CHECK_EQUAL(chunk_encoder_create(false, &plan.encoder), 0);
    encoder = plan.encoder;
    kept_chunks_init(&chunks, memory_bytes);
    for (unsigned i = 0; i < 2; i++) {
        plan.header.tid = i;
        CHECK_EQUAL(recorded_stream_create(&plan, &streams[i]), 0);
    }
}

static void end(void)
{
    kept_chunks_deinit(&chunks);
    CHECK_EQUAL(chunks.memory_bytes, 0);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(streams[i]->kept_count, 0);
        CHECK_EQUAL(recorded_stream_close(streams[i]), 0);
        recorded_stream_destroy(streams[i]);
    }
    chunk_encoder_destroy(encoder);
    trace_folder_deinit(&folder);
}

/* From one time to another, with as many bytes as the time is long. */
static void add(unsigned stream, uint64_t from, uint64_t to)
{
    uint8_t *bytes = calloc(1, to - from + 1);
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = to - from, .first_time = from, .last_time = to};

    CHECK_EQUAL(kept_chunks_add(&chunks, streams[stream], &contents), 0);
    free(bytes);
}

static void old_ones_are_dropped(void)
{
    begin(1 << 20);
    add(0, 10, 20);
    add(1, 10, 21);
    add(0, 20, 30);
    kept_chunks_age(&chunks, 21);
    CHECK_EQUAL(chunks.aged_until, 20);
    CHECK_EQUAL(chunks.crowded_until, 0);
    CHECK_EQUAL(streams[0]->kept_count, 1);
    CHECK_EQUAL(streams[1]->kept_count, 1);
    CHECK(streams[0]->has_gap && !streams[1]->has_gap);
    end();
}

static void memory_is_bounded_and_the_oldest_go_first(void)
{
    begin(10200);
    for (uint64_t i = 1; i <= 100; i++) {
        add(i % 2, i * 1000, i * 1000 + 900);
        CHECK(chunks.memory_bytes <= 10200);
    }
    CHECK_EQUAL(chunks.crowded_until, 90900);
    CHECK_EQUAL(streams[0]->kept_count + streams[1]->kept_count, 10);
    /* One that does not fit at all. */
    add(0, 200000, 300000);
    CHECK_EQUAL(chunks.crowded_until, 300000);
    end();
}

static void those_of_a_window_are_written(void)
{
    begin(1 << 20);
    add(0, 0, 10);
    add(1, 0, 11);
    add(0, 10, 20);
    add(1, 11, 60);
    add(0, 50, 60);
    add(1, 60, 70);
    CHECK_EQUAL(kept_chunks_write(&chunks, 11, 49), 0);
    CHECK_EQUAL(streams[0]->written_bytes, 10);
    CHECK_EQUAL(streams[1]->written_bytes, 11 + 49);
    /* What comes behind it may be wanted yet, and is in order. */
    CHECK_EQUAL(streams[0]->kept_count, 1);
    CHECK_EQUAL(streams[1]->kept_count, 1);
    add(0, 60, 75);
    CHECK_EQUAL(kept_chunks_write(&chunks, 11, 100), 0);
    CHECK(chunks.first == NULL && chunks.last == NULL);
    CHECK_EQUAL(streams[0]->written_bytes, 10 + 10 + 15);
    add(1, 75, 80);
    CHECK_EQUAL(streams[1]->kept_count, 1);
    end();
}

static void those_of_a_stream_are_forgotten(void)
{
    begin(1 << 20);
    for (uint64_t i = 0; i < 9; i++)
        add(i % 3 == 0, i, i + 1);
    kept_chunks_forget(&chunks, streams[0]);
    CHECK_EQUAL(streams[0]->kept_count, 0);
    CHECK_EQUAL(streams[1]->kept_count, 3);
    add(0, 20, 21);
    kept_chunks_forget(&chunks, streams[1]);
    CHECK_EQUAL(streams[0]->kept_count, 1);
    CHECK(chunks.first == chunks.last);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(old_ones_are_dropped),
    CHECK_CASE(memory_is_bounded_and_the_oldest_go_first),
    CHECK_CASE(those_of_a_window_are_written),
    CHECK_CASE(those_of_a_stream_are_forgotten),
};

CHECK_MAIN(cases)
