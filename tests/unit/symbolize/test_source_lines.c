/* SPDX-License-Identifier: MIT */
/* This program's own lines: found with and without threads and a cache, they are the same. */
#include "symbolize/source_lines.h"

#include "support/check.h"
#include "support/line_printer.h"
#include "support/trace_folder.h"
#include "symbolize/dwarf/dwarf_code.h"

#include <errno.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

static const uint8_t id[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static struct trace_folder folder;
static uint64_t *addresses;
static size_t count;

static uint64_t add(uint64_t sum, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum * 31;
}

/* All that is said of all addresses, as a number. */
static uint64_t sum_of(struct source_lines *lines, size_t *found_out)
{
    uint64_t sum = 0;

    *found_out = 0;
    for (size_t i = 0; i < count; i++) {
        struct source_place place = {.table = NULL};

        if (!source_lines_find(lines, addresses[i], &place))
            continue;
        *found_out += place.line != NULL;
        sum = sum * 31 + (place.line == NULL ? 0 : place.line->line);
        for (; place.scope != NULL; place.scope = code_table_parent(place.table, place.scope))
            sum = add(sum + place.scope->line, code_table_name(place.table, place.scope));
    }
    return sum;
}

static struct code_table_cache_name cache_name(void)
{
    return (struct code_table_cache_name){folder.path, id, sizeof(id)};
}

static void threads_and_cache_change_nothing(void)
{
    struct source_lines lines;
    size_t found, found_again;
    uint64_t sum;

    source_lines_open(&lines, SELF, "", (struct code_table_cache_name){.folder = NULL});
    sum = sum_of(&lines, &found);
    CHECK(found > count / 2);
    source_lines_close(&lines);
    /* Made by threads, and kept. */
    source_lines_open(&lines, SELF, "", cache_name());
    source_lines_prepare(&lines, addresses, count, 4);
    CHECK(lines.has_new && lines.cache_fd < 0);
    CHECK_EQUAL(sum_of(&lines, &found_again), sum);
    source_lines_close(&lines);
    /* Out of the cache: there is nothing to be read from the file. */
    source_lines_open(&lines, SELF, "", cache_name());
    source_lines_prepare(&lines, addresses, count, 4);
    CHECK(lines.cache_fd >= 0 && lines.code == NULL && !lines.has_new);
    CHECK_EQUAL(sum_of(&lines, &found_again), sum);
    CHECK_EQUAL(found, found_again);
    source_lines_close(&lines);
}

static void the_cache_grows_with_what_is_asked(void)
{
    struct source_lines lines;
    uint64_t sum, sum_again;
    size_t found;

    CHECK_EQUAL(unlinkat(folder.fd, "0102030405060708.code", 0), 0);
    source_lines_open(&lines, SELF, "", cache_name());
    source_lines_prepare(&lines, addresses, count / 3, 2);
    source_lines_close(&lines);
    source_lines_open(&lines, SELF, "", cache_name());
    sum = sum_of(&lines, &found);
    CHECK(lines.has_new && lines.code != NULL);
    source_lines_close(&lines);
    source_lines_open(&lines, SELF, "", cache_name());
    sum_again = sum_of(&lines, &found);
    CHECK_EQUAL(sum_again, sum);
    CHECK(!lines.has_new && lines.code == NULL);
    source_lines_close(&lines);
}

/* The same code with its debug information in another form: what is kept is for places in the former one. */
static void a_cache_of_other_information_is_replaced(void)
{
    static const struct dwarf_range wrong = {0, UINT64_MAX, 1};
    struct code_table_cache_name name = cache_name();
    struct source_lines lines;
    struct code_units units;
    size_t found;

    CHECK_EQUAL(code_units_make(&units, &wrong, 1), 0);
    CHECK_EQUAL(code_table_cache_write(&name, &units, -1), 0);
    code_units_deinit(&units);
    source_lines_open(&lines, SELF, "", name);
    (void)sum_of(&lines, &found);
    CHECK(found > count / 2);
    CHECK(lines.units.unit_count > 1 && lines.former.unit_count == 1);
    source_lines_close(&lines);
}

static void files_without_lines_have_none(void)
{
    struct source_lines lines;
    struct source_place place;

    source_lines_open(&lines, "/no/such/file", "", (struct code_table_cache_name){.folder = NULL});
    source_lines_prepare(&lines, addresses, count, 4);
    CHECK(!source_lines_find(&lines, addresses[0], &place));
    source_lines_close(&lines);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(threads_and_cache_change_nothing),
        CHECK_CASE(the_cache_grows_with_what_is_asked),
        CHECK_CASE(a_cache_of_other_information_is_replaced),
        CHECK_CASE(files_without_lines_have_none),
    };
    struct dwarf_code *code;
    int status;

    if (dwarf_code_open(SELF, "", &code) == -ENOTSUP)
        check_skip("this build does not read debug information");
    dwarf_code_close(code);
    trace_folder_init(&folder);
    addresses = line_printer_addresses(SELF, 3000, &count);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    free(addresses);
    trace_folder_deinit(&folder);
    return status;
}
