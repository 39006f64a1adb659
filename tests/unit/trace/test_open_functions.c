/* SPDX-License-Identifier: MIT */
#include "trace/open_functions.h"

#include "support/check.h"
#include "support/hooked_calls.h"
#include "support/long_calls.h"

#include <errno.h>
#include <stdlib.h>

#define NAME "100/100.1.index.gait"

static struct trace_folder folder;
static struct trace_blocks blocks;
static struct open_functions open;

static void begin(uint64_t lost)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    long_calls_put(&folder, 100, lost);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder.fd, "100/blocks.gait", NULL), 0);
}

static void end(void)
{
    open_functions_deinit(&open);
    trace_blocks_deinit(&blocks);
    trace_folder_deinit(&folder);
}

static int find(uint64_t before)
{
    open_functions_deinit(&open);
    return open_functions_find(&open, folder.fd, trace_piece_at(NAME), 1, &blocks, before);
}

static void check_open(size_t which, uint64_t location, uint64_t time, uint32_t depth)
{
    CHECK(which < open.count);
    CHECK_EQUAL(open.functions[which].location, location);
    CHECK_EQUAL(open.functions[which].time, time);
    CHECK_EQUAL(open.functions[which].depth, depth);
}

static void those_that_were_entered_long_ago_are_found(void)
{
    begin(0);
    CHECK_EQUAL(find(LONG_CALLS_TIME(0)), 0);
    CHECK_EQUAL(open.count, 0);
    CHECK_EQUAL(find(LONG_CALLS_TIME(2)), 0);
    CHECK_EQUAL(open.count, 2);
    check_open(0, 0x401000, 1000, 0);
    check_open(1, 0x401100, 1016, 1);
    /* In the middle of a chunk is where it begins. */
    CHECK_EQUAL(find(LONG_CALLS_TIME(4) - 1), 0);
    CHECK_EQUAL(open.count, 2);
    check_open(0, 0x401000, 1000, 0);
    check_open(1, 0x401100, LONG_CALLS_TIME(2) + 16, 1);
    CHECK_EQUAL(find(UINT64_MAX), 0);
    CHECK_EQUAL(open.count, 2);
    end();
}

/* What is damaged is never looked at: nothing in that chunk is as low as what is open. */
static void chunks_in_which_nothing_lower_happens_are_not_read(void)
{
    struct trace_chunk chunk;
    size_t size, at = sizeof(struct trace_stream_header);
    uint8_t *bytes;

    begin(0);
    bytes = trace_folder_read(&folder, NAME, &size);
    memcpy(&chunk, bytes + at, sizeof(chunk));
    CHECK(chunk.flags & TRACE_CHUNK_COUNTS);
    at += sizeof(chunk) + trace_padded(chunk.stored_bytes);
    memcpy(&chunk, bytes + at, sizeof(chunk));
    CHECK(chunk.flags & TRACE_CHUNK_COUNTS);
    bytes[at + sizeof(chunk) + chunk.stored_bytes - 1] ^= 0x55;
    trace_folder_write(&folder, NAME, bytes, size);
    CHECK_EQUAL(find(LONG_CALLS_TIME(3)), 0);
    CHECK_EQUAL(open.count, 2);
    check_open(0, 0x401000, 1000, 0);
    /* The first chunk has to be read. */
    bytes[sizeof(struct trace_stream_header) + sizeof(chunk) + 200] ^= 0x55;
    trace_folder_write(&folder, NAME, bytes, size);
    CHECK_EQUAL(find(LONG_CALLS_TIME(3)), -ENOTSUP);
    free(bytes);
    end();
}

static void nothing_is_known_to_be_open_behind_losses(void)
{
    begin(48);
    CHECK_EQUAL(find(LONG_CALLS_TIME(1)), 0);
    CHECK_EQUAL(open.count, 0);
    CHECK_EQUAL(find(UINT64_MAX), 0);
    CHECK_EQUAL(open.count, 0);
    end();
}

static void it_goes_without_counts(void)
{
    begin(0);
    hooked_calls_put(&folder, 100, "<0@1000 <1@1010 >1@1015 <2@1020");
    CHECK_EQUAL(find(UINT64_MAX), 0);
    CHECK_EQUAL(open.count, 2);
    check_open(0, 0x401000, 1000, 0);
    check_open(1, 0x401200, 1020, 1);
    hooked_calls_put(&folder, 100, "<0@1000 <1@1010 >1@1015 >0@1020");
    CHECK_EQUAL(find(UINT64_MAX), 0);
    CHECK_EQUAL(open.count, 0);
    end();
}

static void other_records_say_nothing(void)
{
    begin(0);
    CHECK_EQUAL(open_functions_find(&open, folder.fd, trace_piece_at("100/101.1.index.gait"), 1, &blocks, UINT64_MAX),
                -ENOTSUP);
    CHECK_EQUAL(open_functions_find(&open, folder.fd, trace_piece_at("100/nothing"), 1, &blocks, UINT64_MAX), -ENOTSUP);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(those_that_were_entered_long_ago_are_found),
    CHECK_CASE(chunks_in_which_nothing_lower_happens_are_not_read),
    CHECK_CASE(nothing_is_known_to_be_open_behind_losses),
    CHECK_CASE(it_goes_without_counts),
    CHECK_CASE(other_records_say_nothing),
};

CHECK_MAIN(cases)
