/* SPDX-License-Identifier: MIT */
/* Functions of a program that is built here. */
#include "symbolize/spelled_functions.h"

#include "support/built_program.h"
#include "support/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct built_program program;
static struct spelled_file file;
static struct spelled_list list;

#define SOURCE                                                                                                         \
    "struct Sq { int n; int area(int k) const; int area(double) const; };\n"                                           \
    "__attribute__((noinline)) int Sq::area(int k) const { return n * k; }\n"                                          \
    "__attribute__((noinline)) int Sq::area(double k) const { return (int)(n * k); }\n"                                \
    "\n"                                                                                                               \
    "extern \"C\" __attribute__((noinline)) int plain(int k) {\n"                                                      \
    "    return k + 1;\n"                                                                                              \
    "}\n"                                                                                                              \
    "int main(int c, char **v) { Sq s{c}; return s.area(1) + s.area(2.0) + plain(c); }\n"

static void begin(const char *command, const char *name)
{
    FILE *source;

    built_program_init(&program);
    source = fopen(built_program_path(&program, "sq.cc"), "we");
    CHECK(source != NULL && fputs(SOURCE, source) >= 0 && fclose(source) == 0);
    CHECK(built_program_run(&program, command));
    CHECK_EQUAL(spelled_file_open(&file, built_program_path(&program, name)), 0);
}

static void end(void)
{
    spelled_file_close(&file);
    built_program_deinit(&program);
}

static size_t find(const char *text)
{
    struct function_spelling spelling = function_spelling_of(text);

    spelled_list_deinit(&list);
    return spelled_functions_find(&file, &spelling, &list) == 0 ? list.count : 0;
}

static bool is_called(const char *name)
{
    return list.count == 1 && list.ones[0].name != NULL && list.ones[0].name_length == strlen(name) &&
           memcmp(list.ones[0].name, name, list.ones[0].name_length) == 0;
}

static const char *text_of(const char *before, uint64_t address)
{
    static char text[64];

    snprintf(text, sizeof(text), "%s0x%llx", before, (unsigned long long)address);
    return text;
}

static void functions_are_found_however_they_are_spelled(void)
{
    uint64_t start;

    begin("g++ -O1 -g -o sq sq.cc", "sq");
    CHECK(find("plain") == 1 && is_called("plain") && list.ones[0].is_linkers);
    start = list.ones[0].start;
    CHECK(find("Sq::area") == 2 && !list.ones[0].is_linkers);
    CHECK(find("Sq::area(int) const") == 1 && is_called("_ZNK2Sq4areaEi"));
    CHECK(find(text_of("", start)) == 1 && is_called("plain"));
    CHECK(find(text_of("*", start + 1)) == 1 && is_called("plain"));
    CHECK(list.ones[0].at == start + 1 && list.ones[0].start == start);
    CHECK(find("sq.cc:6") == 1 && is_called("plain") && list.ones[0].line == 6);
    CHECK(find("sq.cc:4") == 1 && is_called("plain") && list.ones[0].line == 5);
    CHECK_EQUAL(find("other.cc:6"), 0);
    CHECK_EQUAL(find("sq.cc:100"), 0);
    CHECK_EQUAL(find("0x10"), 0);
    CHECK_EQUAL(find("nothing"), 0);
    spelled_list_deinit(&list);
    end();
}

static void functions_without_names_are_found_by_address(void)
{
    uint64_t start;

    begin("g++ -O1 -o sq sq.cc && strip -o bare sq", "sq");
    CHECK_EQUAL(find("plain"), 1);
    start = list.ones[0].start;
    spelled_file_close(&file);
    CHECK_EQUAL(spelled_file_open(&file, built_program_path(&program, "bare")), 0);
    CHECK_EQUAL(find("plain"), 0);
    CHECK(find(text_of("", start + 1)) == 1 && list.ones[0].start == start && list.ones[0].name == NULL);
    CHECK_EQUAL(find("sq.cc:6"), 0);
    spelled_list_deinit(&list);
    end();
}

static void places_in_files_are_as_good_as_addresses(void)
{
    uint64_t start;

    begin("g++ -O1 -no-pie -o sq sq.cc", "sq");
    CHECK_EQUAL(find("plain"), 1);
    start = list.ones[0].start;
    CHECK(start > 0x400000);
    CHECK(find(text_of("", start - 0x400000)) == 1 && list.ones[0].start == start);
    spelled_list_deinit(&list);
    end();
}

static size_t offered;

static void take_name(void *context, const char *name, size_t length)
{
    (void)context;
    offered += length == 8 && memcmp(name, "Sq::area", 8) == 0;
}

static void names_are_offered_as_people_write_them(void)
{
    struct spelled_file borrowed;

    begin("g++ -O1 -o sq sq.cc", "sq");
    spelled_file_borrow(&borrowed, file.path, file.symbols, NULL);
    spelled_file_offer(&borrowed, take_name, NULL);
    CHECK_EQUAL(offered, 2);
    spelled_file_close(&borrowed);
    CHECK_EQUAL(find("plain"), 1);
    spelled_list_deinit(&list);
    end();
}

static void files_that_are_none_are_refused(void)
{
    CHECK_EQUAL(spelled_file_open(&file, "/nowhere"), -ENOENT);
    CHECK(spelled_file_open(&file, "/etc/passwd") != 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_found_however_they_are_spelled),
    CHECK_CASE(functions_without_names_are_found_by_address),
    CHECK_CASE(places_in_files_are_as_good_as_addresses),
    CHECK_CASE(names_are_offered_as_people_write_them),
    CHECK_CASE(files_that_are_none_are_refused),
};

CHECK_MAIN(cases)
