/* SPDX-License-Identifier: MIT */
#include "trace/record_packing.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <stdlib.h>

#define RECORDS_BYTES_MAX 300000

static struct record_predictor *predictor;
static uint8_t records[RECORDS_BYTES_MAX + 64];
static uint8_t packed[2 * sizeof(records)];
static uint8_t back[sizeof(records)];

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct event_format formats[] = {
    {.is_wide = false},
    {.is_wide = true},
    {.is_wide = true, .with_times = true},
    {.is_wide = true, .with_times = true, .is_hooked = true},
};

/* Records that are put one behind the other. */
struct tape {
    struct event_format format;
    size_t size_bytes;
    uint64_t record_count;
    uint64_t time;
};

static void put(struct tape *tape, uint32_t header, uint64_t sp, uint64_t target)
{
    enum event_record kind = event_header_record(header);
    uint8_t *place = records + tape->size_bytes;
    uint64_t wide = header;

    if (tape->format.is_hooked)
        wide |= sp << 32;
    memcpy(place, &wide, tape->format.is_wide ? 8 : 4);
    if (event_record_has_sp(kind))
        memcpy(place + EVENT_SP_OFFSET, &sp, 8);
    if (event_record_has_target(kind))
        memcpy(place + event_target_offset(kind), &target, 8);
    if (event_record_has_time(tape->format, kind))
        memcpy(place + event_time_offset(tape->format, kind), &tape->time, 8);
    tape->size_bytes += event_record_bytes(tape->format, kind);
    tape->record_count++;
}

/* Of a hooked function: the depth takes the place of the sp. */
static void put_hooked(struct tape *tape, uint32_t number, enum event_record kind, uint32_t depth)
{
    put(tape, event_header(number, kind), depth, 0);
}

static int pack(const struct tape *tape, size_t *packed_bytes_out)
{
    struct packing_source source = {records, tape->size_bytes};

    return record_packing_do(predictor, tape->format, source, packed, packed_bytes_out);
}

static int unpack(const struct tape *tape, size_t packed_bytes)
{
    memset(back, 0xa5, tape->size_bytes);
    return record_packing_undo(predictor, tape->format, (struct packing_source){packed, packed_bytes}, back,
                               tape->size_bytes);
}

static size_t check_both_ways(const struct tape *tape)
{
    size_t packed_bytes;

    CHECK_EQUAL(pack(tape, &packed_bytes), 0);
    CHECK_EQUAL(record_packing_count(predictor), tape->record_count);
    CHECK(packed_bytes < tape->size_bytes);
    CHECK_EQUAL(unpack(tape, packed_bytes), 0);
    CHECK(memcmp(records, back, tape->size_bytes) == 0);
    return packed_bytes;
}

/* A function that calls another one through a pointer, which calls a third one; and some blocks. Or two hooked ones. */
static void put_round(struct tape *tape, uint64_t sp)
{
    tape->time += 100;
    if (tape->format.is_hooked) {
        put_hooked(tape, 70000, EVENT_RECORD_ENTER, (uint32_t)sp);
        put_hooked(tape, 3, EVENT_RECORD_ENTER, (uint32_t)sp + 1);
        put_hooked(tape, 3, EVENT_RECORD_UNWOUND, (uint32_t)sp + 1);
        put_hooked(tape, 70000, EVENT_RECORD_LEAVE, (uint32_t)sp);
        return;
    }
    put(tape, event_header(1, EVENT_RECORD_BLOCK), 0, 0);
    if (!tape->format.is_wide)
        return;
    put(tape, event_header(70000, EVENT_RECORD_CALL), sp, 0);
    put(tape, event_header(3, EVENT_RECORD_CALL_TARGET), sp - 48, 0x7f0012345678);
    put(tape, event_header(4, EVENT_RECORD_RETURN), 0, 0x401000);
    put(tape, event_header(5, EVENT_RECORD_RETURN_LATE), 0, 0x402000);
}

static void what_repeats_takes_next_to_nothing(void)
{
    for (size_t i = 0; i < FORMATS; i++) {
        struct tape tape = {.format = formats[i]};

        while (tape.size_bytes < 100000)
            put_round(&tape, 0x7ffe00001000);
        /* A time takes 2 bytes of at least 16, of which those of hooked functions have no more. */
        CHECK(check_both_ways(&tape) < (formats[i].is_hooked ? 12700 : formats[i].with_times ? 12500 : 100));
    }
}

