/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/stream_reader.h"

#include "support/check.h"
#include "support/long_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static struct trace_folder folder;

/* Chunks of 20 bytes, the last of 10; compressed ones are of words that repeat. */
static void put_stream(const char *name, bool compress, struct trace_bytes *bytes)
{
    size_t piece_bytes = compress ? 1000 : 20;

    bytes->size_bytes = 0;
    while (bytes->size_bytes < 2 * piece_bytes + 10)
        trace_bytes_put(bytes, "ab", 2);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = name,
                                                                 .header = {.kind = TRACE_STREAM_INDEX, .tid = 9},
                                                                 .bytes = bytes,
                                                                 .piece_bytes = piece_bytes,
                                                                 .lost = 4,
                                                                 .compress = compress});
}

/* Reads a stream to its end, and checks that what comes is the beginning of what was written. */
static struct stream_end read_all(const char *name, const struct trace_bytes *expected)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct stream_end end;
    struct gait_error err;
    size_t at = 0;

    if (stream_reader_open(&reader, folder.fd, name, &err) != 0)
        return (struct stream_end){.state = STREAM_FAILED, .code = err.code};
    while (stream_reader_next(&reader, &chunk)) {
        CHECK(at + chunk.size_bytes <= expected->size_bytes);
        CHECK(memcmp(chunk.bytes, expected->bytes + at, chunk.size_bytes) == 0);
        at += chunk.size_bytes;
    }
    end = reader.end;
    CHECK(!stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(end.raw_bytes, at);
    CHECK(end.state != STREAM_READING);
    CHECK((end.reason == NULL) == (end.state == STREAM_COMPLETE));
    stream_reader_close(&reader);
    return end;
}

static void what_was_written_is_read(void)
{
    struct trace_bytes bytes;

    for (int compress = 0; compress < 2; compress++) {
        const char *name = compress ? "packed" : "plain";
        struct stream_end end;

        put_stream(name, compress, &bytes);
        end = read_all(name, &bytes);
        CHECK_EQUAL(end.state, STREAM_COMPLETE);
        CHECK_EQUAL(end.chunk_count, 3);
        CHECK_EQUAL(end.lost_bytes, 8);
        CHECK_EQUAL(end.raw_bytes, bytes.size_bytes);
        CHECK(compress ? end.stored_bytes < 200 : end.stored_bytes == bytes.size_bytes);
    }
}

/* Pieces are of 20 bytes, a tick each, from 1000 on. */
static void chunks_before_a_time_are_passed_over(void)
{
    static const struct {
        uint64_t before;
        uint64_t skipped;
    } cases[] = {{0, 0}, {1019, 0}, {1020, 1}, {1039, 1}, {1040, 2}, {UINT64_MAX, 3}};
    struct trace_bytes bytes;
    struct stream_reader reader;
    struct stream_chunk chunk;

    put_stream("skipped", false, &bytes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "skipped", NULL), 0);
        CHECK_EQUAL(stream_reader_skip(&reader, cases[i].before), cases[i].skipped);
        for (uint64_t next = cases[i].skipped; next < 3; next++) {
            CHECK(stream_reader_next(&reader, &chunk));
            CHECK_EQUAL(chunk.sequence, next);
        }
        CHECK(!stream_reader_next(&reader, &chunk));
        CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
        stream_reader_close(&reader);
    }
}

