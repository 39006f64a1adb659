/* SPDX-License-Identifier: MIT */
#include "symbolize/function_spelling.h"

#include "support/check.h"

#include <string.h>

static struct function_spelling read;

static bool is(struct glob_text part, const char *expected)
{
    return part.length == strlen(expected) && memcmp(part.start, expected, part.length) == 0;
}

static bool is_name(const char *text, const char *module, const char *name)
{
    read = function_spelling_of(text);
    return read.kind == SPELLING_NAME && is(read.name, name) && read.has_module == (module != NULL) &&
           (module == NULL || is(read.module, module));
}

static bool is_address(const char *text, const char *module, uint64_t address)
{
    read = function_spelling_of(text);
    return read.kind == SPELLING_ADDRESS && read.address == address && read.has_module == (module != NULL) &&
           (module == NULL || is(read.module, module));
}

static bool is_line(const char *text, const char *module, const char *source, uint32_t line)
{
    read = function_spelling_of(text);
    return read.kind == SPELLING_LINE && is(read.source, source) && read.line == line &&
           read.has_module == (module != NULL) && (module == NULL || is(read.module, module));
}

static void names_are_read_with_and_without_a_module(void)
{
    CHECK(is_name("main", NULL, "main"));
    CHECK(is_name("!main", NULL, "main"));
    CHECK(is_name("libz*!inf*", "libz*", "inf*"));
    CHECK(is_name("libjvm*:*", "libjvm*", "*"));
    CHECK(is_name("Sq::area", NULL, "Sq::area"));
    CHECK(is_name("app:Sq::area", "app", "Sq::area"));
    CHECK(is_name("app!f(int, A::B)", "app", "f(int, A::B)"));
    CHECK(is_name("point::operator!=", NULL, "point::operator!="));
    CHECK(is_name("point::operator+", NULL, "point::operator+"));
    CHECK(is_name("[!a-z]*", NULL, "[!a-z]*"));
    CHECK(is_name("main+5", NULL, "main+5"));
    CHECK(is_name("0xzebra", NULL, "0xzebra"));
    CHECK(is_name("", NULL, ""));
    CHECK(is_name(":f", NULL, ":f"));
}

static void addresses_are_read(void)
{
    CHECK(is_address("0x1230", NULL, 0x1230));
    CHECK(is_address("*0x1230", NULL, 0x1230));
    CHECK(is_address("app+0x1230", "app", 0x1230));
    CHECK(read.is_offset);
    CHECK(is_address("libc++.so+0x10", "libc++.so", 0x10));
    CHECK(is_address("app!0x1230", "app", 0x1230));
    CHECK(!read.is_offset);
}

static void lines_are_read(void)
{
    CHECK(is_line("file.c:12", NULL, "file.c", 12));
    CHECK(is_line("libx.so!src/file.c:12", "libx.so", "src/file.c", 12));
    CHECK(function_spelling_has_source(&read, "/b/a/src/file.c"));
    CHECK(!function_spelling_has_source(&read, "/b/a/mysrc/file.c"));
    CHECK(!function_spelling_has_source(&read, "file.c"));
    CHECK(is_line("./file.c:1", NULL, "./file.c", 1));
    CHECK(function_spelling_has_source(&read, "/a/file.c") && function_spelling_has_source(&read, "file.c"));
    CHECK(!is_line("file.c:0", NULL, "file.c", 0));
    CHECK(!is_line("file.c:99999999999", NULL, "file.c", 0));
}

static void modules_are_known_by_their_names(void)
{
    read = function_spelling_of("libz*!f");
    CHECK(function_spelling_has_module(&read, "/usr/lib/libz.so.1"));
    CHECK(!function_spelling_has_module(&read, "/usr/lib/libbz2.so.1"));
    read = function_spelling_of("/usr/*!f");
    CHECK(function_spelling_has_module(&read, "/usr/lib/libz.so.1"));
    read = function_spelling_of("f");
    CHECK(!function_spelling_has_module(&read, "/usr/lib/libz.so.1"));
}

static bool means(const char *text, const char *linkers_name)
{
    bool is_linkers;

    read = function_spelling_of(text);
    return function_spelling_has_function(&read, linkers_name, strlen(linkers_name), &is_linkers);
}

