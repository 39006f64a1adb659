/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/stream_writer.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static struct chunk_encoder *encoder;
static const struct trace_stream_header header = {.kind = TRACE_STREAM_INDEX, .pid = 5, .tid = 6};

static void the_file_is_as_the_format_says(void)
{
    struct trace_folder folder;
    struct stream_writer writer;
    struct trace_chunk chunk;
    struct trace_footer footer;
    uint8_t *bytes;
    size_t size;

    trace_folder_init(&folder);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "s", &header, encoder), 0);
    CHECK_EQUAL(
        stream_writer_put(&writer,
                          &(struct chunk_contents){
                              .bytes = "abcde", .size_bytes = 5, .first_time = 10, .last_time = 20, .lost_before = 7}),
        0);
    CHECK_EQUAL(stream_writer_close(&writer, 3), 0);
    bytes = trace_folder_read(&folder, "s", &size);
    CHECK_EQUAL(size, 64 + 56 + 8 + 64);
    CHECK(memcmp(bytes, "gaitstrm", 8) == 0);
    CHECK_EQUAL(bytes[8], TRACE_VERSION);
    memcpy(&chunk, bytes + 64, sizeof(chunk));
    CHECK(memcmp(&chunk, "chnk", 4) == 0);
    CHECK_EQUAL(chunk.stored_bytes, 5);
    CHECK_EQUAL(chunk.lost_before, 7);
    CHECK_EQUAL(chunk.data_crc, crc32c_by_tables(0, "abcde", 5));
    CHECK_EQUAL(chunk.crc, crc32c_by_tables(0, &chunk, 52));
    CHECK(memcmp(bytes + 120, "abcde\0\0\0", 8) == 0);
    memcpy(&footer, bytes + 128, sizeof(footer));
    CHECK(memcmp(&footer, "gaitsend", 8) == 0);
    CHECK_EQUAL(footer.chunk_count, 1);
    CHECK_EQUAL(footer.lost_bytes, 10);
    CHECK_EQUAL(footer.crc, crc32c_by_tables(0, &footer, 60));
    free(bytes);
    trace_folder_deinit(&folder);
}

static void a_file_that_is_there_is_left_alone(void)
{
    struct trace_folder folder;
    struct stream_writer writer;
    size_t size;

    trace_folder_init(&folder);
    trace_folder_write(&folder, "s", "mine", 4);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "s", &header, encoder), -EEXIST);
    free(trace_folder_read(&folder, "s", &size));
    CHECK_EQUAL(size, 4);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "missing/s", &header, encoder), -ENOENT);
    trace_folder_deinit(&folder);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
    CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Wherever the room ends, whole chunks stay, and writing goes on when there is room again. */
static void a_full_disk_leaves_whole_chunks(void)
{
    struct chunk_contents contents = {.bytes = "0123456789abcdef", .size_bytes = 16};
    size_t size;

    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t room = 0; room <= 64 + 72 + 72; room++) {
        struct trace_folder folder;
        struct stream_writer writer;
        int opened;

        trace_folder_init(&folder);
        limit_files(room);
        opened = stream_writer_open(&writer, folder.fd, "s", &header, encoder);
        CHECK_EQUAL(opened, room >= 64 ? 0 : -EFBIG);
        if (opened == 0) {
            CHECK_EQUAL(stream_writer_put(&writer, &contents), room >= 136 ? 0 : -EFBIG);
            CHECK_EQUAL(stream_writer_put(&writer, &contents), room >= 208 ? 0 : -EFBIG);
            CHECK_EQUAL(lseek(writer.fd, 0, SEEK_END), room >= 208 ? 208 : room >= 136 ? 136 : 64);
            limit_files(RLIM_INFINITY);
            CHECK_EQUAL(stream_writer_put(&writer, &contents), 0);
            CHECK_EQUAL(stream_writer_close(&writer, 0), 0);
            free(trace_folder_read(&folder, "s", &size));
            CHECK_EQUAL(size, (room >= 208 ? 208 : room >= 136 ? 136 : 64) + 72 + 64);
        } else {
            CHECK_EQUAL(faccessat(folder.fd, "s", F_OK, 0), -1);
        }
        limit_files(RLIM_INFINITY);
        trace_folder_deinit(&folder);
    }
}

