/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace/file_check.h"

#include "support/check.h"
#include "support/long_calls.h"
#include "trace/chunk_encoder.h"
#include "trace/crc32c.h"
#include "trace/kept_names.h"
#include "trace/record_counts.h"

#include <fcntl.h>
#include <unistd.h>

static struct trace_folder folder;

static void begin(void)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
}

/* Checks all files, and expects one to be found so; all others to be good. */
static void expect(const char *path, enum file_verdict verdict, const char *part)
{
    struct trace_files files;
    struct file_checker checker;
    struct file_finding finding;
    bool is_found = path == NULL;

    CHECK_EQUAL(trace_files_open(&files, folder.path, NULL), 0);
    file_checker_init(&checker, &files);
    for (size_t i = 0; i < files.count; i++) {
        bool is_it = path != NULL && strcmp(files.files[i].path, path) == 0;

        file_checker_run(&checker, &files.files[i], &finding);
        if (finding.verdict != (is_it ? verdict : FILE_GOOD) || (is_it && strstr(finding.text, part) == NULL))
            CHECK_TEXT(finding.text, is_it ? part : "good");
        is_found = is_found || is_it;
    }
    CHECK(is_found);
    file_checker_deinit(&checker);
    trace_files_close(&files);
    trace_folder_deinit(&folder);
}

static void a_good_trace_is_good(void)
{
    begin();
    expect(NULL, FILE_GOOD, "");
    begin();
    expect("100/101.1.index.gait", FILE_GOOD, "5 chunks, 240 bytes, 10 events, 288 bytes lost");
    begin();
    expect("manifest.json", FILE_GOOD, "1 process, 2 threads");
}

static void change(const char *path, size_t cut, size_t at)
{
    size_t size;
    uint8_t *bytes = trace_folder_read(&folder, path, &size);

    if (at != 0)
        bytes[at] ^= 1;
    trace_folder_write(&folder, path, bytes, size - cut);
    free(bytes);
}

static void what_is_wrong_is_found(void)
{
    begin();
    change("100/101.1.index.gait", 64, 0);
    expect("100/101.1.index.gait", FILE_CUT_OFF, "after 5 chunks, at byte 584: there is no footer");
    begin();
    change("100/modules.gait", 0, 130);
    expect("100/modules.gait", FILE_DAMAGED, "after 0 chunks, at byte 64: the chunk's bytes have the wrong sum");
    begin();
    change("manifest.json", 2, 0);
    expect("manifest.json", FILE_DAMAGED, "line");
    begin();
    trace_folder_write(&folder, "notes", "", 0);
    expect("notes", FILE_FOREIGN, "does not belong");
    begin();
    CHECK_EQUAL(renameat(folder.fd, "100/101.1.index.gait", folder.fd, "100/102.1.index.gait"), 0);
    expect("100/102.1.index.gait", FILE_DAMAGED, "is that of thread 101");
}

static void put_names(const char *name)
{
    struct kept_names names = {.path = strdup("/lib/a.so")};
    struct chunk_encoder *encoder;

    trace_folder_make(&folder, "names");
    CHECK_EQUAL(kept_names_add(&names, 0x1000, 16, "one", 3), 0);
    /* Without libzstd they stay as they are. */
    CHECK(chunk_encoder_create(true, &encoder) == 0 || chunk_encoder_create(false, &encoder) == 0);
    CHECK_EQUAL(kept_names_write(&names, folder.fd, name, encoder, NULL), 0);
    chunk_encoder_destroy(encoder);
    kept_names_deinit(&names);
}

/* A part of the names is none, and cannot be mended. */
static void names_are_checked_as_a_whole(void)
{
    begin();
    put_names("names/0a1b.gait");
    expect("names/0a1b.gait", FILE_GOOD, "1 name of /lib/a.so");
    begin();
    put_names("names/0a1b.gait");
    change("names/0a1b.gait", 64, 0);
    expect("names/0a1b.gait", FILE_DAMAGED, "there is no footer");
    begin();
    put_names("names/0a1b.gait");
    change("names/0a1b.gait", 0, 130);
    expect("names/0a1b.gait", FILE_DAMAGED, "wrong sum");
}

static void debug_information_is_what_it_is_called(void)
{
    for (unsigned i = 0; i < 2; i++) {
        begin();
        trace_folder_make(&folder, "debug");
        trace_folder_make(&folder, "debug/.build-id");
        trace_folder_make(&folder, "debug/.build-id/0a");
        trace_folder_write(&folder, "debug/.build-id/0a/1b.debug", i == 0 ? "\177ELF" : "ELF", 4);
        expect("debug/.build-id/0a/1b.debug", i == 0 ? FILE_GOOD : FILE_DAMAGED,
               i == 0 ? "4 bytes of debug information" : "is no file with debug information");
    }
}

