/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/trace_events.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct trace_blocks blocks;

/* What was received: events, and how many came before the last gap. */
struct received {
    struct gait_event events[64];
    size_t count;
    size_t enough;
    uint64_t lost;
    size_t gaps;
    size_t before_gap;
    uint64_t last_sequence;
    size_t skips;
};

static int process(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct received *received = context;

    for (size_t i = 0; i < count && received->count < 64; i++)
        received->events[received->count++] = events[i];
    received->last_sequence = span->sequence;
    return received->count >= received->enough;
}

static void lose(void *context, uint64_t bytes)
{
    struct received *received = context;

    received->lost += bytes;
    received->gaps++;
    received->before_gap = received->count;
}

static void skip(void *context)
{
    ((struct received *)context)->skips++;
}

static struct trace_events_end read_stream(const char *path, struct received *received, size_t enough)
{
    struct trace_events_receiver receiver = {.process = process, .lose = lose, .context = received};
    struct trace_events_end end = {.bad_bytes = 0};

    *received = (struct received){.enough = enough};
    CHECK_EQUAL(trace_events_read(folder.fd, trace_piece_at(path), 1, &blocks, &receiver, &end, NULL), 0);
    return end;
}

static void events_come_in_order(void)
{
    struct received received;
    struct trace_events_end end = read_stream("100/100.1.index.gait", &received, 64);

    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_EQUAL(end.bad_bytes, 0);
    CHECK_EQUAL(end.header.tid, 100);
    CHECK_EQUAL(received.count, 10);
    CHECK_EQUAL(received.gaps, 0);
    for (size_t i = 0; i < received.count; i++) {
        CHECK_EQUAL(received.events[i].kind, i % 2 == 0 ? GAIT_EVENT_CALL : GAIT_EVENT_RET);
        CHECK_EQUAL(received.events[i].time, 2000 + i * 50);
        CHECK_EQUAL(received.events[i].target, i % 2 == 0 ? 0x401100 : 0x401008);
        CHECK_EQUAL(received.events[i].tid, 100);
    }
}

static void gaps_are_told_where_they_are(void)
{
    struct received received;
    struct trace_events_end end = read_stream("100/101.1.index.gait", &received, 64);

    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_EQUAL(received.count, 10);
    CHECK_EQUAL(received.gaps, 4);
    CHECK_EQUAL(received.lost, 4 * 72);
    CHECK_EQUAL(received.before_gap, 8);
    CHECK_EQUAL(received.last_sequence, 4);
}

/* The chunks of the second thread have a call and its return each, 48 bytes, and so many ticks. */
static void chunks_before_a_time_are_left_out(void)
{
    struct received received = {.enough = 64};
    struct trace_events_receiver receiver = {process, lose, skip, &received};
    struct trace_events_walk *walk;
    struct trace_events_end end;

    CHECK_EQUAL(trace_events_begin(&walk, folder.fd, trace_piece_at("100/101.1.index.gait"), 1, &blocks, &receiver), 0);
    trace_events_skip(walk, 1000 + 2 * 48);
    while (trace_events_step(walk))
        ;
    CHECK_EQUAL(trace_events_end(walk, &end, NULL), 0);
    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_EQUAL(received.skips, 1);
    CHECK_EQUAL(received.count, 6);
    CHECK_EQUAL(received.events[0].time, 2200);
    CHECK_EQUAL(received.lost, 3 * 72);
}

static void reading_ends_when_there_is_enough(void)
{
    struct received received;
    struct trace_events_end end = read_stream("100/101.1.index.gait", &received, 2);

    CHECK_EQUAL(received.count, 2);
    CHECK_EQUAL(end.stream.state, STREAM_READING);
}

static void put_index(const struct trace_bytes *bytes, uint32_t events, size_t piece_bytes)
{
    unlinkat(folder.fd, "index", 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){
                                         .name = "index",
                                         .header = {.kind = TRACE_STREAM_INDEX, .tid = 5, .space = 1, .events = events},
                                         .bytes = bytes,
                                         .piece_bytes = piece_bytes,
                                     });
}

/* The first chunk has a block that is not known; the second one is read all the same. */
static void what_is_no_record_is_skipped_with_its_chunk(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct received received;
    struct trace_events_end end;

    trace_bytes_put_header(&bytes, 0, EVENT_RECORD_BLOCK);
    trace_bytes_put_header(&bytes, 77, EVENT_RECORD_BLOCK);
    trace_bytes_put_header(&bytes, 1, EVENT_RECORD_BLOCK);
    trace_bytes_put_header(&bytes, 2, EVENT_RECORD_BLOCK);
    put_index(&bytes, GAIT_EVENT_BLOCK, 12);
    end = read_stream("index", &received, 64);
    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_EQUAL(end.bad_bytes, 8);
    CHECK_EQUAL(end.first_bad_chunk, 0);
    CHECK_EQUAL(end.first_bad_at, 4);
    CHECK_EQUAL(received.count, 2);
    CHECK_EQUAL(received.events[1].location, 0x401200);
    CHECK_EQUAL(received.lost, 8);
}

