/* SPDX-License-Identifier: MIT */
#include "trace/detail_text.h"

#include "support/check.h"

static void large_numbers_are_pointers(void)
{
    const uint64_t small = 4294967295u, large = 4294967296u;
    const int64_t negative = -1;
    char bytes[DETAIL_TEXT_BYTES];
    uint8_t room[128];
    struct detail_value_writer writer;
    struct detail_text text;

    detail_value_writer_init(&writer, room, sizeof(room), 4);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_U64, 0, 8}, &small);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_U64, 0, 8}, &large);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_I64, 0, 8}, &negative);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_U64, DETAIL_VALUE_UNREADABLE, 0}, &negative);
    detail_text_init(&text, bytes, sizeof(bytes));
    probe_text_put_arguments(&text, (struct detail_values){room, writer.used});
    CHECK_TEXT(bytes, "4294967295, 0x100000000, -1, ?");
}

static void no_arguments_are_no_text(void)
{
    char bytes[16] = "x";
    struct detail_text text;

    detail_text_init(&text, bytes, sizeof(bytes));
    probe_text_put_arguments(&text, (struct detail_values){NULL, 0});
    CHECK_TEXT(bytes, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(large_numbers_are_pointers),
    CHECK_CASE(no_arguments_are_no_text),
};

CHECK_MAIN(cases)
