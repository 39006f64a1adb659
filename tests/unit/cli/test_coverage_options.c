/* SPDX-License-Identifier: MIT */
#include "cli/coverage_options.h"

#include "support/check.h"

static struct coverage_options options;
static struct gait_error err;

static enum command_status read_words(int count, const char *const *words)
{
    struct command_call call = {count, (char **)words, NULL, &err};

    options = (struct coverage_options){.trace = NULL};
    err.text[0] = '\0';
    return coverage_options_read(&call, &options);
}

#define READ(...)                                                                                                      \
    read_words(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *), (const char *const[]){__VA_ARGS__})

static void options_come_in_any_order(void)
{
    CHECK_EQUAL(READ("there"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "there");
    CHECK(options.filter == NULL && !options.functions && !options.missed && !options.lines && !options.json);
    CHECK_EQUAL(READ("--functions", "there", "--missed", "--filter", "a*", "--lines", "--json"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "there");
    CHECK_TEXT(options.filter, "a*");
    CHECK(options.functions && options.missed && options.lines && options.json);
    CHECK_EQUAL(READ("--filter=b", "--", "--there"), COMMAND_DONE);
    CHECK_TEXT(options.trace, "--there");
    CHECK_TEXT(options.filter, "b");
}

static void what_is_wrong_is_told(void)
{
    CHECK_EQUAL(READ("--json"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "TRACE is missing") != NULL);
    CHECK_EQUAL(READ("a", "b"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "'b': 'gait coverage' takes one trace") != NULL);
    CHECK_EQUAL(READ("a", "--filter"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "its value is missing") != NULL);
    CHECK_EQUAL(READ("a", "--mised"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "did you mean '--missed'") != NULL);
    CHECK_EQUAL(READ("a", "-x"), COMMAND_MISUSED);
    CHECK(strstr(err.text, "no such option") != NULL);
}

static bool is_wanted(const char *filter, const char *module, const char *function)
{
    options.filter = filter;
    return coverage_options_want(&options, module, function);
}

static void filters_are_of_functions_or_of_files_too(void)
{
    CHECK(is_wanted(NULL, "/lib/libz.so.1", "inflate"));
    CHECK(is_wanted("infl*", "/lib/libz.so.1", "inflate"));
    CHECK(!is_wanted("infl", "/lib/libz.so.1", "inflate"));
    CHECK(is_wanted("libz.so*!*", "/lib/libz.so.1", "inflate"));
    CHECK(!is_wanted("libz.so*!*", "/lib/libc.so.6", "inflate"));
    CHECK(!is_wanted("libz.so*!deflate", "/lib/libz.so.1", "inflate"));
    CHECK(is_wanted("[!d]nflate", "/lib/libz.so.1", "inflate"));
    CHECK(is_wanted("prog!main", "prog", "main"));
}

static void filters_are_for_coverage(void)
{
    const struct coverage_function function = {.name = "main"};
    const struct module module = {.path = "/bin/prog"};
    const struct coverage_module file = {.module = &module};

    options.filter = NULL;
    CHECK(coverage_options_filter(&options).wants == NULL);
    options.filter = "prog!m*";
    CHECK(coverage_options_filter(&options).wants(&options, &file, &function));
    options.filter = "prog!n*";
    CHECK(!coverage_options_filter(&options).wants(&options, &file, &function));
}

static const struct check_case cases[] = {
    CHECK_CASE(options_come_in_any_order),
    CHECK_CASE(what_is_wrong_is_told),
    CHECK_CASE(filters_are_of_functions_or_of_files_too),
    CHECK_CASE(filters_are_for_coverage),
};

CHECK_MAIN(cases)