/* The format is a specification: this is what it says, byte by byte. */
static void the_packed_bytes_are_as_specified(void)
{
    static const uint8_t begin[] = {
        0x02, 0x22, 0x00, 0x00,                         /* block 1: the header is told */
        0x06, 0x44, 0x00, 0x00, 0x80, 0x40,             /* block 2 calls: and the sp, 0x1000 above 0 */
        0x0a, 0x88, 0x00, 0x00, 0x82, 0xc0, 0x80, 0x04, /* block 4 returns: and the target, 0x401001 above 0 */
    };
    /* As long as there is something else among the headers before it, block 1 is no guess. */
    static const uint8_t again[] = {0x02, 0x22, 0x00, 0x00};
    static const uint8_t end[] = {0xf3, 0x11}; /* 15 + 17 that were guessed, and the end */
    struct tape tape = {.format = {.is_wide = true}};
    size_t at = sizeof(begin), packed_bytes;

    put(&tape, event_header(1, EVENT_RECORD_BLOCK), 0, 0);
    put(&tape, event_header(2, EVENT_RECORD_CALL), 0x1000, 0);
    put(&tape, event_header(4, EVENT_RECORD_RETURN), 0, 0x401001);
    for (int i = 0; i < 40; i++)
        put(&tape, event_header(1, EVENT_RECORD_BLOCK), 0, 0);
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    CHECK_EQUAL(packed_bytes, sizeof(begin) + 8 * sizeof(again) + sizeof(end));
    CHECK(memcmp(packed, begin, sizeof(begin)) == 0);
    for (int i = 0; i < 8; i++, at += sizeof(again))
        CHECK(memcmp(packed + at, again, sizeof(again)) == 0);
    CHECK(memcmp(packed + at, end, sizeof(end)) == 0);
}

/* Leaves of the function entered last are alike, whatever it is; the depth is told once. */
static void hooked_functions_are_packed_as_specified(void)
{
    static const uint8_t expected[] = {
        0x06, 0x50, 0x04, 0x00, 0x0e, /* enters 34 (0x22) at depth 7: the header and the depth, 7 above 0 */
        0x02, 0x12, 0x00, 0x00,       /* leave of it: header 9, for the number is as guessed */
        0x02, 0x70, 0x04, 0x00,       /* enters 35 */
        0x02, 0x90, 0x04, 0x00,       /* enters 36 */
        0x02, 0x14, 0x00, 0x00,       /* unwinds it: header 10 */
        0x06, 0x34, 0x00, 0x00, 0x01, /* unwinds 34, as it seems, 1 above 35, at a depth of 6 where 7 is guessed */
        0x03,                         /* the end */
    };
    struct tape tape = {.format = formats[3]};
    size_t packed_bytes;
    uint32_t operation_bytes;

    put_hooked(&tape, 34, EVENT_RECORD_ENTER, 7);
    put_hooked(&tape, 34, EVENT_RECORD_LEAVE, 7);
    put_hooked(&tape, 35, EVENT_RECORD_ENTER, 7);
    put_hooked(&tape, 36, EVENT_RECORD_ENTER, 8);
    put_hooked(&tape, 36, EVENT_RECORD_UNWOUND, 8);
    put_hooked(&tape, 34, EVENT_RECORD_UNWOUND, 6);
    CHECK_EQUAL(check_both_ways(&tape), 4 + sizeof(expected) + 6 * 2);
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    memcpy(&operation_bytes, packed, sizeof(operation_bytes));
    CHECK_EQUAL(operation_bytes, sizeof(expected));
    CHECK(memcmp(packed + 4, expected, sizeof(expected)) == 0);
}

/* Times are behind the operations: 2 bytes each, or 10. */
static void times_are_told_apart(void)
{
    struct tape tape = {.format = formats[2], .time = 0x123456789abcdef};
    size_t packed_bytes;
    uint32_t operation_bytes;
    uint8_t expected[12] = {0xff, 0xff, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, 0x34, 0x12};

    put(&tape, event_header(1, EVENT_RECORD_BLOCK), 0, 0);
    tape.time += 0x1234;
    for (int i = 0; i < 20; i++)
        put(&tape, event_header(1, EVENT_RECORD_BLOCK), 0, 0);
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    memcpy(&operation_bytes, packed, sizeof(operation_bytes));
    CHECK_EQUAL(packed_bytes, 4 + operation_bytes + 10 + 20 * 2);
    CHECK(memcmp(packed + 4 + operation_bytes, expected, sizeof(expected)) == 0);
}

