/* SPDX-License-Identifier: MIT */
#include "trace/stream_repair.h"

#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <unistd.h>

/* A header of 64 bytes, three chunks of 80, a footer of 64. */
#define CHUNK_AT(number) (64 + 80 * (number))

static struct trace_folder folder;
static uint8_t *whole;
static size_t whole_bytes;

static struct stream_end read_to_end(void)
{
    struct stream_reader reader;
    struct stream_chunk chunk;
    struct stream_end end = {.state = STREAM_FAILED};

    if (stream_reader_open(&reader, folder.fd, "s", NULL) != 0)
        return end;
    while (stream_reader_next(&reader, &chunk))
        ;
    end = reader.end;
    stream_reader_close(&reader);
    return end;
}

/* Repairs what is there, and checks that good chunks are as they were. */
static int repair(struct stream_repair *done)
{
    struct stream_end before = read_to_end(), after;
    int result = stream_repair_run(folder.fd, "s", &before, done, NULL);
    uint8_t *bytes;
    size_t size;

    if (result != 0)
        return result;
    after = read_to_end();
    CHECK_EQUAL(after.state, STREAM_COMPLETE);
    CHECK_EQUAL(after.footer.flags, TRACE_FOOTER_REPAIRED);
    CHECK_EQUAL(after.chunk_count, before.chunk_count);
    CHECK_EQUAL(done->chunk_count, before.chunk_count);
    bytes = trace_folder_read(&folder, "s", &size);
    CHECK(memcmp(bytes, whole, before.offset) == 0);
    free(bytes);
    return 0;
}

static void a_stream_that_is_cut_off_anywhere_gets_a_footer(void)
{
    struct stream_repair done;

    for (size_t cut = 64; cut < whole_bytes; cut++) {
        trace_folder_write(&folder, "s", whole, cut);
        CHECK_EQUAL(repair(&done), 0);
        CHECK_EQUAL(done.chunk_count, cut < CHUNK_AT(1) ? 0 : cut < CHUNK_AT(2) ? 1 : cut < CHUNK_AT(3) ? 2 : 3);
        CHECK_EQUAL(done.cut_bytes, cut - CHUNK_AT(done.chunk_count));
    }
}

static void a_damaged_end_is_cut_off(void)
{
    struct stream_repair done;

    for (size_t at = CHUNK_AT(2); at < whole_bytes; at++) {
        whole[at] ^= 0x10;
        trace_folder_write(&folder, "s", whole, whole_bytes);
        CHECK_EQUAL(repair(&done), 0);
        CHECK_EQUAL(done.chunk_count, at < CHUNK_AT(3) ? 2 : 3);
        whole[at] ^= 0x10;
    }
}

static void damage_before_good_chunks_is_left_alone(void)
{
    struct stream_repair done;

    for (size_t at = CHUNK_AT(0); at < CHUNK_AT(2); at++) {
        uint8_t *bytes;
        size_t size;

        whole[at] ^= 0x10;
        trace_folder_write(&folder, "s", whole, whole_bytes);
        CHECK_EQUAL(repair(&done), -EBUSY);
        bytes = trace_folder_read(&folder, "s", &size);
        CHECK_EQUAL(size, whole_bytes);
        CHECK(memcmp(bytes, whole, size) == 0);
        free(bytes);
        whole[at] ^= 0x10;
    }
}

/* The chunk that follows is found across the borders of what is read at once. */
static void chunks_far_behind_the_damage_are_found(void)
{
    size_t gap = 65536 - 64 - 40;
    uint8_t *bytes = calloc(1, CHUNK_AT(1) + gap + 80);
    struct stream_repair done;

    memcpy(bytes, whole, CHUNK_AT(1));
    memcpy(bytes + CHUNK_AT(1) + gap, whole + CHUNK_AT(2), 80);
    trace_folder_write(&folder, "s", bytes, CHUNK_AT(1) + gap + 80);
    CHECK_EQUAL(repair(&done), -EBUSY);
    bytes[CHUNK_AT(1) + gap] ^= 1;
    trace_folder_write(&folder, "s", bytes, CHUNK_AT(1) + gap + 80);
    CHECK_EQUAL(repair(&done), 0);
    CHECK_EQUAL(done.cut_bytes, gap + 80);
    free(bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_stream_that_is_cut_off_anywhere_gets_a_footer),
    CHECK_CASE(a_damaged_end_is_cut_off),
    CHECK_CASE(damage_before_good_chunks_is_left_alone),
    CHECK_CASE(chunks_far_behind_the_damage_are_found),
};

int main(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    int result;

    trace_folder_init(&folder);
    while (bytes.size_bytes < 60)
        trace_bytes_put_header(&bytes, 0, EVENT_RECORD_BLOCK);
    trace_folder_put_stream(
        &folder, &(struct trace_stream_plan){
                     .name = "s", .header = {.kind = TRACE_STREAM_INDEX}, .bytes = &bytes, .piece_bytes = 20});
    whole = trace_folder_read(&folder, "s", &whole_bytes);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    free(whole);
    trace_folder_deinit(&folder);
    return result;
}
