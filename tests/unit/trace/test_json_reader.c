/* SPDX-License-Identifier: MIT */
#include "trace/json_reader.h"

#include "support/check.h"
#include "support/guarded_bytes.h"
#include "support/random.h"

#include <errno.h>

static struct json_value *read_text(const char *text)
{
    struct json_value *value = NULL;

    CHECK_EQUAL(json_read("x", text, strlen(text), &value, NULL), 0);
    return value;
}

static void values_are_read(void)
{
    struct json_value *value = read_text(" {\"a\" : [1, -2, 3.5e+2, true],\r\n\t\"b\":{}, \"c\":null, \"d\":\"\"} \n");
    const struct json_value *list = json_member(value, "a");
    uint64_t number = 0;
    int64_t negative = 0;

    CHECK_EQUAL(json_count(value), 4);
    CHECK_EQUAL(json_count(list), 4);
    CHECK(json_to_u64(list->first, &number));
    CHECK_EQUAL(number, 1);
    CHECK(!json_to_u64(list->first->next, &number));
    CHECK(json_to_i64(list->first->next, &negative));
    CHECK_EQUAL(negative, -2);
    CHECK(!json_to_i64(list->first->next->next, &negative));
    CHECK_TEXT(list->first->next->next->text, "3.5e+2");
    CHECK_EQUAL(json_member(value, "b")->kind, JSON_OBJECT);
    CHECK_EQUAL(json_member(value, "b")->line, 2);
    CHECK(json_member(value, "e") == NULL);
    json_free(value);
}

static void whole_numbers_keep_all_their_digits(void)
{
    struct json_value *value = read_text("[18446744073709551615, 18446744073709551616, -9223372036854775808]");
    uint64_t number = 0;
    int64_t negative = 0;

    CHECK(json_to_u64(value->first, &number));
    CHECK_EQUAL(number, UINT64_MAX);
    CHECK(!json_to_u64(value->first->next, &number));
    CHECK(json_to_i64(value->first->next->next, &negative));
    CHECK_EQUAL(negative, INT64_MIN);
    json_free(value);
}

static void escapes_mean_what_they_say(void)
{
    struct json_value *value =
        read_text("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u0041\\u00e9\\u20ac\", \"\\ud83d\\ude00\", \"a\\udcffb\"]");

    CHECK_TEXT(value->first->text, "\"\\/\b\f\n\r\t");
    CHECK_TEXT(value->first->next->text, "A\xc3\xa9\xe2\x82\xac");
    CHECK_TEXT(value->first->next->next->text, "\xf0\x9f\x98\x80");
    CHECK_TEXT(value->first->next->next->next->text, "a\xff"
                                                     "b");
    json_free(value);
}

static void what_is_no_json_is_refused(void)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[",
        "]",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{1:2}",
        "{\"a\":}",
        "{\"a\":1,}",
        "01",
        "1.",
        "-",
        "+1",
        ".5",
        "1e",
        "tru",
        "nul",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "1 1",
        "[] ]",
        "\"\\ud800\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\"",
        "\"\\u0000\"",
        "'a'",
        "{\"a\":1,\"a\":2}",
        "NaN",
        "// x\n1",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct json_value *value;
        int result = json_read("x", texts[i], strlen(texts[i]), &value, NULL);

        if (result != -EPROTO)
            CHECK_TEXT(texts[i], "refused");
        if (result == 0)
            json_free(value);
    }
}

static void errors_name_the_line(void)
{
    static const char text[] = "{\n  \"a\": 1,\n  \"b\" 2\n}\n";
    struct json_value *value;
    struct gait_error err;

    CHECK_EQUAL(json_read("some.json", text, strlen(text), &value, &err), -EPROTO);
    CHECK_TEXT(err.text, "cannot read 'some.json': line 3: a ':' is missing; it is damaged, or no such file");
}

static void nesting_is_bounded(void)
{
    char text[2 * JSON_DEPTH_MAX + 3];
    struct json_value *value;

    for (size_t depth = JSON_DEPTH_MAX; depth <= JSON_DEPTH_MAX + 1; depth++) {
        int result;

        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        result = json_read("x", text, 2 * depth, &value, NULL);
        CHECK_EQUAL(result, depth == JSON_DEPTH_MAX ? 0 : -EPROTO);
        if (result == 0)
            json_free(value);
    }
}

static void members_are_bounded(void)
{
    static char text[JSON_MEMBERS_MAX * 16];
    struct json_value *value;
    size_t used = 0;

    for (int i = 0; i <= JSON_MEMBERS_MAX; i++)
        used += (size_t)sprintf(text + used, "%c\"%d\":0", i == 0 ? '{' : ',', i);
    text[used++] = '}';
    CHECK_EQUAL(json_read("x", text, used, &value, NULL), -EPROTO);
}

/* Any text, cut off anywhere and changed anywhere, is read or refused, and nothing behind it is looked at. */
static void damaged_texts_do_no_harm(void)
{
    static const char text[] = "{\"a\": [1, \"\\ud83d\\ude00\\n\", true], \"b\": {\"c\": -1.5e3, \"d\": null}}";
    struct guarded_bytes guarded;
    struct random random;
    struct json_value *value;

    guarded_bytes_init(&guarded);
    random_init(&random, 1);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[sizeof(text)];
        size_t size = random_below(&random, sizeof(text));

        memcpy(bytes, text, sizeof(text));
        for (uint64_t changes = random_below(&random, 3); changes > 0; changes--)
            bytes[random_below(&random, sizeof(text))] = (uint8_t)random_u64(&random);
        if (json_read("x", (char *)guarded_bytes_put(&guarded, bytes, size), size, &value, NULL) == 0)
            json_free(value);
    }
    guarded_bytes_deinit(&guarded);
}

static const struct check_case cases[] = {
    CHECK_CASE(values_are_read),
    CHECK_CASE(whole_numbers_keep_all_their_digits),
    CHECK_CASE(escapes_mean_what_they_say),
    CHECK_CASE(what_is_no_json_is_refused),
    CHECK_CASE(errors_name_the_line),
    CHECK_CASE(nesting_is_bounded),
    CHECK_CASE(members_are_bounded),
    CHECK_CASE(damaged_texts_do_no_harm),
};

CHECK_MAIN(cases)
