/* SPDX-License-Identifier: MIT */
#include "hosted/json_text.h"

#include "support/check.h"
#include "support/random.h"
#include "trace/json_reader.h"

#define BAD "\xef\xbf\xbd"

static char *written(enum json_escape escape, const char *text)
{
    char *output = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&output, &size);

    json_put_text(file, escape, text);
    fclose(file);
    return output;
}

static void check_written(enum json_escape escape, const char *text, const char *expected)
{
    char *output = written(escape, text);

    CHECK_TEXT(output, expected);
    free(output);
}

static void text_is_quoted(void)
{
    check_written(JSON_EXACT, "", "\"\"");
    check_written(JSON_EXACT, "operator new", "\"operator new\"");
    check_written(JSON_EXACT, "\"a\\b\"", "\"\\\"a\\\\b\\\"\"");
    check_written(JSON_EXACT, "a\n\x7f", "\"a\\u000a\\u007f\"");
    check_written(JSON_EXACT, "\xc3\xa4\xff", "\"\xc3\xa4\\udcff\"");
}

static void clean_text_may_stand_in_a_page(void)
{
    check_written(JSON_CLEAN, "", "\"\"");
    check_written(JSON_CLEAN, "</script>&\"\\\n\xff\xe2\x82\xac'",
                  "\"\\u003c/script>\\u0026\\\"\\\\" BAD BAD "\xe2\x82\xac'\"");
    check_written(JSON_CLEAN, "\xef\xbf\xbf\xc2\x9b", "\"" BAD BAD "\"");
}

/* Scripts end a line there, and terminals take some for commands. */
static void characters_that_do_something_are_escaped(void)
{
    check_written(JSON_EXACT, "\xe2\x80\xa8\xe2\x80\xa9\xc2\x9b<&", "\"\\u2028\\u2029\\u009b<&\"");
    check_written(JSON_CLEAN, "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"");
}

static void whatever_is_written_is_read_back(void)
{
    struct json_value *value;
    struct random random;
    char text[32];

    random_init(&random, 1);
    for (unsigned round = 0; round < 2000; round++) {
        char *output, *clean;

        random_fill(&random, text, sizeof(text));
        text[sizeof(text) - 1] = '\0';
        output = written(JSON_EXACT, text);
        CHECK_EQUAL(json_read("test", output, strlen(output), &value, NULL), 0);
        CHECK_TEXT(value->text, text);
        json_free(value);
        free(output);
        clean = json_text_make(JSON_CLEAN, text);
        CHECK_EQUAL(json_read("test", clean, strlen(clean), &value, NULL), 0);
        json_free(value);
        free(clean);
    }
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(text_is_quoted),
        CHECK_CASE(clean_text_may_stand_in_a_page),
        CHECK_CASE(characters_that_do_something_are_escaped),
        CHECK_CASE(whatever_is_written_is_read_back),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
