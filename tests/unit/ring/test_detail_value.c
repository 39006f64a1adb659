/* SPDX-License-Identifier: MIT */
#include "ring/detail_value.h"

#include "support/check.h"
#include "support/random.h"

static uint8_t bytes[600];

static void put(struct detail_value_writer *writer, enum detail_type type, uint8_t flags, const char *data)
{
    const struct detail_value value = {
        .type = (uint8_t)type, .flags = flags, .data_bytes = (uint16_t)(data == NULL ? 0 : strlen(data))};

    detail_value_put(writer, value, data);
}

static void what_is_put_is_found(void)
{
    struct detail_value_writer writer;
    struct detail_value value;
    const uint8_t *data;
    size_t at = 0;

    detail_value_writer_init(&writer, bytes, sizeof(bytes), 3);
    put(&writer, DETAIL_TYPE_STRING, DETAIL_VALUE_CLIPPED, "hello");
    put(&writer, DETAIL_TYPE_SKIPPED, 0, "");
    put(&writer, DETAIL_TYPE_I32, 0, "1234");
    CHECK_EQUAL(writer.used, 9 + 4 + 8);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data));
    CHECK_EQUAL(value.type, DETAIL_TYPE_STRING);
    CHECK_EQUAL(value.flags, DETAIL_VALUE_CLIPPED);
    CHECK(value.data_bytes == 5 && memcmp(data, "hello", 5) == 0);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data));
    CHECK_EQUAL(value.type, DETAIL_TYPE_SKIPPED);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data));
    CHECK(value.type == DETAIL_TYPE_I32 && memcmp(data, "1234", 4) == 0);
    CHECK(!detail_value_next(bytes, writer.used, &at, &value, &data));
}

/* However long the first ones are, the others can say that there is no room for them. */
static void there_is_always_room_to_say_that_there_is_none(void)
{
    struct detail_value_writer writer;
    struct detail_value value;
    const uint8_t *data;
    size_t at = 0;

    memset(bytes, 0xee, sizeof(bytes));
    detail_value_writer_init(&writer, bytes, 24, 4);
    CHECK_EQUAL(detail_value_room(&writer), 8);
    put(&writer, DETAIL_TYPE_STRING, 0, "123456789");
    put(&writer, DETAIL_TYPE_STRING, 0, "12345678");
    CHECK_EQUAL(detail_value_room(&writer), 0);
    put(&writer, DETAIL_TYPE_I64, 0, "12345678");
    put(&writer, DETAIL_TYPE_STRING, 0, "");
    /* More than was said: there is no room at all. */
    put(&writer, DETAIL_TYPE_STRING, 0, "");
    CHECK_EQUAL(writer.used, 24);
    CHECK_EQUAL(bytes[24], 0xee);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data) && value.flags == DETAIL_VALUE_LEFT_OUT);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data) && value.data_bytes == 8);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data) && value.flags == DETAIL_VALUE_LEFT_OUT);
    CHECK(detail_value_next(bytes, writer.used, &at, &value, &data) && value.flags == 0);
    CHECK(!detail_value_next(bytes, writer.used, &at, &value, &data));
}

static void check_none(struct detail_value wrong, size_t size_bytes)
{
    struct detail_value value;
    const uint8_t *data;
    size_t at = 0;

    memcpy(bytes, &wrong, sizeof(wrong));
    CHECK(!detail_value_next(bytes, size_bytes, &at, &value, &data));
    CHECK_EQUAL(at, 0);
}

static void what_cannot_be_is_no_value(void)
{
    check_none((struct detail_value){.type = DETAIL_TYPES}, 100);
    check_none((struct detail_value){.type = DETAIL_TYPE_STRING, .data_bytes = 97}, 100);
    check_none((struct detail_value){.type = DETAIL_TYPE_I32, .data_bytes = 8}, 100);
    check_none((struct detail_value){.type = DETAIL_TYPE_I32}, 3);
}

static void anything_may_stand_there(void)
{
    struct random random;

    random_init(&random, 1);
    for (unsigned round = 0; round < 50000; round++) {
        size_t size_bytes = random_below(&random, sizeof(bytes)), at = 0;
        struct detail_value value;
        const uint8_t *data;

        random_fill(&random, bytes, size_bytes);
        for (size_t i = 0; i + 4 <= size_bytes; i += 1 + random_below(&random, 40))
            memcpy(bytes + i, (const uint8_t[]){(uint8_t)random_below(&random, DETAIL_TYPES + 1), 0, 8, 0}, 4);
        while (detail_value_next(bytes, size_bytes, &at, &value, &data))
            CHECK(at <= size_bytes && data + value.data_bytes == bytes + at);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_put_is_found),
    CHECK_CASE(there_is_always_room_to_say_that_there_is_none),
    CHECK_CASE(what_cannot_be_is_no_value),
    CHECK_CASE(anything_may_stand_there),
};

CHECK_MAIN(cases)
