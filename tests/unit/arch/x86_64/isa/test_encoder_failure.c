/* SPDX-License-Identifier: MIT */
#include "arch/x86_64/isa/encoder_failure.h"

#include "base/assert.h"
#include "base/code_writer.h"
#include "support/check.h"

static const char *asserted;

static void keep_assertion(const char *text, const char *file, int line)
{
    (void)file;
    (void)line;
    asserted = text;
}

static void failure_is_sticky_and_no_bug(void)
{
    uint8_t buffer[8] = {0};
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(0));
    asserted = NULL;
    assert_handler_set(keep_assertion);
    x86_encoder_fail(&writer);
    assert_handler_set(NULL);
    code_writer_put_u8(&writer, 1);
    CHECK(code_writer_overflowed(&writer));
    CHECK_EQUAL(buffer[0], 0);
    CHECK(asserted == NULL);
}

static void refusal_is_sticky_and_a_bug(void)
{
    uint8_t buffer[8];
    struct code_writer writer;

    code_writer_init(&writer, buffer, sizeof(buffer), cache_pc_of(0));
    asserted = "";
    assert_handler_set(keep_assertion);
    x86_encoder_refuse(&writer, "no such thing");
    assert_handler_set(NULL);
    CHECK(code_writer_overflowed(&writer));
#ifndef NDEBUG
    CHECK_TEXT(asserted, "no such thing");
#endif
}

static const struct check_case cases[] = {
    CHECK_CASE(failure_is_sticky_and_no_bug),
    CHECK_CASE(refusal_is_sticky_and_a_bug),
};

CHECK_MAIN(cases)