static void a_failed_close_still_closes(void)
{
    struct trace_folder folder;
    struct stream_writer writer;
    int fd;

    trace_folder_init(&folder);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "s", &header, encoder), 0);
    fd = writer.fd;
    limit_files(100);
    CHECK_EQUAL(stream_writer_close(&writer, 0), -EFBIG);
    limit_files(RLIM_INFINITY);
    CHECK_EQUAL(fcntl(fd, F_GETFD), -1);
    trace_folder_deinit(&folder);
}

static void too_large_a_chunk_is_refused(void)
{
    struct trace_folder folder;
    struct stream_writer writer;
    size_t size = TRACE_CHUNK_BYTES_MAX + 1;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    trace_folder_init(&folder);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "s", &header, encoder), 0);
    CHECK_EQUAL(stream_writer_put(&writer, &(struct chunk_contents){.bytes = bytes, .size_bytes = size}), -EINVAL);
    CHECK_EQUAL(stream_writer_close(&writer, 0), 0);
    munmap(bytes, size);
    trace_folder_deinit(&folder);
}

/* Chunks may be kept, and appended in any order to any stream: they are numbered as they stand there. */
static void chunks_that_were_kept_are_appended(void)
{
    struct trace_folder folder;
    struct stream_writer writer;
    struct encoded_chunk kept[2];
    struct trace_chunk chunk;
    uint8_t *bytes;
    size_t size;

    trace_folder_init(&folder);
    CHECK_EQUAL(
        chunk_encoder_run(encoder,
                          &(struct chunk_contents){
                              .bytes = "abc", .size_bytes = 3, .first_time = 10, .last_time = 20, .lost_before = 7},
                          &kept[0]),
        0);
    CHECK_EQUAL(
        chunk_encoder_run(encoder,
                          &(struct chunk_contents){
                              .bytes = "defgh", .size_bytes = 5, .first_time = 20, .last_time = 30, .lost_before = 0},
                          &kept[1]),
        0);
    CHECK_EQUAL(stream_writer_open(&writer, folder.fd, "s", &header, encoder), 0);
    CHECK_EQUAL(stream_writer_append(&writer, &kept[1]), 0);
    CHECK_EQUAL(stream_writer_append(&writer, &kept[0]), 0);
    CHECK_EQUAL(stream_writer_close(&writer, 0), 0);
    bytes = trace_folder_read(&folder, "s", &size);
    CHECK_EQUAL(size, 64 + 64 + 64 + 64);
    for (uint64_t i = 0; i < 2; i++) {
        memcpy(&chunk, bytes + 64 + i * 64, sizeof(chunk));
        CHECK_EQUAL(chunk.sequence, i);
        CHECK_EQUAL(chunk.raw_bytes, i == 0 ? 5 : 3);
        CHECK_EQUAL(chunk.lost_before, i == 0 ? 0 : 7);
        CHECK_EQUAL(chunk.crc, crc32c_by_tables(0, &chunk, 52));
    }
    free(bytes);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_file_is_as_the_format_says),  CHECK_CASE(a_file_that_is_there_is_left_alone),
    CHECK_CASE(a_full_disk_leaves_whole_chunks), CHECK_CASE(a_failed_close_still_closes),
    CHECK_CASE(too_large_a_chunk_is_refused),    CHECK_CASE(chunks_that_were_kept_are_appended),
};

int main(void)
{
    int result = chunk_encoder_create(false, &encoder);

    if (result == 0)
        result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    chunk_encoder_destroy(encoder);
    return result;
}
