/* SPDX-License-Identifier: MIT */
/* All units of this program; and what is left of them when they are damaged. */
#include "symbolize/dwarf/dwarf_reader.h"

#include "support/check.h"
#include "support/own_dwarf.h"
#include "support/random.h"

#include <errno.h>

#define ROUNDS 12

static struct own_dwarf own;

static size_t make_all(struct dwarf_reader *reader, size_t *refused)
{
    size_t line_count = 0;

    for (size_t i = 0; i < reader->file->unit_count; i++) {
        struct code_table table;
        size_t size_bytes;
        void *block;
        int result = dwarf_reader_make_table(reader, reader->file->units[i].first_entry, &block, &size_bytes);

        *refused += result != 0;
        if (result != 0)
            continue;
        CHECK_EQUAL(code_table_check(block, size_bytes, &table), 0);
        line_count += table.header->line_count;
        free(block);
    }
    return line_count;
}

static void all_units_are_read(void)
{
    struct dwarf_reader reader;
    size_t refused = 0, count;
    size_t size_bytes;
    void *block;

    dwarf_reader_init(&reader, &own.dwarf, &own.extent);
    count = make_all(&reader, &refused);
    CHECK_EQUAL(refused, 0);
    CHECK(count > 1000);
    /* Again, with what is known by now. */
    CHECK_EQUAL(make_all(&reader, &refused), count);
    CHECK_EQUAL(dwarf_reader_make_table(&reader, own.dwarf.units[0].first_entry + 1, &block, &size_bytes), -ENOENT);
    CHECK_EQUAL(dwarf_reader_make_table(&reader, UINT64_MAX, &block, &size_bytes), -ENOENT);
    dwarf_reader_deinit(&reader);
}

static void lines_are_those_of_the_source(void)
{
    uint64_t address = own_dwarf_place((const void *)lines_are_those_of_the_source);
    uint32_t line = __LINE__;
    const struct code_line *found = NULL;
    struct dwarf_reader reader;
    struct code_table table;
    size_t size_bytes;
    void *block = NULL;

    dwarf_reader_init(&reader, &own.dwarf, &own.extent);
    for (size_t i = 0; i < own.dwarf.unit_count && found == NULL; i++) {
        free(block);
        CHECK_EQUAL(dwarf_reader_make_table(&reader, own.dwarf.units[i].first_entry, &block, &size_bytes), 0);
        CHECK_EQUAL(code_table_check(block, size_bytes, &table), 0);
        found = code_table_line(&table, address);
    }
    CHECK(found != NULL && found->line >= line - 3 && found->line <= line + 10);
    CHECK(found != NULL && strstr(code_table_file(&table, found->file), "test_dwarf_reader.c") != NULL);
    free(block);
    dwarf_reader_deinit(&reader);
}

/* Less is found, or it is refused, but nothing worse happens. */
static void damaged_information_does_no_harm(void)
{
    static const size_t places[] = {offsetof(struct dwarf_sections, info), offsetof(struct dwarf_sections, abbrev),
                                    offsetof(struct dwarf_sections, line), offsetof(struct dwarf_sections, rnglists)};
    struct random random;

    random_init(&random, 31);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dwarf_sections sections = own.sections;
        struct dwarf_span *span = (struct dwarf_span *)((char *)&sections + places[round % 4]);
        uint8_t *copy = malloc(span->size_bytes + 1);
        struct dwarf_reader reader;
        struct dwarf_file file;
        size_t refused = 0;

        if (span->size_bytes != 0)
            memcpy(copy, span->bytes, span->size_bytes);
        for (size_t i = 0; i < 4u << (round % 12) && span->size_bytes != 0; i++)
            copy[random_below(&random, span->size_bytes)] = (uint8_t)random_below(&random, 256);
        span->bytes = copy;
        CHECK_EQUAL(dwarf_file_init(&file, &sections, NULL), 0);
        dwarf_reader_init(&reader, &file, &own.extent);
        (void)make_all(&reader, &refused);
        dwarf_reader_deinit(&reader);
        dwarf_file_deinit(&file);
        free(copy);
    }
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(all_units_are_read),
        CHECK_CASE(lines_are_those_of_the_source),
        CHECK_CASE(damaged_information_does_no_harm),
    };
    int status;

    own_dwarf_open(&own, NULL);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    own_dwarf_close(&own);
    return status;
}
