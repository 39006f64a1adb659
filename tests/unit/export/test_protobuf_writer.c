/* SPDX-License-Identifier: MIT */
#include "export/protobuf_writer.h"

#include "support/check.h"

static struct protobuf_writer writer;

static void check_bytes(const char *expected)
{
    char text[256] = "";

    for (size_t i = 0; i < writer.used && 3 * i + 4 < sizeof(text); i++)
        sprintf(text + 3 * i, "%02x ", writer.bytes[i]);
    CHECK_TEXT(text, expected);
    protobuf_writer_deinit(&writer);
}

static void numbers_are_varints_behind_their_key(void)
{
    protobuf_put_number(&writer, 1, 150);
    protobuf_put_number(&writer, 16, 0);
    protobuf_put_number(&writer, 2, UINT64_MAX);
    check_bytes("08 96 01 80 01 00 10 ff ff ff ff ff ff ff ff ff 01 ");
}

static void texts_have_their_length(void)
{
    protobuf_put_text(&writer, 2, "testing");
    protobuf_put_text(&writer, 2, "");
    check_bytes("12 07 74 65 73 74 69 6e 67 12 00 ");
}

static void messages_are_inside_of_others(void)
{
    size_t outer = protobuf_begin_message(&writer, 3), inner = protobuf_begin_message(&writer, 4);

    protobuf_put_number(&writer, 1, 1);
    protobuf_end_message(&writer, inner);
    protobuf_put_number(&writer, 5, 2);
    protobuf_end_message(&writer, outer);
    check_bytes("1a 06 22 02 08 01 28 02 ");
}

static void packed_numbers_have_one_key(void)
{
    size_t begun = protobuf_begin_message(&writer, 4);

    protobuf_put_packed(&writer, 3);
    protobuf_put_packed(&writer, 270);
    protobuf_put_packed(&writer, 86942);
    protobuf_end_message(&writer, begun);
    check_bytes("22 06 03 8e 02 9e a7 05 ");
}

/* The length of what is longer than 127 bytes takes two bytes or more: what is behind it moves. */
static void long_messages_make_room_for_their_length(void)
{
    static char text[70000];
    size_t outer, inner;

    memset(text, 'x', sizeof(text) - 1);
    text[0] = 'a';
    text[sizeof(text) - 2] = 'z';
    outer = protobuf_begin_message(&writer, 1);
    inner = protobuf_begin_message(&writer, 1);
    protobuf_put_text(&writer, 1, text);
    protobuf_end_message(&writer, inner);
    protobuf_end_message(&writer, outer);
    CHECK_EQUAL(writer.used, 69999 + 3 * 4);
    CHECK(memcmp(writer.bytes,
                 "\x0a\xf7\xa2\x04\x0a\xf3\xa2\x04\x0a\xef\xa2\x04"
                 "ax",
                 14) == 0);
    CHECK_EQUAL(writer.bytes[writer.used - 1], 'z');
    protobuf_writer_deinit(&writer);
}

static void what_was_written_begins_anew(void)
{
    char bytes[16];
    FILE *stream = fmemopen(bytes, sizeof(bytes), "w");

    protobuf_put_number(&writer, 1, 5);
    CHECK_EQUAL(protobuf_writer_flush(&writer, stream), 0);
    protobuf_put_number(&writer, 1, 6);
    CHECK_EQUAL(protobuf_writer_flush(&writer, stream), 0);
    CHECK_EQUAL(protobuf_writer_flush(&writer, stream), 0);
    CHECK_EQUAL(ftell(stream), 4);
    fclose(stream);
    CHECK(memcmp(bytes, "\x08\x05\x08\x06", 4) == 0);
    protobuf_writer_deinit(&writer);
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_are_varints_behind_their_key),

    CHECK_CASE(texts_have_their_length),
    CHECK_CASE(messages_are_inside_of_others),
    CHECK_CASE(packed_numbers_have_one_key),
    CHECK_CASE(long_messages_make_room_for_their_length),
    CHECK_CASE(what_was_written_begins_anew),
};

CHECK_MAIN(cases)
