/* SPDX-License-Identifier: MIT */
#include "elf/frame_expression.h"

#include "support/check.h"
#include "support/random.h"

#include <errno.h>

static uint64_t registers[FRAME_REGISTERS] = {[6] = 0x6000, [7] = 0x7000, [16] = 0x401008};

/* Memory in which each byte is the lowest of its address; below 0x1000 there is none. */
static bool read_bytes(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    if (address < 0x1000)
        return false;
    for (size_t i = 0; i < size_bytes; i++)
        ((uint8_t *)bytes_out)[i] = (uint8_t)(address + i);
    return true;
}

static int evaluate(const uint8_t *bytes, size_t size_bytes, const uint64_t *initial, uint64_t *value_out)
{
    const struct frame_machine machine = {registers, 1u << 6 | 1u << 7 | 1u << 16, read_bytes, NULL};

    return frame_expression_evaluate((struct byte_range){bytes, bytes + size_bytes}, &machine, initial, value_out);
}

#define BYTES(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

static void check_value(const uint8_t *bytes, size_t size_bytes, uint64_t expected)
{
    uint64_t value = 0;

    CHECK_EQUAL(evaluate(bytes, size_bytes, NULL, &value), 0);
    CHECK_EQUAL(value, expected);
}

static void check_error(const uint8_t *bytes, size_t size_bytes, int expected)
{
    uint64_t value = 77;

    CHECK_EQUAL(evaluate(bytes, size_bytes, NULL, &value), expected);
    CHECK_EQUAL(value, 77);
}

static void constants_have_many_sizes(void)
{
    check_value(BYTES(0x30), 0);
    check_value(BYTES(0x4f), 31);
    check_value(BYTES(0x08, 0xff), 255);
    check_value(BYTES(0x09, 0xff), UINT64_MAX);
    check_value(BYTES(0x0a, 0x34, 0x12), 0x1234);
    check_value(BYTES(0x0b, 0xfe, 0xff), (uint64_t)-2);
    check_value(BYTES(0x0c, 1, 2, 3, 0x84), 0x84030201);
    check_value(BYTES(0x0d, 1, 2, 3, 0x84), 0xffffffff84030201);
    check_value(BYTES(0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80), 0x8000000000000001);
    check_value(BYTES(0x03, 1, 0, 0, 0, 0, 0, 0, 0), 1);
    check_value(BYTES(0x10, 0xe5, 0x8e, 0x26), 624485);
    check_value(BYTES(0x11, 0x7f), UINT64_MAX);
}

static void registers_are_read_with_an_offset(void)
{
    check_value(BYTES(0x77, 8), 0x7008);
    check_value(BYTES(0x76, 0x78), 0x5ff8);
    check_value(BYTES(0x92, 7, 16), 0x7010);
    check_error(BYTES(0x70, 0), -ENODATA);
    check_error(BYTES(0x92, 60, 0), -EPROTO);
}

static void values_are_combined(void)
{
    check_value(BYTES(0x35, 0x33, 0x1a), 1);
    check_value(BYTES(0x35, 0x33, 0x21), 7);
    check_value(BYTES(0x35, 0x33, 0x27), 6);
    check_value(BYTES(0x35, 0x33, 0x22), 8);
    check_value(BYTES(0x35, 0x33, 0x1c), 2);
    check_value(BYTES(0x35, 0x33, 0x1e), 15);
    check_value(BYTES(0x35, 0x33, 0x24), 40);
    check_value(BYTES(0x35, 0x31, 0x25), 2);
    check_value(BYTES(0x09, 0x80, 0x31, 0x26), (uint64_t)-64);
    check_value(BYTES(0x09, 0x80, 0x08, 200, 0x26), UINT64_MAX);
    check_value(BYTES(0x35, 0x08, 64, 0x24), 0);
    check_value(BYTES(0x35, 0x33, 0x29), 0);
    check_value(BYTES(0x35, 0x33, 0x2a), 1);
    check_value(BYTES(0x35, 0x33, 0x2b), 1);
    check_value(BYTES(0x09, 0xff, 0x33, 0x2c), 1);
    check_value(BYTES(0x35, 0x33, 0x2d), 0);
    check_value(BYTES(0x35, 0x33, 0x2e), 1);
    check_value(BYTES(0x35, 0x1f), (uint64_t)-5);
    check_value(BYTES(0x35, 0x20), ~(uint64_t)5);
    check_value(BYTES(0x09, 0xfb, 0x19), 5);
    check_value(BYTES(0x35, 0x23, 0x80, 1), 133);
}

