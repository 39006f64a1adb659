/* SPDX-License-Identifier: MIT */
/*
 * Up to DWARF 4 the folders and files are lists that end with an empty name, and files are numbered from 1 on; in DWARF
 * 5 a list says itself what its entries have, and files are numbered from 0 on.
 */
#include "symbolize/dwarf/dwarf_line_table.h"

#include "hosted/growing_array.h"
#include "symbolize/dwarf/dwarf_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMATS_MAX 16
#define ROWS_MAX    (1u << 27)
#define FILES_MAX   (1u << 24)

/* ---- lists of names ---------------------------------------------------------------------------------------------- */

struct format {
    uint64_t content;
    uint64_t form;
};

static int add_folder(struct dwarf_line_table *table, const char *name)
{
    if (table->folder_count > FILES_MAX || ARRAY_RESERVE_NEXT(table->folders, table->folder_count) != 0)
        return -ENOMEM;
    table->folders[table->folder_count++] = name;
    return 0;
}

static int add_file(struct dwarf_line_table *table, const char *name, uint64_t folder)
{
    if (table->file_count > FILES_MAX || ARRAY_RESERVE_NEXT(table->files, table->file_count) != 0)
        return -ENOMEM;
    table->files[table->file_count++] = (struct dwarf_line_file){name, folder};
    return 0;
}

/* A file as up to DWARF 4: its folder, its time and its size are behind the name. */
static int read_old_file(struct dwarf_line_table *table, struct dwarf_cursor *cursor, const char *name)
{
    uint64_t folder = dwarf_cursor_uleb(cursor);

    dwarf_cursor_skip_leb(cursor);
    dwarf_cursor_skip_leb(cursor);
    return cursor->has_failed ? -ENOTSUP : add_file(table, name, folder);
}

static int read_old_lists(struct dwarf_line_table *table, struct dwarf_cursor *cursor)
{
    const char *name;
    /* Number 0 is for the unit's own folder, and for no file. */
    int result = add_folder(table, "");

    while (result == 0 && (name = dwarf_cursor_text(cursor)) != NULL && *name != '\0')
        result = add_folder(table, name);
    if (result == 0)
        result = add_file(table, NULL, 0);
    while (result == 0 && (name = dwarf_cursor_text(cursor)) != NULL && *name != '\0')
        result = read_old_file(table, cursor, name);
    return result != 0 ? result : cursor->has_failed ? -ENOTSUP : 0;
}

/* A value in a list: a text, or a number. */
static int read_listed(const struct dwarf_line_table *table, struct dwarf_cursor *cursor, const struct format *format,
                       struct dwarf_line_file *file)
{
    struct dwarf_value value = {.form = (uint16_t)format->form};
    struct dwarf_step step;

    if (dwarf_form_step(format->form, table->sizes, &step) != 0)
        return -ENOTSUP;
    if (format->content == DWARF_LNCT_PATH && format->form == DWARF_FORM_STRING) {
        file->name = dwarf_cursor_text(cursor);
        return 0;
    }
    if (step.kind == DWARF_STEP_LEB)
        value.number = dwarf_cursor_uleb(cursor);
    else if (step.kind == DWARF_STEP_BYTES && step.size_bytes <= 8)
        value.number = dwarf_cursor_number(cursor, step.size_bytes);
    else
        dwarf_step_take(step, cursor);
    if (format->content == DWARF_LNCT_PATH)
        file->name = dwarf_value_text(table->unit, &value);
    else if (format->content == DWARF_LNCT_DIRECTORY_INDEX)
        file->folder = value.number;
    return 0;
}