/* Deeper than frames are kept, left by returns and by jumps, with calls through pointers and what the engine notes. */
static void put_random(struct tape *tape, struct random *random)
{
    uint64_t sp = 0x7fff00000000;

    while (tape->size_bytes < 1000 + random_below(random, RECORDS_BYTES_MAX - 1000)) {
        uint32_t number = (uint32_t)(random_chance(random, 1, 50) ? random_below(random, EVENT_NUMBER_MAX + 1u)
                                                                  : random_below(random, 40));
        uint32_t kind = EVENT_RECORD_BLOCK + (uint32_t)random_below(random, EVENT_RECORD_CUT);
        uint64_t target = random_chance(random, 1, 20) ? random_edge(random) : 0x400000 + number * 16;

        if (event_record_bytes(tape->format, kind) == 0)
            kind = EVENT_RECORD_BLOCK;
        if (random_chance(random, 1, 100))
            sp = random_edge(random);
        sp += event_record_has_sp(kind) ? 0 - 16 - number % 4 * 8 : event_record_has_target(kind) ? 16 : 0;
        tape->time += random_chance(random, 1, 50) ? random_edge(random) : random_below(random, 300);
        for (uint64_t i = random_chance(random, 1, 200) ? 1500 : 1; i > 0 && tape->size_bytes < RECORDS_BYTES_MAX; i--)
            put(tape, event_header(number, kind), sp -= event_record_has_sp(kind) ? 32 : 0, target);
        if (tape->size_bytes >= RECORDS_BYTES_MAX)
            break;
    }
}

/* Deeper than frames are kept, with jumps out of several, and leaves of what was never entered. */
static void put_random_hooked(struct tape *tape, struct random *random)
{
    uint32_t depth = (uint32_t)random_below(random, 3);

    while (tape->size_bytes < 1000 + random_below(random, RECORDS_BYTES_MAX - 1000)) {
        uint32_t number = (uint32_t)(random_chance(random, 1, 50) ? random_below(random, EVENT_NUMBER_MAX + 1u)
                                                                  : random_below(random, 40));
        enum event_record kind = EVENT_RECORD_ENTER + (uint32_t)random_below(random, 3);

        if (random_chance(random, 1, 100))
            depth = (uint32_t)random_edge(random);
        tape->time += random_chance(random, 1, 50) ? random_edge(random) : random_below(random, 300);
        for (uint64_t i = random_chance(random, 1, 200) ? 1500 : 1; i > 0 && tape->size_bytes < RECORDS_BYTES_MAX; i--)
            put_hooked(tape, number, kind, kind == EVENT_RECORD_ENTER ? depth++ : --depth);
        if (tape->size_bytes >= RECORDS_BYTES_MAX)
            break;
    }
}

static void any_records_come_back(void)
{
    for (uint64_t i = 0; i < 300; i++) {
        struct tape tape = {.format = formats[i % FORMATS]};
        struct random random;
        size_t packed_bytes;

        random_init(&random, random_seed_derive(11, i));
        if (tape.format.is_hooked)
            put_random_hooked(&tape, &random);
        else
            put_random(&tape, &random);
        if (pack(&tape, &packed_bytes) == 0)
            (void)check_both_ways(&tape);
        else
            CHECK(i % FORMATS != 1 && i % FORMATS != 3);
    }
}

static void what_is_no_record_is_left_alone(void)
{
    struct tape tape = {.format = {.is_wide = true}};
    size_t packed_bytes;

    for (int i = 0; i < 100; i++)
        put_round(&tape, 0x7000);
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    /* The last one is not whole. */
    tape.size_bytes -= 4;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    tape.size_bytes -= 12;
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    /* A word that has no meaning has one all the same. */
    records[4] = 1;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    records[4] = 0;
    records[3] = 0x80;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    records[3] = 0;
    records[0] = 0x1f;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    records[0] = 0;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    tape.size_bytes = 8;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    tape.size_bytes = 0;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
}

static void what_is_no_record_of_a_hooked_function_is_left_alone(void)
{
    static const uint8_t kinds[] = {0, EVENT_RECORD_BLOCK, EVENT_RECORD_CUT, EVENT_RECORD_KINDS, 15};
    struct tape tape = {.format = formats[3]};
    size_t packed_bytes;

    for (int i = 0; i < 100; i++)
        put_round(&tape, 5);
    CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
    tape.size_bytes -= 8;
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    tape.size_bytes -= 8;
    for (size_t i = 0; i < sizeof(kinds); i++) {
        records[16 * 50] = kinds[i];
        CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
    }
}

