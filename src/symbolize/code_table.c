/* SPDX-License-Identifier: MIT */
#include "symbolize/code_table.h"

#include "base/partition_point.h"

#include <errno.h>

/* ---- checking ---------------------------------------------------------------------------------------------------- */

static bool has_sorted_lines(const struct code_table *table)
{
    for (uint32_t i = 0; i < table->header->line_count; i++)
        if ((i != 0 && table->lines[i].offset <= table->lines[i - 1].offset) ||
            table->lines[i].file > table->header->file_count)
            return false;
    return true;
}

static bool has_sorted_spans(const struct code_table *table)
{
    for (uint32_t i = 0; i < table->header->span_count; i++)
        if ((i != 0 && table->spans[i].offset <= table->spans[i - 1].offset) ||
            table->spans[i].scope > table->header->scope_count)
            return false;
    return true;
}

static bool has_texts(const struct code_table *table)
{
    const struct code_table_header *header = table->header;

    if (header->text_bytes == 0 || table->texts[header->text_bytes - 1] != '\0')
        return false;
    for (uint32_t i = 0; i < header->scope_count; i++)
        if (table->scopes[i].name >= header->text_bytes || table->scopes[i].parent > i ||
            table->scopes[i].file > header->file_count)
            return false;
    for (uint32_t i = 0; i < header->file_count; i++)
        if (table->files[i] >= header->text_bytes)
            return false;
    return true;
}

int code_table_check(const void *block, size_t size_bytes, struct code_table *table_out)
{
    const struct code_table_header *header = block;
    struct code_table table = {.header = header};
    uint64_t needed = sizeof(*header);

    if (size_bytes < sizeof(*header) || (uintptr_t)block % _Alignof(struct code_table_header) != 0)
        return -EPROTO;
    needed += (uint64_t)header->line_count * sizeof(struct code_line);
    needed += (uint64_t)header->span_count * sizeof(struct code_span);
    needed += (uint64_t)header->scope_count * sizeof(struct code_scope);
    needed += (uint64_t)header->file_count * sizeof(uint32_t) + header->text_bytes;
    if (needed != header->size_bytes || needed > size_bytes)
        return -EPROTO;
    table.lines = (const void *)(header + 1);
    table.spans = (const void *)(table.lines + header->line_count);
    table.scopes = (const void *)(table.spans + header->span_count);
    table.files = (const void *)(table.scopes + header->scope_count);
    table.texts = (const void *)(table.files + header->file_count);
    if (!has_sorted_lines(&table) || !has_sorted_spans(&table) || !has_texts(&table))
        return -EPROTO;
    *table_out = table;
    return 0;
}

/* ---- asking ------------------------------------------------------------------------------------------------------ */

static bool get_offset(const struct code_table *table, uint64_t address, uint32_t *offset_out)
{
    if (address < table->header->base || address - table->header->base > UINT32_MAX)
        return false;
    *offset_out = (uint32_t)(address - table->header->base);
    return true;
}

const struct code_line *code_table_line(const struct code_table *table, uint64_t address)
{
    size_t low;
    uint32_t offset;

    if (!get_offset(table, address, &offset))
        return NULL;
    low = PARTITION_POINT(table->header->line_count, i, table->lines[i].offset <= offset);
    return low == 0 || table->lines[low - 1].file == 0 ? NULL : &table->lines[low - 1];
}

const struct code_scope *code_table_scope(const struct code_table *table, uint64_t address)
{
    size_t low;
    uint32_t offset;

    if (!get_offset(table, address, &offset))
        return NULL;
    low = PARTITION_POINT(table->header->span_count, i, table->spans[i].offset <= offset);
    return low == 0 || table->spans[low - 1].scope == 0 ? NULL : &table->scopes[table->spans[low - 1].scope - 1];
}

const struct code_scope *code_table_parent(const struct code_table *table, const struct code_scope *scope)
{
    return scope->parent == 0 ? NULL : &table->scopes[scope->parent - 1];
}

const char *code_table_name(const struct code_table *table, const struct code_scope *scope)
{
    return table->texts + scope->name;
}

const char *code_table_file(const struct code_table *table, uint16_t file)
{
    return file == 0 ? NULL : table->texts + table->files[file - 1];
}