/* Folders and files have the same shape. */
static int read_list(struct dwarf_line_table *table, struct dwarf_cursor *cursor, bool has_files)
{
    struct format formats[FORMATS_MAX];
    uint8_t format_count = dwarf_cursor_byte(cursor);
    uint64_t count;
    int result = 0;

    if (format_count > FORMATS_MAX)
        return -ENOTSUP;
    for (uint8_t i = 0; i < format_count; i++) {
        formats[i].content = dwarf_cursor_uleb(cursor);
        formats[i].form = dwarf_cursor_uleb(cursor);
    }
    count = dwarf_cursor_uleb(cursor);
    /* Entries take at least a byte each. */
    if (cursor->has_failed || count > dwarf_cursor_left(cursor))
        return -ENOTSUP;
    for (uint64_t i = 0; i < count && result == 0; i++) {
        struct dwarf_line_file file = {.folder = 0};

        for (uint8_t k = 0; k < format_count && result == 0; k++)
            result = read_listed(table, cursor, &formats[k], &file);
        if (result == 0 && cursor->has_failed)
            result = -ENOTSUP;
        if (result == 0)
            result = has_files ? add_file(table, file.name, file.folder) : add_folder(table, file.name);
    }
    return result;
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

static int read_parameters(struct dwarf_line_table *table, struct dwarf_cursor *cursor)
{
    uint64_t header_bytes;

    if (table->version >= 5) {
        table->sizes.address_bytes = dwarf_cursor_byte(cursor);
        /* Segments. */
        if (dwarf_cursor_byte(cursor) != 0)
            return -ENOTSUP;
    }
    header_bytes = dwarf_cursor_number(cursor, table->sizes.offset_bytes);
    if (cursor->has_failed || header_bytes > dwarf_cursor_left(cursor))
        return -ENOTSUP;
    table->program = *cursor;
    table->program.at += header_bytes;
    table->insn_bytes_min = dwarf_cursor_byte(cursor);
    /* Several operations in an instruction. */
    if (table->version >= 4 && dwarf_cursor_byte(cursor) > 1)
        return -ENOTSUP;
    (void)dwarf_cursor_byte(cursor);
    table->line_base = (int8_t)dwarf_cursor_byte(cursor);
    table->line_range = dwarf_cursor_byte(cursor);
    table->opcode_base = dwarf_cursor_byte(cursor);
    if (cursor->has_failed || table->line_range == 0 || table->opcode_base == 0)
        return -ENOTSUP;
    table->operand_counts = cursor->at;
    dwarf_cursor_skip(cursor, table->opcode_base - 1u);
    return cursor->has_failed ? -ENOTSUP : 0;
}

static int read_table(struct dwarf_line_table *table, uint64_t place)
{
    struct dwarf_cursor cursor = dwarf_cursor_at(table->unit->file->sections.line, place);
    uint64_t length = dwarf_cursor_length(&cursor, &table->sizes.offset_bytes);
    int result;

    if (cursor.has_failed || length > dwarf_cursor_left(&cursor))
        return -ENOTSUP;
    cursor.end = cursor.at + length;
    table->read_bytes = length;
    table->version = (uint16_t)dwarf_cursor_number(&cursor, 2);
    if (table->version < 2 || table->version > 5)
        return -ENOTSUP;
    result = read_parameters(table, &cursor);
    if (result != 0)
        return result;
    if (table->version < 5)
        return read_old_lists(table, &cursor);
    result = read_list(table, &cursor, false);
    return result == 0 ? read_list(table, &cursor, true) : result;
}

int dwarf_line_table_read(struct dwarf_line_table *table_out, const struct dwarf_unit_view *unit, uint64_t place)
{
    struct dwarf_line_table table = {.unit = unit, .sizes = unit->header->sizes};
    int result = read_table(&table, place);

    if (result != 0) {
        dwarf_line_table_deinit(&table);
        return result;
    }
    *table_out = table;
    return 0;
}

void dwarf_line_table_deinit(struct dwarf_line_table *table)
{
    free(table->folders);
    free(table->files);
    *table = (struct dwarf_line_table){.file_count = 0};
}

/* ---- paths ------------------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

bool dwarf_line_table_path(const struct dwarf_line_table *table, uint64_t file, const char *unit_folder, char *path,
                           size_t path_bytes)
{
    const struct dwarf_line_file *found = file < table->file_count ? &table->files[file] : NULL;
    const char *folder = "";

    if (found == NULL || found->name == NULL)
        return false;
    if (found->name[0] == '/') {
        snprintf(path, path_bytes, "%s", found->name);
        return true;
    }
    if (found->folder < table->folder_count && table->folders[found->folder] != NULL)
        folder = table->folders[found->folder];
    snprintf(path, path_bytes, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", found->name);
    if (path[0] != '/' && unit_folder != NULL && !is_below(path, unit_folder))
        snprintf(path, path_bytes, "%s/%s%s%s", unit_folder, folder, folder[0] == '\0' ? "" : "/", found->name);
    return true;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

struct line_machine {
    const struct dwarf_line_table *table;
    struct dwarf_cursor cursor;
    struct dwarf_rows *rows;
    struct dwarf_row row; /* that comes next */
    int result;
};