/* A block that ends one chunk is cut by the next one; its instructions are told once. */
static void instructions_wait_across_chunks(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct received received;

    trace_bytes_put_header(&bytes, 0, EVENT_RECORD_BLOCK);
    trace_bytes_put_header(&bytes, 1, EVENT_RECORD_CUT);
    trace_bytes_put_header(&bytes, 1, EVENT_RECORD_BLOCK);
    put_index(&bytes, GAIT_EVENT_EXEC, 4);
    read_stream("index", &received, 64);
    CHECK_EQUAL(received.count, 1 + 3);
    CHECK_EQUAL(received.events[0].location, 0x401000);
    CHECK_EQUAL(received.events[1].location, 0x401100);
}

/* Times of events that came without. */
struct guessed {
    uint64_t count;
    uint64_t last;
    uint64_t between[3]; /* how many there were before, between and behind the marks */
};

static int check_guesses(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct guessed *guessed = context;

    CHECK(span->is_interpolated);
    for (size_t i = 0; i < count; i++, guessed->count++) {
        uint64_t time = trace_span_time(span, events, count, i);

        CHECK_EQUAL(events[i].time, 0);
        CHECK(time >= guessed->last && time >= span->first_time && time <= span->last_time);
        guessed->last = time;
        guessed->between[span->first_time < 1100 ? 0 : span->first_time < 2000 ? 1 : 2]++;
    }
    return 0;
}

/* The chunk is from 1000 to 5000: time goes slowly up to the first mark, then faster. */
static void times_between_marks_are_guessed_and_called_so(void)
{
    static const struct trace_mark marks[] = {{.time = 1100, .offset = 1200}, {.time = 2000, .offset = 1600}};
    struct trace_bytes bytes = {.size_bytes = 0};
    struct guessed guessed = {.count = 0};
    struct trace_events_receiver receiver = {.process = check_guesses, .context = &guessed};
    struct trace_events_end end;

    while (bytes.size_bytes < 4000)
        trace_bytes_put_header(&bytes, bytes.size_bytes / 4 % 3, EVENT_RECORD_BLOCK);
    unlinkat(folder.fd, "marked", 0);
    trace_folder_put_stream(
        &folder,
        &(struct trace_stream_plan){
            .name = "marked",
            .header = {.kind = TRACE_STREAM_INDEX, .tid = 5, .space = 1, .events = GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC},
            .bytes = &bytes,
            .marks = marks,
            .mark_count = 2,
            .pack = true,
        });
    CHECK_EQUAL(trace_events_read(folder.fd, trace_piece_at("marked"), 1, &blocks, &receiver, &end, NULL), 0);
    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_EQUAL(end.bad_bytes, 0);
    CHECK_EQUAL(guessed.count, 4 * 1000);
    /* Instructions are told when the block behind theirs is. */
    CHECK_EQUAL(guessed.between[0], 4 * 300 - 3);
    CHECK_EQUAL(guessed.between[1], 4 * 100);
    CHECK(guessed.last > 4500);
}

static void times_that_are_told_are_no_guesses(void)
{
    const struct gait_event event = {.time = 7};
    const struct trace_span told = {.first_time = 1, .last_time = 9};
    const struct trace_span guessed = {.is_interpolated = true, .first_guess = 3, .last_guess = 5};

    CHECK_EQUAL(trace_span_time(&told, &event, 1, 0), 7);
    CHECK_EQUAL(trace_span_time(&guessed, &event, 1, 0), 3);
}

/* A call in one piece, the return in the next; as many chunks as bytes / 16. */
static void put_piece(const char *name, const struct trace_bytes *bytes, uint64_t first_sequence)
{
    unlinkat(folder.fd, name, 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){
                                         .name = name,
                                         .header = {.kind = TRACE_STREAM_INDEX,
                                                    .tid = 5,
                                                    .space = 1,
                                                    .events = GAIT_EVENT_CALL | GAIT_EVENT_RET,
                                                    .is_whole = 1},
                                         .bytes = bytes,
                                         .piece_bytes = 16,
                                         .first_sequence = first_sequence,
                                     });
}

static const struct trace_file pieces[] = {{.path = "one"}, {.path = "two"}, {.path = "three"}};

static struct trace_events_end read_pieces(size_t first, size_t count, struct received *received)
{
    struct trace_events_receiver receiver = {process, lose, skip, received};
    struct trace_events_end end = {.bad_bytes = 0};

    *received = (struct received){.enough = 64};
    CHECK_EQUAL(trace_events_read(folder.fd, pieces + first, count, &blocks, &receiver, &end, NULL), 0);
    return end;
}

static void put_pieces(void)
{
    struct trace_bytes calls = {.size_bytes = 0}, returns = {.size_bytes = 0};

    for (uint64_t sp = 0x2000; sp >= 0x1000; sp -= 0x1000) {
        trace_bytes_put_wide_header(&calls, 0, EVENT_RECORD_CALL);
        trace_bytes_put_long(&calls, sp);
        trace_bytes_put_wide_header(&returns, 1, EVENT_RECORD_RETURN);
        trace_bytes_put_long(&returns, 0x401008);
    }
    put_piece("one", &calls, 0);
    put_piece("two", &returns, 2);
    put_piece("three", &calls, 4);
}

