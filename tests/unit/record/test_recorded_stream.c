/* SPDX-License-Identifier: MIT */
#include "record/recorded_stream.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;
static struct chunk_encoder *encoder;

static struct recorded_stream *create(const char *name)
{
    struct recorded_stream_plan plan = {
        .folder = folder.fd, .encoder = encoder, .header = {.kind = TRACE_STREAM_INDEX, .pid = 7, .tid = 8}};
    struct recorded_stream *stream = NULL;

    snprintf(plan.name, sizeof(plan.name), "%s", name);
    CHECK_EQUAL(recorded_stream_create(&plan, &stream), 0);
    return stream;
}

static void a_stream_of_which_nothing_is_wanted_has_no_file(void)
{
    struct recorded_stream *stream = create("nothing");

    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    CHECK_EQUAL(faccessat(folder.fd, "nothing", F_OK, 0), -1);
    recorded_stream_destroy(stream);
    recorded_stream_destroy(NULL);
}

static void what_was_left_out_is_a_gap_and_no_loss(void)
{
    struct recorded_stream *stream = create("gaps");
    struct stream_piece piece = {.bytes = "12345678", .size_bytes = 8};
    static const bool has_gap[] = {true, false, true};
    struct stream_reader reader;
    struct stream_chunk chunk;
    unsigned count = 0;

    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_put(stream, &piece), 0);
    CHECK_EQUAL(recorded_stream_put(stream, &piece), 0);
    recorded_stream_leave_out(stream);
    recorded_stream_leave_out(stream);
    CHECK_EQUAL(recorded_stream_put(stream, &piece), 0);
    CHECK_EQUAL(stream->written_bytes, 24);
    stream->lost_behind = 5;
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    recorded_stream_destroy(stream);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "gaps", NULL), 0);
    while (stream_reader_next(&reader, &chunk))
        CHECK_EQUAL(chunk.has_gap_before, has_gap[count++]);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
    CHECK_EQUAL(reader.end.lost_bytes, 5);
    stream_reader_close(&reader);
}

static void a_file_that_cannot_be_made_is_an_error(void)
{
    struct recorded_stream *stream = create("no/such/folder");
    struct stream_piece piece = {.bytes = "12345678", .size_bytes = 8};

    CHECK_EQUAL(recorded_stream_put(stream, &piece), -ENOENT);
    CHECK_EQUAL(recorded_stream_close(stream), 0);
    recorded_stream_destroy(stream);
}

static void with_folder(void)
{
    trace_folder_init(&folder);
    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    a_stream_of_which_nothing_is_wanted_has_no_file();
    what_was_left_out_is_a_gap_and_no_loss();
    a_file_that_cannot_be_made_is_an_error();
    chunk_encoder_destroy(encoder);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(with_folder),
};

CHECK_MAIN(cases)