static void put_row(struct line_machine *machine)
{
    struct dwarf_rows *rows = machine->rows;

    if (rows->count >= ROWS_MAX || ARRAY_RESERVE(rows->rows, rows->capacity, rows->count + 1) != 0) {
        machine->result = -ENOMEM;
        return;
    }
    rows->rows[rows->count++] = machine->row;
}

static void begin_sequence(struct line_machine *machine)
{
    machine->row = (struct dwarf_row){.file = 1, .line = 1};
}

static void run_extended(struct line_machine *machine)
{
    uint64_t size_bytes = dwarf_cursor_uleb(&machine->cursor);
    struct dwarf_cursor inner = machine->cursor;

    if (size_bytes == 0 || size_bytes > dwarf_cursor_left(&inner)) {
        machine->result = -ENOTSUP;
        return;
    }
    machine->cursor.at += size_bytes;
    inner.end = machine->cursor.at;
    switch (dwarf_cursor_byte(&inner)) {
    case DWARF_LNE_END_SEQUENCE:
        machine->row.is_end = true;
        put_row(machine);
        begin_sequence(machine);
        break;
    case DWARF_LNE_SET_ADDRESS:
        machine->row.address = dwarf_cursor_number(&inner, size_bytes - 1 > 8 ? 8 : (unsigned)(size_bytes - 1));
        break;
    case DWARF_LNE_DEFINE_FILE:
        /* Files that the program itself adds: compilers do not. */
        machine->result = -ENOTSUP;
        break;
    default:
        break;
    }
}

static void run_standard(struct line_machine *machine, uint8_t opcode)
{
    const struct dwarf_line_table *table = machine->table;
    struct dwarf_cursor *cursor = &machine->cursor;
    uint64_t number;

    switch (opcode) {
    case DWARF_LNS_EXTENDED:
        run_extended(machine);
        break;
    case DWARF_LNS_COPY:
        put_row(machine);
        break;
    case DWARF_LNS_ADVANCE_PC:
        machine->row.address += dwarf_cursor_uleb(cursor) * table->insn_bytes_min;
        break;
    case DWARF_LNS_ADVANCE_LINE:
        machine->row.line += (uint32_t)dwarf_cursor_sleb(cursor);
        break;
    case DWARF_LNS_SET_FILE:
        number = dwarf_cursor_uleb(cursor);
        machine->row.file = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
        break;
    case DWARF_LNS_SET_COLUMN:
        number = dwarf_cursor_uleb(cursor);
        machine->row.column = number > UINT16_MAX ? 0 : (uint16_t)number;
        break;
    case DWARF_LNS_CONST_ADD_PC:
        machine->row.address += (255u - table->opcode_base) / table->line_range * table->insn_bytes_min;
        break;
    case DWARF_LNS_FIXED_ADVANCE_PC:
        machine->row.address += dwarf_cursor_number(cursor, 2);
        break;
    case DWARF_LNS_NEGATE_STMT:
    case DWARF_LNS_SET_BASIC_BLOCK:
    case DWARF_LNS_SET_PROLOGUE_END:
    case DWARF_LNS_SET_EPILOGUE_BEGIN:
        break;
    default:
        for (uint8_t i = 0; i < table->operand_counts[opcode - 1]; i++)
            dwarf_cursor_skip_leb(cursor);
        break;
    }
}

int dwarf_line_table_run(const struct dwarf_line_table *table, struct dwarf_rows *rows)
{
    struct line_machine machine = {.table = table, .cursor = table->program, .rows = rows};

    begin_sequence(&machine);
    while (machine.cursor.at != machine.cursor.end && machine.result == 0) {
        uint8_t opcode = dwarf_cursor_byte(&machine.cursor);

        if (opcode < table->opcode_base) {
            run_standard(&machine, opcode);
            continue;
        }
        opcode = (uint8_t)(opcode - table->opcode_base);
        machine.row.address += (uint64_t)(opcode / table->line_range) * table->insn_bytes_min;
        machine.row.line += (uint32_t)(table->line_base + opcode % table->line_range);
        put_row(&machine);
    }
    return machine.result != 0 ? machine.result : machine.cursor.has_failed ? -ENOTSUP : 0;
}
