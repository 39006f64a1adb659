/* SPDX-License-Identifier: MIT */
#include "view/function_pattern.h"

#include "support/check.h"

static bool matches(const char *pattern, const char *path, const char *name)
{
    struct recorded_module module = {.path = (char *)(uintptr_t)path};
    struct view_function function = {.name = name, .module = path == NULL ? NULL : &module};

    return function_pattern_matches(NULL, pattern, &function);
}

static void names_match_in_any_module(void)
{
    CHECK(matches("parse*", "/usr/bin/tool", "parse_line"));
    CHECK(matches("parse*", NULL, "parse_line"));
    CHECK(!matches("parse", "/usr/bin/tool", "parse_line"));
    CHECK(matches("[!a-o]arse", "/usr/bin/tool", "parse"));
}

static void a_module_is_meant_by_its_name_or_path(void)
{
    CHECK(matches("libz*!inflate", "/usr/lib/libz.so.1", "inflate"));
    CHECK(!matches("libz*!inflate", "/usr/lib/libbz2.so.1", "inflate"));
    CHECK(!matches("libz*!deflate", "/usr/lib/libz.so.1", "inflate"));
    CHECK(matches("/usr/*!inflate", "/usr/lib/libz.so.1", "inflate"));
    CHECK(!matches("/opt/*!inflate", "/usr/lib/libz.so.1", "inflate"));
    CHECK(!matches("libz*!inflate", NULL, "inflate"));
}

static void what_stands_behind_a_name_may_be_left_out(void)
{
    CHECK(matches("puts", "/a", "puts@plt"));
    CHECK(matches("puts@plt", "/a", "puts@plt"));
    CHECK(matches("ns::f", "/a", "ns::f(int, char const*)"));
    CHECK(matches("ns::f(int*", "/a", "ns::f(int, char const*)"));
    CHECK(!matches("ns::g", "/a", "ns::f(int)"));
    CHECK(matches("(anonymous namespace)::f", "/a", "(anonymous namespace)::f(int)"));
    CHECK(matches("ns::(anonymous namespace)::f", "/a", "ns::(anonymous namespace)::f(int)"));
    CHECK(matches("compare::operator()", "/a", "compare::operator()(int, int) const"));
    CHECK(matches("run<main::{lambda()#1}>::go", "/a", "run<main::{lambda()#1}>::go(void (*)(int))"));
    CHECK(matches("point::operator<<", "/a", "point::operator<<(int)"));
    CHECK(matches("f<&(g(int))>", "/a", "f<&(g(int))>(int)"));
    CHECK(matches("point::operator!=", "/a", "point::operator!=(point const&) const"));
}

static const struct check_case cases[] = {
    CHECK_CASE(names_match_in_any_module),
    CHECK_CASE(a_module_is_meant_by_its_name_or_path),
    CHECK_CASE(what_stands_behind_a_name_may_be_left_out),
};

CHECK_MAIN(cases)