/* Blocks in all the ways in which they can be stored, with marks and without. */
static void each_way_of_storing_is_read(void)
{
    static const struct trace_mark marks[] = {{.time = 1001, .offset = 4}, {.time = 1001, .offset = 400}};
    struct trace_bytes bytes = {.size_bytes = 0};

    while (bytes.size_bytes < 4000)
        trace_bytes_put_header(&bytes, bytes.size_bytes % 12, EVENT_RECORD_BLOCK);
    for (unsigned way = 0; way < 8; way++) {
        struct stream_reader reader;
        struct stream_chunk chunk;
        char name[16];

        snprintf(name, sizeof(name), "way%u", way);
        trace_folder_put_stream(
            &folder,
            &(struct trace_stream_plan){.name = name,
                                        .header = {.kind = TRACE_STREAM_INDEX, .tid = 9, .events = GAIT_EVENT_BLOCK},
                                        .bytes = &bytes,
                                        .piece_bytes = 1000,
                                        .compress = way & TRACE_CHUNK_ZSTD,
                                        .pack = way & TRACE_CHUNK_PACKED,
                                        .marks = marks,
                                        .mark_count = way & TRACE_CHUNK_MARKS ? 2 : 0});
        CHECK_EQUAL(read_all(name, &bytes).state, STREAM_COMPLETE);
        CHECK_EQUAL(stream_reader_open(&reader, folder.fd, name, NULL), 0);
        CHECK(stream_reader_next(&reader, &chunk));
        CHECK_EQUAL(chunk.mark_count, way & TRACE_CHUNK_MARKS ? 2 : 0);
        CHECK(chunk.mark_count == 0 || memcmp(chunk.marks, marks, sizeof(marks)) == 0);
        stream_reader_close(&reader);
    }
}

/* The sums are right, but what they are of is not. */
static void impossible_marks_are_damage(void)
{
    static const struct trace_mark marks[][2] = {
        {{.time = 1, .offset = 0}, {.time = 2, .offset = 4}},  {{.time = 1, .offset = 4}, {.time = 2, .offset = 4}},
        {{.time = 1, .offset = 4}, {.time = 2, .offset = 40}}, {{.time = 2, .offset = 4}, {.time = 1, .offset = 8}},
        {{.time = 1, .offset = 4}, {.time = 2, .offset = 8}},
    };
    struct trace_bytes bytes = {.size_bytes = 40};

    for (size_t i = 0; i < 5; i++) {
        char name[16];

        snprintf(name, sizeof(name), "marks%zu", i);
        trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = name,
                                                                     .header = {.kind = TRACE_STREAM_INDEX, .tid = 9},
                                                                     .bytes = &bytes,
                                                                     .marks = marks[i],
                                                                     .mark_count = 2});
        CHECK_EQUAL(read_all(name, &bytes).state, i == 4 ? STREAM_COMPLETE : STREAM_DAMAGED);
    }
}

/* Cut off anywhere, the chunks before are read, and nothing is called complete. */
static void truncation_is_told_at_every_byte(void)
{
    struct trace_bytes bytes;
    size_t size;
    uint8_t *file;

    put_stream("whole", false, &bytes);
    file = trace_folder_read(&folder, "whole", &size);
    CHECK_EQUAL(size, 64 + 2 * (56 + 24) + 56 + 16 + 64);
    for (size_t cut = 0; cut < size; cut++) {
        struct stream_end end;

        trace_folder_write(&folder, "cut", file, cut);
        end = read_all("cut", &bytes);
        CHECK_EQUAL(end.state, cut < 64 ? STREAM_FAILED : STREAM_CUT_OFF);
        if (cut < 64)
            continue;
        CHECK_EQUAL(end.chunk_count, cut < 144 ? 0 : cut < 224 ? 1 : cut < 296 ? 2 : 3);
        CHECK_EQUAL(end.offset, cut < 144 ? 64 : cut < 224 ? 144 : cut < 296 ? 224 : 296);
    }
    free(file);
}

static void each_flipped_bit_is_noticed(void)
{
    struct trace_bytes bytes;

    for (int compress = 0; compress < 2; compress++) {
        const char *name = compress ? "whole_packed" : "whole_plain";
        size_t size;
        uint8_t *file;

        put_stream(name, compress, &bytes);
        file = trace_folder_read(&folder, name, &size);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct stream_end end;

            file[bit / 8] ^= 1 << bit % 8;
            trace_folder_write(&folder, "flipped", file, size);
            end = read_all("flipped", &bytes);
            CHECK_EQUAL(end.state, bit < 8 * 64 ? STREAM_FAILED : STREAM_DAMAGED);
            file[bit / 8] ^= 1 << bit % 8;
        }
        free(file);
    }
}

static void what_follows_the_footer_is_noticed(void)
{
    struct trace_bytes bytes;
    struct stream_end end;
    size_t size;
    uint8_t *file;

    put_stream("longer", false, &bytes);
    file = trace_folder_read(&folder, "longer", &size);
    file[size] = 0;
    trace_folder_write(&folder, "longer", file, size + 1);
    end = read_all("longer", &bytes);
    CHECK_EQUAL(end.state, STREAM_DAMAGED);
    CHECK_EQUAL(end.chunk_count, 3);
    free(file);
}

