/* SPDX-License-Identifier: MIT */
#include "syscalls/program_memories.h"

#include "ring/detail_value.h"
#include "support/check.h"
#include "support/random.h"

static uint8_t bytes[256];
static struct detail_value_writer writer;
static struct recorded_memory memory;

static void put_piece(uint64_t address, uint8_t type, uint8_t flags, const char *data)
{
    const struct detail_value pointer = {.type = DETAIL_TYPE_POINTER, .data_bytes = sizeof(address)};
    const struct detail_value value = {.type = type, .flags = flags, .data_bytes = (uint16_t)strlen(data)};

    detail_value_put(&writer, pointer, &address);
    detail_value_put(&writer, value, data);
}

static size_t look(uint64_t address, char *out, size_t size_bytes)
{
    memset(out, '#', size_bytes);
    return memory.memory.read(memory.memory.context, address, out, size_bytes);
}

static void begin(void)
{
    memset(bytes, 0, sizeof(bytes));
    detail_value_writer_init(&writer, bytes, sizeof(bytes), 0);
}

static void end(void)
{
    recorded_memory_init(&memory, (struct detail_values){bytes, writer.used});
}

static void pieces_are_found_by_address(void)
{
    char out[16];

    begin();
    put_piece(0x1000, DETAIL_TYPE_STRING, 0, "path");
    put_piece(0x2000, DETAIL_TYPE_BUFFER, DETAIL_VALUE_CLIPPED, "abcdef");
    put_piece(0x3000, DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "long");
    put_piece(0x4000, DETAIL_TYPE_BUFFER, DETAIL_VALUE_UNREADABLE, "");
    end();
    /* A string that ended has its NUL. */
    CHECK_EQUAL(look(0x1000, out, sizeof(out)), 5);
    CHECK_TEXT(out, "path");
    CHECK_EQUAL(look(0x1002, out, 2), 2);
    CHECK_EQUAL(memcmp(out, "th", 2), 0);
    CHECK_EQUAL(look(0x1004, out, 8), 1);
    CHECK_EQUAL(look(0x1005, out, 8), 0);
    CHECK_EQUAL(look(0x2003, out, 8), 3);
    CHECK_EQUAL(memcmp(out, "def#", 4), 0);
    CHECK_EQUAL(look(0x3000, out, 8), 4);
    CHECK_EQUAL(look(0x4000, out, 8), 0);
    CHECK_EQUAL(look(0xfff, out, 8), 0);
    CHECK_EQUAL(look(UINT64_MAX, out, 8), 0);
}

static void the_piece_that_has_most_counts(void)
{
    char out[8];

    begin();
    put_piece(0x1000, DETAIL_TYPE_BUFFER, 0, "ab");
    put_piece(0x1000, DETAIL_TYPE_BUFFER, 0, "abcd");
    end();
    CHECK_EQUAL(look(0x1000, out, 4), 4);
    CHECK_EQUAL(memcmp(out, "abcd", 4), 0);
}

/* Whatever stands there, nothing else is looked at. */
static void anything_may_stand_there(void)
{
    struct random random;
    char out[64];

    random_init(&random, 3);
    for (unsigned round = 0; round < 20000; round++) {
        begin();
        put_piece(0x1000, DETAIL_TYPE_STRING, 0, "path");
        put_piece(0x2000, DETAIL_TYPE_BUFFER, 0, "abcdef");
        for (unsigned i = 0; i < 4; i++)
            bytes[random_below(&random, writer.used)] = (uint8_t)random_below(&random, 256);
        recorded_memory_init(&memory, (struct detail_values){bytes, (uint32_t)random_below(&random, writer.used + 1)});
        CHECK(look(0x1000 + random_below(&random, 0x1010), out, sizeof(out)) <= sizeof(out));
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(pieces_are_found_by_address),
    CHECK_CASE(the_piece_that_has_most_counts),
    CHECK_CASE(anything_may_stand_there),
};

CHECK_MAIN(cases)
