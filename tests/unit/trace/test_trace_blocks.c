/* SPDX-License-Identifier: MIT */
#include "trace/trace_blocks.h"

#include "ring/ring_layout.h"
#include "support/check.h"
#include "support/trace_folder.h"

#include <errno.h>
#include <unistd.h>

static struct trace_folder folder;

static void put(const struct trace_bytes *bytes, size_t piece_bytes, uint32_t kind)
{
    unlinkat(folder.fd, "blocks.gait", 0);
    trace_folder_put_stream(
        &folder, &(struct trace_stream_plan){
                     .name = "blocks.gait", .header = {.kind = kind}, .bytes = bytes, .piece_bytes = piece_bytes});
}

static void blocks_are_found_by_space_and_number(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_blocks blocks;
    struct trace_block_space space = {&blocks, 1}, other = {&blocks, 2};
    struct event_block block;

    for (uint32_t i = 0; i < 100; i++)
        trace_bytes_put_block(&bytes, i, 0x1000 * i, 0x55);
    put(&bytes, 480, TRACE_STREAM_BLOCKS);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder.fd, "blocks.gait", NULL), 0);
    CHECK_EQUAL(blocks.end.state, STREAM_COMPLETE);
    CHECK_EQUAL(blocks.count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK(trace_blocks_of(&space).find(&space, i, &block));
        CHECK_EQUAL(block.start, 0x1000 * i);
        CHECK_EQUAL(block.size_bytes, 8);
        CHECK_EQUAL(block.insn_count, 3);
        CHECK_EQUAL(block.insn_lengths[2], 5);
        CHECK_EQUAL(block.call_target, 0x55);
    }
    CHECK(!trace_blocks_of(&space).find(&space, 100, &block));
    CHECK(!trace_blocks_of(&other).find(&other, 1, &block));
    trace_blocks_deinit(&blocks);
}

static void what_is_before_a_cut_is_there(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_blocks blocks;
    size_t size;
    uint8_t *file;

    trace_bytes_put_block(&bytes, 0, 0x1000, 0);
    trace_bytes_put_block(&bytes, 1, 0x2000, 0);
    put(&bytes, 48, TRACE_STREAM_BLOCKS);
    file = trace_folder_read(&folder, "blocks.gait", &size);
    trace_folder_write(&folder, "blocks.gait", file, 64 + 56 + 48 + 30);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder.fd, "blocks.gait", NULL), 0);
    CHECK_EQUAL(blocks.end.state, STREAM_CUT_OFF);
    CHECK_EQUAL(blocks.count, 1);
    trace_blocks_deinit(&blocks);
    free(file);
}

static void refuse(const struct trace_bytes *bytes, uint32_t kind, const char *part)
{
    struct trace_blocks blocks;
    struct gait_error err = {0};

    put(bytes, 0, kind);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder.fd, "blocks.gait", &err), -EPROTO);
    if (strstr(err.text, part) == NULL)
        CHECK_TEXT(err.text, part);
}

/* Sums that are right do not make blocks that are. */
static void impossible_blocks_are_refused(void)
{
    static const struct {
        size_t offset;
        uint32_t value;
    } changes[] = {
        {offsetof(struct ring_block, size_bytes), 0},
        {offsetof(struct ring_block, size_bytes), 39},
        {offsetof(struct ring_block, size_bytes), 41},
        {offsetof(struct ring_block, size_bytes), 56},
        {offsetof(struct ring_block, size_bytes), UINT32_MAX - 7},
        {offsetof(struct ring_block, lengths_count), 9},
        {offsetof(struct ring_block, lengths_count), UINT32_MAX},
        {offsetof(struct ring_block, last_insn_bytes), 9},
        {offsetof(struct ring_block, number), UINT32_MAX},
    };
    struct trace_bytes good = {.size_bytes = 0}, bad;

    trace_bytes_put_block(&good, 0, 0x1000, 0);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        bad = good;
        memcpy(bad.bytes + changes[i].offset, &changes[i].value, sizeof(changes[i].value));
        refuse(&bad, TRACE_STREAM_BLOCKS, "byte 0 of chunk 0 begins no block");
    }
    bad = good;
    bad.size_bytes--;
    refuse(&bad, TRACE_STREAM_BLOCKS, "begins no block");
    trace_bytes_put_block(&good, 0, 0x2000, 0);
    refuse(&good, TRACE_STREAM_BLOCKS, "comes twice");
    refuse(&good, TRACE_STREAM_MODULES, "not one of blocks");
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_are_found_by_space_and_number),
    CHECK_CASE(what_is_before_a_cut_is_there),
    CHECK_CASE(impossible_blocks_are_refused),
};

int main(void)
{
    int result;

    trace_folder_init(&folder);
    result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    trace_folder_deinit(&folder);
    return result;
}