/* Chunks that are good each but come from elsewhere. */
static void chunks_in_another_order_are_noticed(void)
{
    struct trace_bytes bytes;
    size_t size;
    uint8_t *file;

    put_stream("ordered", false, &bytes);
    file = trace_folder_read(&folder, "ordered", &size);
    memcpy(file + 64, file + 144, 80);
    trace_folder_write(&folder, "ordered", file, size);
    CHECK_EQUAL(read_all("ordered", &bytes).state, STREAM_DAMAGED);
    CHECK_EQUAL(read_all("ordered", &bytes).chunk_count, 1);
    free(file);
}

/* What is of a thread may go on from another file; then it says from where. */
static void only_streams_of_threads_begin_with_another_chunk(void)
{
    static const enum trace_stream_kind kinds[] = {TRACE_STREAM_INDEX, TRACE_STREAM_DETAIL, TRACE_STREAM_BLOCKS,
                                                   TRACE_STREAM_MODULES, TRACE_STREAM_CRASH};
    struct trace_bytes bytes = {.size_bytes = 0};

    while (bytes.size_bytes < 48)
        trace_bytes_put(&bytes, "ab", 2);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct stream_end end;

        unlinkat(folder.fd, "later", 0);
        trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "later",
                                                                     .header = {.kind = kinds[i]},
                                                                     .bytes = &bytes,
                                                                     .piece_bytes = 24,
                                                                     .first_sequence = 7});
        end = read_all("later", &bytes);
        CHECK_EQUAL(end.state, i < 2 ? STREAM_COMPLETE : STREAM_DAMAGED);
        CHECK_EQUAL(end.first_sequence, i < 2 ? 7 : 0);
        CHECK_EQUAL(end.chunk_count, i < 2 ? 2 : 0);
    }
}

/* The file becomes shorter while it is read. */
static void a_shrinking_file_is_cut_off(void)
{
    struct trace_bytes bytes;
    struct stream_reader reader;
    struct stream_chunk chunk;
    int fd;

    put_stream("shrinking", false, &bytes);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "shrinking", NULL), 0);
    CHECK(stream_reader_next(&reader, &chunk));
    /* The file that is open, not another one in its place. */
    fd = openat(folder.fd, "shrinking", O_WRONLY | O_TRUNC | O_CLOEXEC);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(!stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(reader.end.state, STREAM_CUT_OFF);
    stream_reader_close(&reader);
}

static void refuse(const char *name, int code, const char *part)
{
    struct stream_reader reader;
    struct gait_error err = {0};

    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, name, &err), -code);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

static void what_is_no_stream_is_explained(void)
{
    trace_folder_write(&folder, "text", "This is some text, and no stream.", 33);
    trace_folder_write(&folder, "empty", "", 0);
    trace_folder_write(&folder, "begun", "gaits", 5);
    trace_folder_write(&folder, "short", "gaita", 5);
    trace_folder_make(&folder, "directory");
    CHECK_EQUAL(mkfifoat(folder.fd, "fifo", 0600), 0);
    refuse("missing", ENOENT, "there is no such file");
    refuse("text", EPROTO, "it is no stream of a trace");
    refuse("empty", ENODATA, "it ends after 0 bytes");
    refuse("begun", ENODATA, "it ends after 5 bytes");
    refuse("short", EPROTO, "it is no stream of a trace");
    refuse("directory", EISDIR, "it is a directory");
    refuse("fifo", EPROTO, "it is no stream of a trace");
}

/* Nothing is secret from root, who has to become somebody else. */
static void a_file_that_may_not_be_read_is_explained(void)
{
    uid_t user = geteuid();

    trace_folder_write(&folder, "locked", "x", 1);
    CHECK_EQUAL(fchmodat(folder.fd, "locked", 0, 0), 0);
    CHECK_EQUAL(fchmod(folder.fd, 0755), 0);
    if (user == 0)
        CHECK_EQUAL(seteuid(NOBODY), 0);
    refuse("locked", EACCES, "this user may not read it");
    CHECK_EQUAL(seteuid(user), 0);
}

