/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <zlib.h>

static struct export_lab lab;
static uint8_t profile[65536];
static size_t profile_bytes;

/* ---- reading protocol buffers ------------------------------------------------------------------------------------ */

struct field {
    uint64_t number;
    uint64_t value; /* of a number */
    const uint8_t *bytes;
    size_t size_bytes;
};

static uint64_t read_number(const uint8_t **at, const uint8_t *end)
{
    uint64_t number = 0;

    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        number |= (uint64_t)(**at & 0x7f) << shift;
        if (!(*(*at)++ & 0x80))
            break;
    }
    return number;
}

static bool read_field(const uint8_t **at, const uint8_t *end, struct field *field_out)
{
    uint64_t key;

    if (*at >= end)
        return false;
    key = read_number(at, end);
    *field_out = (struct field){.number = key >> 3, .value = read_number(at, end)};
    if ((key & 7) == 0)
        return true;
    CHECK_EQUAL(key & 7, 2);
    CHECK(field_out->value <= (size_t)(end - *at));
    field_out->bytes = *at;
    field_out->size_bytes = field_out->value;
    *at += field_out->size_bytes;
    return true;
}

/* The which-th field of the message with that number. */
static bool find_field(const uint8_t *bytes, size_t size_bytes, uint64_t number, size_t which, struct field *field_out)
{
    const uint8_t *at = bytes;

    while (read_field(&at, bytes + size_bytes, field_out))
        if (field_out->number == number && which-- == 0)
            return true;
    return false;
}

/* ---- the profile ------------------------------------------------------------------------------------------------- */

static void write_profile(void)
{
    z_stream zlib = {.next_in = (uint8_t *)lab.output, .next_out = profile, .avail_out = sizeof(profile)};

    /* Builds without zlib do not pack it. */
    if ((uint8_t)lab.output[0] != 0x1f) {
        profile_bytes = lab.output_bytes;
        memcpy(profile, lab.output, profile_bytes);
        return;
    }
    zlib.avail_in = (unsigned)lab.output_bytes;
    CHECK_EQUAL(inflateInit2(&zlib, MAX_WBITS + 16), Z_OK);
    CHECK_EQUAL(inflate(&zlib, Z_FINISH), Z_STREAM_END);
    profile_bytes = zlib.total_out;
    inflateEnd(&zlib);
}

static const char *text_at(uint64_t which)
{
    static char text[256];
    struct field field;

    if (!find_field(profile, profile_bytes, 6, which, &field))
        return "?";
    snprintf(text, sizeof(text), "%.*s", (int)field.size_bytes, field.bytes);
    return text;
}

static size_t count_fields(uint64_t number)
{
    struct field field;
    size_t count = 0;

    while (find_field(profile, profile_bytes, number, count, &field))
        count++;
    return count;
}

static void totals_are_those_of_the_calls(void)
{
    uint64_t calls = 0, self_ns = 0;
    struct field sample, values;

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "pprof"), 0);
    write_profile();
    for (size_t i = 0; find_field(profile, profile_bytes, 2, i, &sample); i++) {
        CHECK(find_field(sample.bytes, sample.size_bytes, 2, 0, &values));
        const uint8_t *at = values.bytes;

        calls += read_number(&at, values.bytes + values.size_bytes);
        self_ns += read_number(&at, values.bytes + values.size_bytes);
        CHECK_EQUAL(at - values.bytes, values.size_bytes);
    }
    CHECK_EQUAL(calls, 16);
    CHECK_EQUAL(self_ns, 1600);
    CHECK_EQUAL(count_fields(2), 5);
    CHECK_EQUAL(count_fields(3), 2);
    CHECK_EQUAL(count_fields(4), 3);
    CHECK_EQUAL(count_fields(5), 3);
    export_lab_deinit(&lab);
}

/* Locations of the innermost call come first. */
static void samples_are_stacks(void)
{
    struct field sample, locations;
    const uint8_t *at;

    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "pprof"), 0);
    write_profile();
    CHECK(find_field(profile, profile_bytes, 2, 2, &sample));
    CHECK(find_field(sample.bytes, sample.size_bytes, 1, 0, &locations));
    CHECK_EQUAL(locations.size_bytes, 3);
    at = locations.bytes;
    CHECK_EQUAL(at[0], 3);
    CHECK_EQUAL(at[1], 2);
    CHECK_EQUAL(at[2], 1);
    export_lab_deinit(&lab);
}

static void texts_are_clean_and_the_first_is_empty(void)
{
    struct field type, text, function;

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "pprof"), 0);
    write_profile();
    CHECK_TEXT(text_at(0), "");
    CHECK(find_field(profile, profile_bytes, 1, 1, &type));
    CHECK(find_field(type.bytes, type.size_bytes, 1, 0, &text));
    CHECK_TEXT(text_at(text.value), "self_time");
    CHECK(find_field(type.bytes, type.size_bytes, 2, 0, &text));
    CHECK_TEXT(text_at(text.value), "nanoseconds");
    CHECK(find_field(profile, profile_bytes, 5, 2, &function));
    CHECK(find_field(function.bytes, function.size_bytes, 2, 0, &text));
    CHECK_TEXT(text_at(text.value), "<i>&\"\\;\xef\xbf\xbd\xef\xbf\xbd<i>+0x1100");
    export_lab_deinit(&lab);
}

static void losses_are_a_comment(void)
{
    struct field comment;

    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "pprof"), 0);
    write_profile();
    CHECK(find_field(profile, profile_bytes, 13, 1, &comment));
    CHECK_TEXT(text_at(comment.value), "events are missing at 4 places: 288 bytes");
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(totals_are_those_of_the_calls),
    CHECK_CASE(samples_are_stacks),
    CHECK_CASE(texts_are_clean_and_the_first_is_empty),
    CHECK_CASE(losses_are_a_comment),
};

CHECK_MAIN(cases)
