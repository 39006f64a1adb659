/* SPDX-License-Identifier: MIT */
#include "base/text_hash.h"

#include "support/check.h"

static void known_texts_have_known_hashes(void)
{
    CHECK_EQUAL(text_hash(""), 0xcbf29ce484222325);
    CHECK_EQUAL(text_hash("a"), 0xaf63dc4c8601ec8c);
    CHECK_EQUAL(text_hash("foobar"), 0x85944171f73967e8);
}

static void bytes_above_127_are_not_negative(void)
{
    CHECK_EQUAL(text_hash("\xff"), (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3);
}

static void the_length_counts(void)
{
    CHECK_EQUAL(text_hash_of("foobar and more", 6), text_hash("foobar"));
    CHECK(text_hash_of("a\0b", 3) != text_hash("a"));
}

static const struct check_case cases[] = {
    CHECK_CASE(known_texts_have_known_hashes),
    CHECK_CASE(bytes_above_127_are_not_negative),
    CHECK_CASE(the_length_counts),
};

CHECK_MAIN(cases)