static void pieces_are_read_as_one_stream(void)
{
    static const int32_t depths[] = {0, 1, 2, 1, 0, 1};
    struct received received;
    struct trace_events_end end;

    put_pieces();
    end = read_pieces(0, 3, &received);
    CHECK_EQUAL(end.stream.state, STREAM_COMPLETE);
    CHECK_TEXT(end.path, "three");
    CHECK_EQUAL(end.gap_count, 0);
    CHECK_EQUAL(received.skips, 0);
    CHECK_EQUAL(received.count, 6);
    for (size_t i = 0; i < received.count; i++)
        CHECK_EQUAL(received.events[i].depth, depths[i]);
    CHECK_EQUAL(received.last_sequence, 5);
}

static void pieces_that_are_missing_are_gaps(void)
{
    struct received received;
    struct trace_events_end end;

    put_pieces();
    /* Whoever returns there was called in what is gone: so the thread went above where we begin. */
    end = read_pieces(1, 2, &received);
    CHECK_EQUAL(end.gap_count, 1);
    CHECK_EQUAL(received.skips, 1);
    CHECK_EQUAL(received.count, 4);
    CHECK_EQUAL(received.events[1].depth, -1);
    CHECK_EQUAL(received.lost, 0);
    CHECK_EQUAL(renameat(folder.fd, "three", folder.fd, "two"), 0);
    end = read_pieces(0, 2, &received);
    CHECK_EQUAL(end.gap_count, 1);
    CHECK_EQUAL(received.count, 4);
}

static void a_piece_that_is_cut_off_is_told_and_the_others_are_read(void)
{
    struct received received;
    struct trace_events_end end;
    size_t size;
    uint8_t *bytes;

    put_pieces();
    bytes = trace_folder_read(&folder, "two", &size);
    trace_folder_write(&folder, "two", bytes, size - 64 - 8);
    free(bytes);
    end = read_pieces(0, 3, &received);
    CHECK_EQUAL(end.stream.state, STREAM_CUT_OFF);
    CHECK_TEXT(end.path, "two");
    CHECK_EQUAL(end.gap_count, 1);
    CHECK_EQUAL(received.count, 5);
}

static void pieces_of_other_threads_are_refused(void)
{
    struct received received = {.enough = 64};
    struct trace_events_receiver receiver = {process, lose, skip, &received};
    struct trace_events_end end;
    struct gait_error err;

    put_pieces();
    unlinkat(folder.fd, "two", 0);
    CHECK_EQUAL(linkat(folder.fd, "100/100.1.index.gait", folder.fd, "two", 0), 0);
    CHECK_EQUAL(trace_events_read(folder.fd, pieces, 3, &blocks, &receiver, &end, &err), -EPROTO);
    CHECK(strstr(err.text, "'two': it is a stream, but not one of the same thread's events") != NULL);
    /* The others are read. */
    CHECK_EQUAL(received.count, 4);
}

static void another_stream_is_refused(void)
{
    struct received received = {.enough = 64};
    struct trace_events_receiver receiver = {.process = process, .lose = lose, .context = &received};
    struct trace_events_end end;
    struct gait_error err;

    CHECK_EQUAL(trace_events_read(folder.fd, trace_piece_at("100/blocks.gait"), 1, &blocks, &receiver, &end, &err),
                -EPROTO);
    CHECK(strstr(err.text, "not one of events") != NULL);
    CHECK_EQUAL(trace_events_read(folder.fd, trace_piece_at("100/missing"), 1, &blocks, &receiver, &end, &err),
                -ENOENT);
}

static const struct check_case cases[] = {
    CHECK_CASE(events_come_in_order),
    CHECK_CASE(gaps_are_told_where_they_are),
    CHECK_CASE(chunks_before_a_time_are_left_out),
    CHECK_CASE(reading_ends_when_there_is_enough),
    CHECK_CASE(what_is_no_record_is_skipped_with_its_chunk),
    CHECK_CASE(instructions_wait_across_chunks),
    CHECK_CASE(times_between_marks_are_guessed_and_called_so),
    CHECK_CASE(times_that_are_told_are_no_guesses),
    CHECK_CASE(another_stream_is_refused),
    CHECK_CASE(pieces_are_read_as_one_stream),
    CHECK_CASE(pieces_that_are_missing_are_gaps),
    CHECK_CASE(a_piece_that_is_cut_off_is_told_and_the_others_are_read),
    CHECK_CASE(pieces_of_other_threads_are_refused),
};

int main(void)
{
    int result;

    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    if (trace_blocks_read(&blocks, folder.fd, "100/blocks.gait", NULL) != 0)
        return 1;
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_blocks_deinit(&blocks);
    trace_folder_deinit(&folder);
    return result;
}