static void what_does_not_get_smaller_is_left_alone(void)
{
    struct tape tape = {.format = formats[0]};
    struct random random;
    size_t packed_bytes;

    random_init(&random, 4);
    for (int i = 0; i < 1000; i++)
        put(&tape, event_header((uint32_t)random_below(&random, EVENT_NUMBER_MAX), EVENT_RECORD_BLOCK), 0, 0);
    CHECK_EQUAL(pack(&tape, &packed_bytes), -E2BIG);
}

/* Into memory of exactly the right size, so that a sanitizer sees what goes beyond. */
static int unpack_exactly(struct event_format format, const uint8_t *bytes, size_t size_bytes, size_t records_bytes)
{
    uint8_t *copy = malloc(size_bytes + 1), *made = malloc(records_bytes + 8);
    int result;

    CHECK(copy != NULL && made != NULL);
    memcpy(copy + 1, bytes, size_bytes);
    memset(made + records_bytes, 0xa5, 8);
    result = record_packing_undo(predictor, format, (struct packing_source){copy + 1, size_bytes}, made, records_bytes);
    for (int i = 0; i < 8; i++)
        CHECK_EQUAL(made[records_bytes + (size_t)i], 0xa5);
    free(copy);
    free(made);
    return result;
}

static void another_size_is_refused(void)
{
    for (size_t i = 0; i < FORMATS; i++) {
        struct tape tape = {.format = formats[i]};
        size_t packed_bytes;

        while (tape.size_bytes < 3000)
            put_round(&tape, 0x7000);
        CHECK_EQUAL(pack(&tape, &packed_bytes), 0);
        CHECK_EQUAL(unpack_exactly(formats[i], packed, packed_bytes, tape.size_bytes), 0);
        for (size_t less = 1; less <= packed_bytes; less++)
            CHECK_EQUAL(unpack_exactly(formats[i], packed, packed_bytes - less, tape.size_bytes), -EPROTO);
        CHECK_EQUAL(unpack_exactly(formats[i], packed, packed_bytes + 1, tape.size_bytes), -EPROTO);
        for (size_t bytes = 0; bytes < 2 * tape.size_bytes; bytes += 4)
            CHECK_EQUAL(unpack_exactly(formats[i], packed, packed_bytes, bytes),
                        bytes == tape.size_bytes ? 0 : -EPROTO);
    }
}

/* Whatever the bytes are, they are refused, or are records to the last byte. */
static void hostile_bytes_do_no_harm(void)
{
    uint64_t good = 0;

    for (uint64_t i = 0; i < 30000; i++) {
        struct tape tape = {.format = formats[i % FORMATS]};
        struct random random;
        size_t packed_bytes = 0;
        int result;

        random_init(&random, random_seed_derive(12, i));
        if (i % 50 < 40) {
            while (tape.size_bytes < 50 + random_below(&random, 2000))
                put_round(&tape, random_below(&random, 3) * 64);
            CHECK(pack(&tape, &packed_bytes) == 0 || tape.size_bytes < 200);
        }
        if (packed_bytes == 0) {
            packed_bytes = random_below(&random, 60);
            random_fill(&random, packed, packed_bytes);
            tape.size_bytes = random_below(&random, 3000);
        }
        for (uint64_t flips = random_below(&random, 4); flips > 0 && packed_bytes > 0; flips--)
            packed[random_below(&random, packed_bytes)] ^= (uint8_t)(1u << random_below(&random, 8));
        result = unpack_exactly(tape.format, packed, packed_bytes, tape.size_bytes);
        CHECK(result == 0 || result == -EPROTO);
        good += result == 0;
    }
    CHECK(good > 1000 && good < 25000);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_repeats_takes_next_to_nothing),
    CHECK_CASE(the_packed_bytes_are_as_specified),
    CHECK_CASE(hooked_functions_are_packed_as_specified),
    CHECK_CASE(times_are_told_apart),
    CHECK_CASE(any_records_come_back),
    CHECK_CASE(what_is_no_record_is_left_alone),
    CHECK_CASE(what_is_no_record_of_a_hooked_function_is_left_alone),
    CHECK_CASE(what_does_not_get_smaller_is_left_alone),
    CHECK_CASE(another_size_is_refused),
    CHECK_CASE(hostile_bytes_do_no_harm),
};

int main(void)
{
    int result = record_predictor_create(&predictor);

    if (result == 0)
        result = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    record_predictor_destroy(predictor);
    return result;
}
