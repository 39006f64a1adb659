/* SPDX-License-Identifier: MIT */
#include "cli/options/arguments.h"

#include "support/check.h"

static int is_far, spill, kinds, limit;
static struct gait_error err;
static const char *values[2], *pattern;

static enum command_status parse(int count, const char *const *words)
{
    static const char *const names[] = {"FILE", "SYMBOL"};
    static const struct argument_option options[] = {
        {"far", NULL, &is_far},
        {"spill", "stack|segment", &spill},
        {"kinds", "call,ret,exec", &kinds},
        {"limit", ARGUMENT_NUMBER, &limit},
        {"filter", ARGUMENT_TEXT, &pattern},
    };
    static const struct argument_rules rules = {"try", options, 5, names, 2};
    char *copies[8];
    struct command_call call = {count, copies, NULL, &err};
    enum command_status status;

    for (int i = 0; i < count; i++)
        copies[i] = (char *)words[i];
    is_far = spill = kinds = limit = 0;
    pattern = NULL;
    err.text[0] = '\0';
    status = arguments_parse(&call, &rules, values);
    CHECK_EQUAL(status == COMMAND_DONE, err.text[0] == '\0');
    return status;
}

#define PARSE(...) parse((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), (const char *[]){__VA_ARGS__})

static void options_may_stand_anywhere(void)
{
    CHECK_EQUAL(PARSE("a", "--far", "b", "--spill", "segment"), COMMAND_DONE);
    CHECK_EQUAL(is_far, 1);
    CHECK_EQUAL(spill, 1);
    CHECK_TEXT(values[0], "a");
    CHECK_TEXT(values[1], "b");
    CHECK_EQUAL(PARSE("--spill=stack", "a", "b"), COMMAND_DONE);
    CHECK_EQUAL(spill, 0);
    CHECK_EQUAL(is_far, 0);
}

static void a_text_may_be_anything(void)
{
    CHECK_EQUAL(PARSE("a", "--filter", "--far", "b"), COMMAND_DONE);
    CHECK_TEXT(pattern, "--far");
    CHECK_EQUAL(is_far, 0);
    CHECK_EQUAL(PARSE("a", "b", "--filter=x=*"), COMMAND_DONE);
    CHECK_TEXT(pattern, "x=*");
    CHECK_EQUAL(PARSE("a", "b", "--filter"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "a value has to follow it") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "--filter="), COMMAND_MISUSED);
}

static void lists_set_a_bit_for_each_value(void)
{
    CHECK_EQUAL(PARSE("a", "b", "--kinds", "exec"), COMMAND_DONE);
    CHECK_EQUAL(kinds, 4);
    CHECK_EQUAL(PARSE("a", "b", "--kinds=exec,call,exec"), COMMAND_DONE);
    CHECK_EQUAL(kinds, 5);
    CHECK_EQUAL(PARSE("a", "b", "--kinds=exec,"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--kinds="), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--kinds", "call,rat"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "its value is a list of call,ret,exec;") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "--spill=stack,segment"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "its value is one of stack|segment;") != NULL);
}

static void numbers_are_taken_from_1_on(void)
{
    CHECK_EQUAL(PARSE("a", "b", "--limit", "20"), COMMAND_DONE);
    CHECK_EQUAL(limit, 20);
    CHECK_EQUAL(PARSE("a", "b", "--limit=2147483647"), COMMAND_DONE);
    CHECK_EQUAL(limit, 2147483647);
    CHECK_EQUAL(PARSE("a", "b", "--limit=2147483648"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--limit=0"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--limit=-1"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--limit"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--limit", "few"), COMMAND_MISUSED);
    CHECK_TEXT(err.text, "cannot use '--limit few': its value is a number from 1 on; try 'gait help try'");
}

static void behind_two_dashes_nothing_is_an_option(void)
{
    CHECK_EQUAL(PARSE("--far", "--", "--spill", "-x"), COMMAND_DONE);
    CHECK_TEXT(values[0], "--spill");
    CHECK_TEXT(values[1], "-x");
    CHECK_EQUAL(PARSE("-", "b"), COMMAND_DONE);
    CHECK_TEXT(values[0], "-");
}

static void unknown_options_are_refused_with_a_suggestion(void)
{
    CHECK_EQUAL(PARSE("a", "b", "--fra"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'--far'") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "--spil=stack"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'--spill'") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "-q"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "gait help try") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "--=x"), COMMAND_MISUSED);
}

static void wrong_values_are_refused(void)
{
    CHECK_EQUAL(PARSE("a", "b", "--spill", "heap"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "stack|segment") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "--spill"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--spill="), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--spill=stack|segment"), COMMAND_MISUSED);
    CHECK_EQUAL(PARSE("a", "b", "--far=yes"), COMMAND_MISUSED);
}

static void missing_and_superfluous_arguments_are_named(void)
{
    CHECK_EQUAL(PARSE("a"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "SYMBOL is missing") != NULL);
    CHECK_EQUAL(PARSE("--far"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "FILE is missing") != NULL);
    CHECK_EQUAL(PARSE("a", "b", "c"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'c'") != NULL);
}

static void texts_are_collected(void)
{
    char *words[] = {"--name", "a", "--name=b=c", "x", NULL};
    struct argument_texts texts = {.count = 0};
    const struct argument_option options[] = {{"name", ARGUMENT_TEXTS, &texts}};
    static const char *const names[] = {"X"};
    const struct argument_rules rules = {"test", options, 1, names, 1};
    struct command_call call = {4, words, NULL, &err};
    const char *value;

    CHECK_EQUAL(arguments_parse(&call, &rules, &value), COMMAND_DONE);
    CHECK_EQUAL(texts.count, 2);
    CHECK_TEXT(texts.texts[0], "a");
    CHECK_TEXT(texts.texts[1], "b=c");
    call.argument_count = 1;
    CHECK_EQUAL(arguments_parse(&call, &rules, &value), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'--name'") != NULL);
    texts.count = ARGUMENT_TEXTS_MAX;
    call.argument_count = 2;
    CHECK_EQUAL(arguments_parse(&call, &rules, &value), COMMAND_MISUSED);
    CHECK(strstr(err.text, "too often") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(texts_are_collected),
    CHECK_CASE(options_may_stand_anywhere),
    CHECK_CASE(a_text_may_be_anything),
    CHECK_CASE(lists_set_a_bit_for_each_value),
    CHECK_CASE(numbers_are_taken_from_1_on),
    CHECK_CASE(behind_two_dashes_nothing_is_an_option),
    CHECK_CASE(unknown_options_are_refused_with_a_suggestion),
    CHECK_CASE(wrong_values_are_refused),
    CHECK_CASE(missing_and_superfluous_arguments_are_named),
};

CHECK_MAIN(cases)
