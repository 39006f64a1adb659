/* SPDX-License-Identifier: MIT */
#include "trace/json_text.h"

#include "support/check.h"
#include "support/random.h"
#include "trace/json_reader.h"

static char *written(const char *text)
{
    char *output = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&output, &size);

    json_put_text(file, text);
    fclose(file);
    return output;
}

static void check_written(const char *text, const char *expected)
{
    char *output = written(text);

    CHECK_TEXT(output, expected);
    free(output);
}

static void text_is_quoted(void)
{
    check_written("", "\"\"");
    check_written("operator new", "\"operator new\"");
    check_written("\"a\\b\"", "\"\\\"a\\\\b\\\"\"");
    check_written("a\n\x7f", "\"a\\u000a\\u007f\"");
    check_written("\xc3\xa4\xff", "\"\xc3\xa4\\udcff\"");
}

static void whatever_is_written_is_read_back(void)
{
    struct json_value *value;
    struct random random;
    char text[32];

    random_init(&random, 1);
    for (unsigned round = 0; round < 2000; round++) {
        char *output;

        random_fill(&random, text, sizeof(text));
        text[sizeof(text) - 1] = '\0';
        output = written(text);
        CHECK_EQUAL(json_read("test", output, strlen(output), &value, NULL), 0);
        CHECK_TEXT(value->text, text);
        json_free(value);
        free(output);
    }
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(text_is_quoted),
        CHECK_CASE(whatever_is_written_is_read_back),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
