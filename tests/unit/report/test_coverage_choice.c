/* SPDX-License-Identifier: MIT */
#include "report/coverage_choice.h"

#include "support/check.h"

static struct coverage_choice choice;

static bool is_wanted(const char *filter, const char *module, const char *function)
{
    choice.filter = filter;
    return coverage_choice_wants(&choice, module, function);
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
    const struct recorded_module module = {.path = "/bin/prog"};
    const struct coverage_module file = {.module = &module};

    choice.filter = NULL;
    CHECK(coverage_choice_filter(&choice).wants == NULL);
    choice.filter = "prog!m*";
    CHECK(coverage_choice_filter(&choice).wants(&choice, &file, &function));
    choice.filter = "prog!n*";
    CHECK(!coverage_choice_filter(&choice).wants(&choice, &file, &function));
}

static const struct check_case cases[] = {
    CHECK_CASE(filters_are_of_functions_or_of_files_too),
    CHECK_CASE(filters_are_for_coverage),
};

CHECK_MAIN(cases)
