/* SPDX-License-Identifier: MIT */
/*
 * The line table of a unit: its files, and the program that makes rows of addresses and lines. Nothing of it is
 * trusted. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_DWARF_DWARF_LINE_TABLE_H
#define GAIT_SYMBOLIZE_DWARF_DWARF_LINE_TABLE_H

#include "base/attributes.h"
#include "symbolize/dwarf/dwarf_entry.h"

struct dwarf_line_file {
    const char *name; /* NULL: there is none with that number */
    uint64_t folder;
};

struct dwarf_line_table {
    const struct dwarf_unit_view *unit;
    uint16_t version;
    struct dwarf_sizes sizes;
    uint8_t insn_bytes_min;
    int8_t line_base;
    uint8_t line_range;
    uint8_t opcode_base;
    const uint8_t *operand_counts; /* of each opcode, the first one is number 1 */
    const char **folders;
    size_t folder_count;
    struct dwarf_line_file *files; /* by the numbers that entries and rows use */
    size_t file_count;
    struct dwarf_cursor program;
    uint64_t read_bytes; /* that all of it has */
};

/*
 * Reads the beginning of the table at that place. -ENOTSUP: it is damaged, or has something that is not known here;
 * -ENOMEM.
 */
MUST_USE int dwarf_line_table_read(struct dwarf_line_table *table_out, const struct dwarf_unit_view *unit,
                                   uint64_t place);
void dwarf_line_table_deinit(struct dwarf_line_table *table);

/*
 * The path of a file, in front of which the unit's folder is put where it is relative; NULL: no folder is known. False:
 * there is no such file.
 */
bool dwarf_line_table_path(const struct dwarf_line_table *table, uint64_t file, const char *unit_folder, char *path,
                           size_t path_bytes);

/* From this address on there is that line, up to the next one of the same sequence. */
struct dwarf_row {
    uint64_t address;
    uint32_t file;
    uint32_t line;
    uint16_t column; /* 0: not known, or too large */
    bool is_end;     /* of a sequence: there is no line from here on */
};

struct dwarf_rows {
    struct dwarf_row *rows;
    size_t count;
    size_t capacity;
};

/* Adds all rows, in the table's order. -ENOTSUP, -ENOMEM as above. */
MUST_USE int dwarf_line_table_run(const struct dwarf_line_table *table, struct dwarf_rows *rows);

#endif
