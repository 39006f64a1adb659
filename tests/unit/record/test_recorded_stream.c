/* SPDX-License-Identifier: MIT */
#include "record/recorded_stream.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct trace_folder folder;
static struct chunk_encoder *encoder;

static struct recorded_stream *create(uint32_t tid)
{
    struct recorded_stream_plan plan = {
        .folder = folder.fd,
        .encoder = encoder,
        .header = {.kind = TRACE_STREAM_INDEX, .pid = 7, .tid = tid, .generation = 1},
    };
    struct recorded_stream *stream = NULL;

    CHECK_EQUAL(recorded_stream_create(&plan, &stream), 0);
    return stream;
}

static void a_stream_of_which_nothing_is_wanted_has_no_file(void)
{
    struct recorded_stream *stream = create(8);

    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    CHECK_EQUAL(faccessat(folder.fd, "8.1.index.gait", F_OK, 0), -1);
    recorded_stream_destroy(stream);
    recorded_stream_destroy(NULL);
}

static void what_was_left_out_is_a_gap_and_no_loss(void)
{
    struct recorded_stream *stream = create(9);
    struct chunk_contents contents = {.bytes = "12345678", .size_bytes = 8};
    static const bool has_gap[] = {true, false, true};
    struct stream_reader reader;
    struct stream_chunk chunk;
    unsigned count = 0;

    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    recorded_stream_leave_out(stream);
    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    CHECK_EQUAL(stream->written_bytes, 24);
    stream->lost_behind = 5;
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    recorded_stream_destroy(stream);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "9.1.index.gait", NULL), 0);
    while (stream_reader_next(&reader, &chunk))
        CHECK_EQUAL(chunk.has_gap_before, has_gap[count++]);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
    CHECK_EQUAL(reader.end.lost_bytes, 5);
    stream_reader_close(&reader);
}

static void a_file_that_cannot_be_made_is_an_error(void)
{
    struct recorded_stream *stream = create(10);
    struct chunk_contents contents = {.bytes = "12345678", .size_bytes = 8};

    trace_folder_make(&folder, "gone");
    stream->plan.folder = openat(folder.fd, "gone", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(unlinkat(folder.fd, "gone", AT_REMOVEDIR), 0);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), -ENOENT);
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    close(stream->plan.folder);
    recorded_stream_destroy(stream);
}

static uint64_t size_of(const char *name)
{
    struct stat status = {.st_size = 0};

    CHECK_EQUAL(fstatat(folder.fd, name, &status, 0), 0);
    return (uint64_t)status.st_size;
}

/* Checks a piece: its chunks are so many from that number on, and so much was lost. */
static void check_piece(const char *name, uint64_t first, uint64_t count, uint64_t lost)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    uint64_t sequence = first;

    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, name, NULL), 0);
    CHECK_EQUAL(reader.header.tid, 11);
    while (stream_reader_next(&reader, &chunk))
        CHECK_EQUAL(chunk.sequence, sequence++);
    CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
    CHECK_EQUAL(reader.end.chunk_count, count);
    CHECK_EQUAL(reader.end.lost_bytes, lost);
    stream_reader_close(&reader);
}

static void a_stream_goes_on_in_another_piece(void)
{
    struct recorded_stream *stream = create(11);
    struct chunk_contents contents = {.bytes = "12345678", .size_bytes = 8, .record_count = 2};

    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    CHECK_EQUAL(recorded_stream_turn(stream, 2), 0);
    check_piece("11.1.index.gait", 0, 2, 0);
    /* In a piece in which it has nothing it has no file. */
    CHECK_EQUAL(recorded_stream_turn(stream, 3), 0);
    CHECK_EQUAL(recorded_stream_put(stream, &contents), 0);
    CHECK_EQUAL(recorded_stream_turn(stream, 4), 0);
    CHECK_EQUAL(faccessat(folder.fd, "11.1.index.2.gait", F_OK, 0), -1);
    check_piece("11.1.index.3.gait", 2, 1, 0);
    /* But what was lost is told. */
    stream->lost_behind = 5;
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    check_piece("11.1.index.4.gait", 0, 0, 5);
    CHECK_EQUAL(stream->written_bytes, 24);
    CHECK_EQUAL(stream->written_count, 6);
    CHECK_EQUAL(recorded_stream_file_bytes(stream),
                size_of("11.1.index.gait") + size_of("11.1.index.3.gait") + size_of("11.1.index.4.gait"));
    recorded_stream_destroy(stream);
}

static void with_folder(void)
{
    trace_folder_init(&folder);
    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    a_stream_of_which_nothing_is_wanted_has_no_file();
    what_was_left_out_is_a_gap_and_no_loss();
    a_file_that_cannot_be_made_is_an_error();
    a_stream_goes_on_in_another_piece();
    chunk_encoder_destroy(encoder);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(with_folder),
};

CHECK_MAIN(cases)
