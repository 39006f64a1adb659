/* SPDX-License-Identifier: MIT */
#include "symbolize/dwarf/dwarf_line_table.h"

#include "support/check.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>

static const struct dwarf_unit_header header = {.version = 4, .sizes = {4, 8, 4}};
static uint8_t bytes[512];
static size_t used;
static struct dwarf_file file;
static struct dwarf_unit_view unit = {.file = &file, .header = &header};
static struct dwarf_line_table table;
static struct dwarf_rows rows;

static void put(const void *some, size_t size_bytes)
{
    memcpy(bytes + used, some, size_bytes);
    used += size_bytes;
}

#define PUT(...) put((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The lengths, when all is there. */
static void finish(size_t program)
{
    uint32_t length = (uint32_t)used - 4;
    size_t at = bytes[4] >= 5 ? 8 : 6;
    uint32_t header_bytes = (uint32_t)(program - at - 4);

    memcpy(bytes, &length, 4);
    memcpy(bytes + at, &header_bytes, 4);
    file.sections.line = (struct dwarf_span){bytes, used};
}

static void put_program(void)
{
    PUT(0, 9, DWARF_LNE_SET_ADDRESS, 0, 0x10, 0, 0, 0, 0, 0, 0);
    PUT(DWARF_LNS_ADVANCE_LINE, 9, DWARF_LNS_SET_COLUMN, 5, DWARF_LNS_COPY); /* 0x1000: line 10 */
    PUT(13 + 14 * 2 + 3 + 1);                                                /* 2 bytes, 1 line */
    PUT(DWARF_LNS_SET_FILE, 2, DWARF_LNS_CONST_ADD_PC, DWARF_LNS_FIXED_ADVANCE_PC, 1, 0, DWARF_LNS_SET_ISA, 3);
    PUT(DWARF_LNS_ADVANCE_LINE, 0x7d, DWARF_LNS_NEGATE_STMT, DWARF_LNS_COPY); /* 17 and 1 bytes, -3 lines */
    PUT(DWARF_LNS_ADVANCE_PC, 4, 0, 1, DWARF_LNE_END_SEQUENCE);
}

static void put_parameters(void)
{
    PUT(1, 1, 1, (uint8_t)-3, 14, 13);
    PUT(0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
}

static void begin_old(void)
{
    used = 0;
    PUT(0, 0, 0, 0, 4, 0, 0, 0, 0, 0);
    put_parameters();
    put("inc\0/abs\0\0main.c\0\0\0\0part.h\0\1\0\0far.h\0\2\0\0/own.c\0\0\0\0", 48);
    PUT(0);
}

static const char *path_of(uint64_t number)
{
    static char path[256];

    return dwarf_line_table_path(&table, number, "/srcs", path, sizeof(path)) ? path : "none";
}

static void check_rows(void)
{
    rows.count = 0;
    CHECK_EQUAL(dwarf_line_table_run(&table, &rows), 0);
    CHECK_EQUAL(rows.count, 4);
    CHECK(rows.rows[0].address == 0x1000 && rows.rows[0].line == 10 && rows.rows[0].column == 5);
    CHECK(rows.rows[0].file == 1 && !rows.rows[0].is_end);
    CHECK(rows.rows[1].address == 0x1002 && rows.rows[1].line == 11);
    CHECK(rows.rows[2].address == 0x1014 && rows.rows[2].line == 8 && rows.rows[2].file == 2);
    CHECK(rows.rows[3].address == 0x1018 && rows.rows[3].is_end);
}

static void tables_of_dwarf_4_are_read(void)
{
    size_t program;

    begin_old();
    program = used;
    put_program();
    finish(program);
    CHECK_EQUAL(dwarf_line_table_read(&table, &unit, 0), 0);
    CHECK_TEXT(path_of(0), "none");
    CHECK_TEXT(path_of(1), "/srcs/main.c");
    CHECK_TEXT(path_of(2), "/srcs/inc/part.h");
    CHECK_TEXT(path_of(3), "/abs/far.h");
    CHECK_TEXT(path_of(4), "/own.c");
    CHECK_TEXT(path_of(5), "none");
    check_rows();
    dwarf_line_table_deinit(&table);
}

static void tables_of_dwarf_5_are_read(void)
{
    static const uint8_t line_str[] = "/srcs\0inc\0main.c\0part.h";
    size_t program;

    file.sections.line_str = (struct dwarf_span){line_str, sizeof(line_str)};
    used = 0;
    PUT(0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0);
    put_parameters();
    PUT(1, DWARF_LNCT_PATH, DWARF_FORM_LINE_STRP, 2, 0, 0, 0, 0, 6, 0, 0, 0);
    PUT(3, DWARF_LNCT_PATH, DWARF_FORM_LINE_STRP, DWARF_LNCT_DIRECTORY_INDEX, DWARF_FORM_UDATA, 5, DWARF_FORM_DATA16);
    PUT(3, 10, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    PUT(10, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    PUT(17, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    program = used;
    put_program();
    finish(program);
    CHECK_EQUAL(dwarf_line_table_read(&table, &unit, 0), 0);
    CHECK_TEXT(path_of(0), "/srcs/main.c");
    CHECK_TEXT(path_of(1), "/srcs/main.c");
    CHECK_TEXT(path_of(2), "/srcs/inc/part.h");
    CHECK_TEXT(path_of(3), "none");
    check_rows();
    dwarf_line_table_deinit(&table);
}

/* Wherever it is cut off, it is read or refused. */
static void what_is_cut_off_or_damaged_is_refused(void)
{
    size_t program;
    uint8_t whole[sizeof(bytes)];
    size_t size_bytes;

    begin_old();
    program = used;
    put_program();
    finish(program);
    memcpy(whole, bytes, sizeof(whole));
    size_bytes = used;
    for (size_t i = 0; i < size_bytes; i++) {
        file.sections.line.size_bytes = i;
        CHECK_EQUAL(dwarf_line_table_read(&table, &unit, 0), -ENOTSUP);
    }
    file.sections.line.size_bytes = size_bytes;
    for (size_t i = 0; i < size_bytes; i++)
        for (unsigned value = 0; value < 256; value += 5) {
            memcpy(bytes, whole, sizeof(whole));
            bytes[i] = (uint8_t)value;
            if (dwarf_line_table_read(&table, &unit, 0) != 0)
                continue;
            rows.count = 0;
            (void)!dwarf_line_table_run(&table, &rows);
            (void)path_of(1);
            dwarf_line_table_deinit(&table);
        }
    free(rows.rows);
}

static const struct check_case cases[] = {
    CHECK_CASE(tables_of_dwarf_4_are_read),
    CHECK_CASE(tables_of_dwarf_5_are_read),
    CHECK_CASE(what_is_cut_off_or_damaged_is_refused),
};

CHECK_MAIN(cases)