static void names_of_sources_mean_those_of_linkers(void)
{
    bool is_linkers;

    CHECK(means("Sq::area", "_ZNK2Sq4areaEi"));
    CHECK(means("Sq::area(int) const", "_ZNK2Sq4areaEi"));
    CHECK(means("Sq::area(int)const", "_ZNK2Sq4areaEi"));
    CHECK(!means("Sq::area(int)", "_ZNK2Sq4areaEi"));
    CHECK(!means("Sq::area(double) const", "_ZNK2Sq4areaEi"));
    CHECK(!means("area", "_ZNK2Sq4areaEi"));
    CHECK(means("Sq::*", "_ZNK2Sq4areaEi"));
    CHECK(means("*area*", "_ZNK2Sq4areaEi"));
    CHECK(means("greet", "_ZL5greetPKc"));
    CHECK(means("greet(char const*)", "_ZL5greetPKc"));
    CHECK(means("Sq::operator+", "_ZNK2SqplERKS_"));
    CHECK(means("ns::greatest", "_ZN2ns8greatestIiEET_S1_S1_"));
    CHECK(means("ns::greatest<int>", "_ZN2ns8greatestIiEET_S1_S1_"));
    CHECK(means("int ns::greatest<int>(int,int)", "_ZN2ns8greatestIiEET_S1_S1_"));
    CHECK(!means("ns::greatest<double>", "_ZN2ns8greatestIiEET_S1_S1_"));
    CHECK(means("ns::(anonymous namespace)::hidden", "_ZN2ns12_GLOBAL__N_16hiddenEi"));
    CHECK(means("r::slow", "_ZN1r4slow17h0123456789abcdefE"));
    CHECK(means("std::vector<int>::size", "_ZNKSt6vectorIiE4sizeEv"));
    CHECK(!means("Sq::area", "_ZThn16_N2Sq4areaEv"));
    CHECK(!means("f", "_Z1fi.cold"));
    CHECK(means("_ZNK2Sq*", "_ZNK2Sq4areaEi"));
    read = function_spelling_of("main");
    CHECK(function_spelling_has_function(&read, "main@", 4, &is_linkers) && is_linkers);
    read = function_spelling_of("Sq::area");
    CHECK(function_spelling_has_function(&read, "_ZNK2Sq4areaEi", 14, &is_linkers) && !is_linkers);
    read = function_spelling_of("file.c:12");
    CHECK(!function_spelling_has_function(&read, "file.c:12", 9, &is_linkers));
}

static void what_stands_behind_a_name_is_not_of_it(void)
{
    CHECK_EQUAL(function_spelling_bare_length("operator"), 8);
    CHECK_EQUAL(function_spelling_bare_length(">>}}"), 4);
    CHECK_EQUAL(function_spelling_bare_length(""), 0);
    CHECK_EQUAL(function_spelling_bare_length("puts@plt"), 4);
    CHECK_EQUAL(function_spelling_bare_length("f(int)"), 1);
    CHECK_EQUAL(function_spelling_bare_length("int (anonymous namespace)::f(int)"), 28);
}

static bool has_glob(const char *text, const char *expected)
{
    char glob[40] = "";

    read = function_spelling_of(text);
    return function_spelling_linkers_glob(&read, glob, sizeof(glob)) && strcmp(glob, expected) == 0;
}

static void linkers_names_are_told_as_a_glob(void)
{
    char glob[8];

    CHECK(has_glob("greet", "_Z5greet*"));
    CHECK(has_glob("Sq::area(int) const", "_[ZR]*2Sq4area*"));
    CHECK(has_glob("Sq::*", "_[ZR]*2Sq**"));
    CHECK(!has_glob("Sq::a*", ""));
    CHECK(!has_glob("a<int>::f", ""));
    CHECK(!has_glob("0x10", ""));
    CHECK(!has_glob("a::", ""));
    read = function_spelling_of("a_long_name::f");
    CHECK(!function_spelling_linkers_glob(&read, glob, sizeof(glob)));
}

static void what_may_mean_several_is_told(void)
{
    read = function_spelling_of("f*");
    CHECK(!function_spelling_is_single(&read));
    read = function_spelling_of("f");
    CHECK(function_spelling_is_single(&read));
    read = function_spelling_of("*0x10");
    CHECK(function_spelling_is_single(&read));
}

static const struct check_case cases[] = {
    CHECK_CASE(names_are_read_with_and_without_a_module),
    CHECK_CASE(addresses_are_read),
    CHECK_CASE(lines_are_read),
    CHECK_CASE(modules_are_known_by_their_names),
    CHECK_CASE(names_of_sources_mean_those_of_linkers),
    CHECK_CASE(what_stands_behind_a_name_is_not_of_it),
    CHECK_CASE(linkers_names_are_told_as_a_glob),
    CHECK_CASE(what_may_mean_several_is_told),
};

CHECK_MAIN(cases)