static void an_incomplete_end_is_put_into_words(void)
{
    struct trace_bytes bytes;
    struct stream_end end;
    struct gait_error err;
    size_t size;
    uint8_t *file;

    put_stream("explained", false, &bytes);
    file = trace_folder_read(&folder, "explained", &size);
    trace_folder_write(&folder, "explained", file, 150);
    end = read_all("explained", &bytes);
    CHECK_EQUAL(stream_end_explain(&end, "explained", &err), -ENODATA);
    CHECK_TEXT(err.text,
               "cannot read all of 'explained': it is cut off after chunk 1, at byte 144: the file ends within "
               "a chunk or the footer; try 'gait verify'");
    CHECK_EQUAL(stream_end_check(&end, "explained", &err), -EPROTO);
    end.state = STREAM_COMPLETE;
    CHECK_EQUAL(stream_end_check(&end, "explained", &err), 0);
    free(file);
}

static void a_chunk_is_looked_at_and_read_later(void)
{
    struct stream_glance glance;
    struct stream_reader reader;
    struct stream_place place;
    struct stream_chunk chunk;

    trace_folder_make(&folder, "100");
    long_calls_put(&folder, 100, 0);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "100/100.1.index.gait", NULL), 0);
    CHECK(!stream_reader_glance(&reader, LONG_CALLS_TIME(1) - 1, &glance));
    CHECK(stream_reader_glance(&reader, LONG_CALLS_TIME(1), &glance));
    CHECK(glance.has_counts && !glance.is_behind_gap);
    CHECK_EQUAL(glance.count, 3);
    CHECK_EQUAL(glance.counts[0].entered, 1);
    CHECK_EQUAL(glance.lowest_depth, 0);
    CHECK_EQUAL(glance.last_time, LONG_CALLS_TIME(1));
    stream_reader_pass(&reader);
    place = stream_reader_place(&reader);
    CHECK(stream_reader_glance(&reader, UINT64_MAX, &glance));
    CHECK_EQUAL(glance.count, 1);
    CHECK_EQUAL(glance.lowest_depth, 2);
    for (int i = 0; i < 2; i++) {
        CHECK(stream_reader_next(&reader, &chunk));
        CHECK_EQUAL(chunk.sequence, 1);
        CHECK_EQUAL(chunk.size_bytes, LONG_CALLS_CHUNK_BYTES);
        CHECK(chunk.counts != NULL && chunk.count_count == 1);
        stream_reader_return(&reader, place);
    }
    /* Who passes over all of them still gets to the footer. */
    while (stream_reader_glance(&reader, UINT64_MAX, &glance))
        stream_reader_pass(&reader);
    stream_reader_close(&reader);
    CHECK_EQUAL(stream_reader_open(&reader, folder.fd, "100/100.1.index.gait", NULL), 0);
    while (stream_reader_glance(&reader, UINT64_MAX, &glance))
        stream_reader_pass(&reader);
    CHECK(!stream_reader_next(&reader, &chunk));
    CHECK_EQUAL(reader.end.state, STREAM_COMPLETE);
    stream_reader_close(&reader);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_written_is_read),
    CHECK_CASE(chunks_before_a_time_are_passed_over),
    CHECK_CASE(a_chunk_is_looked_at_and_read_later),
    CHECK_CASE(each_way_of_storing_is_read),
    CHECK_CASE(impossible_marks_are_damage),
    CHECK_CASE(truncation_is_told_at_every_byte),
    CHECK_CASE(each_flipped_bit_is_noticed),
    CHECK_CASE(what_follows_the_footer_is_noticed),
    CHECK_CASE(chunks_in_another_order_are_noticed),
    CHECK_CASE(only_streams_of_threads_begin_with_another_chunk),
    CHECK_CASE(a_shrinking_file_is_cut_off),
    CHECK_CASE(what_is_no_stream_is_explained),
    CHECK_CASE(a_file_that_may_not_be_read_is_explained),
    CHECK_CASE(an_incomplete_end_is_put_into_words),
};

int main(void)
{
    int result;

    trace_folder_init(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}