static void the_stack_is_rearranged(void)
{
    check_value(BYTES(0x31, 0x32, 0x12, 0x22), 4);
    check_value(BYTES(0x31, 0x32, 0x13), 1);
    check_value(BYTES(0x31, 0x32, 0x14), 1);
    check_value(BYTES(0x31, 0x32, 0x33, 0x15, 2), 1);
    check_value(BYTES(0x31, 0x32, 0x16), 1);
    /* 1 2 3, the top goes down below two: 3 1 2 */
    check_value(BYTES(0x31, 0x32, 0x33, 0x17), 2);
    check_value(BYTES(0x31, 0x32, 0x33, 0x17, 0x13, 0x13), 3);
}

static void memory_is_read(void)
{
    check_value(BYTES(0x77, 8, 0x06), 0x0f0e0d0c0b0a0908);
    check_value(BYTES(0x77, 8, 0x94, 2), 0x0908);
    check_error(BYTES(0x31, 0x06), -EFAULT);
    check_error(BYTES(0x77, 8, 0x94, 9), -EPROTO);
    check_error(BYTES(0x77, 8, 0x94, 0), -EPROTO);
}

static void jumps_go_to_either_side(void)
{
    check_value(BYTES(0x31, 0x2f, 1, 0, 0x33), 1);
    check_value(BYTES(0x31, 0x31, 0x28, 1, 0, 0x35), 1);
    check_value(BYTES(0x31, 0x30, 0x28, 1, 0, 0x35), 5);
    /* 3, 2, 1, 0 */
    check_value(BYTES(0x33, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff), 0);
    check_error(BYTES(0x31, 0x2f, 9, 0), -EPROTO);
    check_error(BYTES(0x31, 0x2f, 0xf0, 0xff), -EPROTO);
}

static void expressions_begin_with_the_frame(void)
{
    uint64_t frame = 0x9000, value;

    CHECK_EQUAL(evaluate(BYTES(0x23, 8), &frame, &value), 0);
    CHECK_EQUAL(value, 0x9008);
    CHECK_EQUAL(evaluate(NULL, 0, &frame, &value), 0);
    CHECK_EQUAL(value, 0x9000);
}

static void what_makes_no_sense_is_an_error(void)
{
    check_error(NULL, 0, -EPROTO);
    check_error(BYTES(0x22), -EPROTO);
    check_error(BYTES(0x13), -EPROTO);
    check_error(BYTES(0x31, 0x15, 1), -EPROTO);
    check_error(BYTES(0x0e, 1), -EPROTO);
    check_error(BYTES(0xff), -EPROTO);
    check_error(BYTES(0x31, 0x96, 0x00), -EPROTO);
    /* For ever, and with more and more values. */
    check_error(BYTES(0x31, 0x2f, 0xfd, 0xff), -EPROTO);
    check_error(BYTES(0x31, 0x2f, 0xfc, 0xff), -EPROTO);
}

static void random_expressions_do_no_harm(void)
{
    struct random random;
    uint8_t *bytes = malloc(64);
    unsigned good = 0;

    random_init(&random, 9);
    for (unsigned i = 0; i < 30000; i++) {
        size_t size_bytes = random_below(&random, 64);
        uint64_t value;
        int result;

        random_fill(&random, bytes, size_bytes);
        for (size_t j = 0; j < size_bytes; j++)
            bytes[j] = random_chance(&random, 3, 4) ? (uint8_t)(0x30 | (bytes[j] & 0xf)) : bytes[j] & 0x7f;
        result = evaluate(bytes, size_bytes, NULL, &value);
        CHECK(result == 0 || result == -EPROTO || result == -EFAULT || result == -ENODATA);
        good += result == 0;
    }
    CHECK(good > 1000);
    free(bytes);
}

static const struct check_case cases[] = {
    CHECK_CASE(constants_have_many_sizes),
    CHECK_CASE(registers_are_read_with_an_offset),
    CHECK_CASE(values_are_combined),
    CHECK_CASE(the_stack_is_rearranged),
    CHECK_CASE(memory_is_read),
    CHECK_CASE(jumps_go_to_either_side),
    CHECK_CASE(expressions_begin_with_the_frame),
    CHECK_CASE(what_makes_no_sense_is_an_error),
    CHECK_CASE(random_expressions_do_no_harm),
};

CHECK_MAIN(cases)
