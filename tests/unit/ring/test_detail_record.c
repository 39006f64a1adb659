/* SPDX-License-Identifier: MIT */
#include "ring/detail_record.h"

#include "support/check.h"
#include "support/random.h"

static _Alignas(8) uint8_t bytes[4096];

static size_t put_enter(size_t at, uint32_t stack_bytes)
{
    struct detail_enter enter = {.record = {.kind = DETAIL_ENTER}, .stack_bytes = stack_bytes};

    enter.record.size_bytes = (uint32_t)(sizeof(enter) + ((stack_bytes + 7) & ~7u));
    memcpy(bytes + at, &enter, sizeof(enter));
    return at + enter.record.size_bytes;
}

static size_t put_leave(size_t at, uint16_t kind)
{
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = kind}};

    memcpy(bytes + at, &leave, sizeof(leave));
    return at + sizeof(leave);
}

static void records_end_at_the_first_that_is_not_written(void)
{
    size_t used;

    memset(bytes, 0, sizeof(bytes));
    CHECK(detail_records_end(bytes, bytes + sizeof(bytes)) == bytes);
    used = put_leave(put_leave(put_enter(put_enter(0, 512), 13), DETAIL_LEAVE), DETAIL_LEFT);
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), sizeof(struct detail_enter) + 512);
    CHECK(detail_records_end(bytes, bytes + sizeof(bytes)) == bytes + used);
    CHECK(detail_records_end(bytes, bytes + used) == bytes + used);
    CHECK_EQUAL(detail_records_count(bytes, used), detail_records_count(bytes, sizeof(bytes)));
    CHECK_EQUAL(detail_records_count(bytes, used - 8), detail_records_count(bytes, used) - 1);
    CHECK_EQUAL(detail_records_count(bytes, 8), 0);
    /* The last one is not all there. */
    CHECK(detail_records_end(bytes, bytes + used - 8) == bytes + used - sizeof(struct detail_leave));
}

static void what_cannot_be_is_no_record(void)
{
    struct detail_enter *enter = (struct detail_enter *)(void *)bytes;

    memset(bytes, 0, sizeof(bytes));
    put_enter(0, 16);
    enter->stack_bytes = 17;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->stack_bytes = 16;
    CHECK(detail_record_check(bytes, sizeof(bytes)) != 0);
    enter->record.kind = 0;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.kind = DETAIL_LEAVE;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.kind = DETAIL_ENTER;
    enter->record.size_bytes = sizeof(*enter) - 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.size_bytes = DETAIL_RECORD_BYTES_MAX + 8;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
    enter->record.size_bytes = sizeof(*enter) + 20;
    CHECK_EQUAL(detail_record_check(bytes, sizeof(bytes)), 0);
}

/* Whatever stands there, nothing behind the end is looked at. */
static void anything_may_stand_there(void)
{
    struct random random;

    random_init(&random, 1);
    for (unsigned round = 0; round < 20000; round++) {
        size_t size = random_below(&random, 256) * 8;
        const uint8_t *end;

        for (size_t at = 0; at < size;)
            at = random_chance(&random, 1, 2) ? put_leave(at, DETAIL_LEAVE)
                                              : put_enter(at, (uint32_t)random_below(&random, 512));
        for (unsigned i = 0; i < 4 && size > 0; i++) {
            uint32_t word = (uint32_t)random_edge(&random);

            memcpy(bytes + random_below(&random, size / 4) * 4, &word, sizeof(word));
        }
        end = detail_records_end(bytes, bytes + size);
        CHECK(end >= bytes && end <= bytes + size);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(records_end_at_the_first_that_is_not_written),
    CHECK_CASE(what_cannot_be_is_no_record),
    CHECK_CASE(anything_may_stand_there),
};

CHECK_MAIN(cases)
