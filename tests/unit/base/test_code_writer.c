/* SPDX-License-Identifier: MIT */
#include "base/code_writer.h"

#include "base/assert.h"
#include "support/check.h"

static int assertions;

static void count_assertion(const char *text, const char *file, int line)
{
    (void)text;
    (void)file;
    (void)line;
    assertions++;
}

static void bytes_are_written_little_endian_at_their_addresses(void)
{
    uint8_t buffer[16];
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(0x1000));
    code_writer_put_u8(&writer, 0x11);
    code_writer_put_u16(&writer, 0x3322);
    code_writer_put_u32(&writer, 0x77665544);
    CHECK_EQUAL(code_writer_pc(&writer).value, 0x1007);
    code_writer_put_u64(&writer, 0xffeeddccbbaa9988);
    CHECK(memcmp(buffer, "\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 15) == 0);
    CHECK_EQUAL(code_writer_offset(&writer), 15);
    CHECK_EQUAL(code_writer_room(&writer), 1);
    CHECK(!code_writer_overflowed(&writer));
}

static void overflow_is_sticky_and_writes_nothing(void)
{
    uint8_t buffer[8] = {0};
    struct code_writer writer;

    code_writer_init(&writer, buffer, 4, cache_pc_of(0));
    code_writer_put_u8(&writer, 1);
    code_writer_put_u32(&writer, 0xffffffff);
    CHECK(code_writer_overflowed(&writer));
    code_writer_put_u8(&writer, 2);
    CHECK_EQUAL(code_writer_offset(&writer), 1);
    CHECK_EQUAL(code_writer_room(&writer), 0);
    CHECK(memcmp(buffer, "\1\0\0\0\0\0\0\0", 8) == 0);
}

static void amending_stays_inside_of_what_was_written(void)
{
    uint8_t buffer[16] = {0};
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(0));
    code_writer_put_u64(&writer, 0);
    code_writer_amend_u32(&writer, 4, 0x01020304);
    code_writer_amend_u8(&writer, 0, 9);
    CHECK(memcmp(buffer, "\x09\0\0\0\4\3\2\1", 8) == 0);

    assertions = 0;
    assert_handler_set(count_assertion);
    code_writer_amend_u32(&writer, 5, 0xffffffff);
    assert_handler_set(NULL);
#ifndef NDEBUG
    CHECK_EQUAL(assertions, 1);
#endif
    CHECK(code_writer_overflowed(&writer));
    CHECK_EQUAL(buffer[8], 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(bytes_are_written_little_endian_at_their_addresses),
    CHECK_CASE(overflow_is_sticky_and_writes_nothing),
    CHECK_CASE(amending_stays_inside_of_what_was_written),
};

CHECK_MAIN(cases)