static void events_need_their_blocks(void)
{
    begin();
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    CHECK_EQUAL(unlinkat(folder.fd, "100/blocks.gait", 0), 0);
    expect("100/100.1.index.gait", FILE_DAMAGED, "'100/blocks.gait' is missing");
}

/* The same pid, another program: the blocks of the first are not its. */
static void events_need_the_blocks_of_their_program(void)
{
    begin();
    trace_folder_make(&folder, "100.2");
    CHECK_EQUAL(renameat(folder.fd, "100/101.1.index.gait", folder.fd, "100.2/101.1.index.gait"), 0);
    expect("100.2/101.1.index.gait", FILE_DAMAGED, "blocks.gait' is missing");
}

/* Thread 101, whose five chunks are in two pieces: two, and three. */
static void put_pieces(bool has_deleted)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = {
        .name = "100/101.1.index.gait",
        .header = {.kind = TRACE_STREAM_INDEX, .pid = 100, .tid = 101, .generation = 1, .space = 1, .events = 8},
        .bytes = &bytes,
        .piece_bytes = 8,
    };

    begin();
    CHECK_EQUAL(unlinkat(folder.fd, plan.name, 0), 0);
    for (unsigned i = 0; i < 4; i++)
        trace_bytes_put_header(&bytes, 1, EVENT_RECORD_BLOCK);
    trace_folder_put_stream(&folder, &plan);
    plan.name = "100/101.1.index.3.gait";
    plan.first_sequence = 2;
    trace_folder_put_stream(&folder, &plan);
    if (has_deleted)
        trace_folder_delete_pieces(&folder, 3);
}

static void pieces_have_to_follow_each_other(void)
{
    put_pieces(false);
    expect(NULL, FILE_GOOD, "");
    put_pieces(false);
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    expect("100/101.1.index.3.gait", FILE_DAMAGED,
           "begins with chunk 2, where chunk 0 should follow: a piece is missing");
    put_pieces(true);
    CHECK_EQUAL(unlinkat(folder.fd, "100/101.1.index.gait", 0), 0);
    expect("100/101.1.index.3.gait", FILE_GOOD,
           "2 chunks, 16 bytes, 4 events, 0 bytes lost; 2 chunks before it were deleted");
    put_pieces(true);
    CHECK_EQUAL(renameat(folder.fd, "100/101.1.index.3.gait", folder.fd, "100/101.1.index.4.gait"), 0);
    CHECK_EQUAL(linkat(folder.fd, "100/101.1.index.gait", folder.fd, "100/101.1.index.5.gait", 0), 0);
    expect("100/101.1.index.5.gait", FILE_DAMAGED, "begins with chunk 0, where chunk 4 should follow");
}

/* Its sums are right, but it was entered once less than it says. */
static void counts_that_are_not_those_of_records_are_noticed(void)
{
    size_t size, at = sizeof(struct trace_stream_header) + sizeof(struct trace_chunk);
    struct trace_chunk *chunk;
    struct trace_counts *counts;
    uint8_t *bytes;

    begin();
    long_calls_put(&folder, 100, 0);
    expect(NULL, FILE_GOOD, "");
    begin();
    long_calls_put(&folder, 100, 0);
    bytes = trace_folder_read(&folder, "100/100.1.index.gait", &size);
    counts = (void *)(bytes + at);
    ((struct trace_count *)(void *)(counts + 1))->entered++;
    counts->crc = record_counts_sum(bytes + at, counts->count);
    chunk = (void *)(bytes + at - sizeof(*chunk));
    chunk->data_crc = crc32c_by_tables(0, bytes + at, chunk->stored_bytes);
    chunk->crc = crc32c_by_tables(0, chunk, offsetof(struct trace_chunk, crc));
    trace_folder_write(&folder, "100/100.1.index.gait", bytes, size);
    free(bytes);
    expect("100/100.1.index.gait", FILE_DAMAGED, "the counts of chunk 0 are not those of its records");
}

static const struct check_case cases[] = {
    CHECK_CASE(counts_that_are_not_those_of_records_are_noticed),
    CHECK_CASE(a_good_trace_is_good),
    CHECK_CASE(what_is_wrong_is_found),
    CHECK_CASE(names_are_checked_as_a_whole),
    CHECK_CASE(debug_information_is_what_it_is_called),
    CHECK_CASE(events_need_their_blocks),
    CHECK_CASE(events_need_the_blocks_of_their_program),
    CHECK_CASE(pieces_have_to_follow_each_other),
};

CHECK_MAIN(cases)
