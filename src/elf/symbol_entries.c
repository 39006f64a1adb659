/* SPDX-License-Identifier: MIT */
/* That tables are inside of the file was checked by symbols.c; names are checked here. */
#include "elf/symbol_entries.h"

#include "base/memory_functions.h"
#include "elf/symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define KIND(info)    ((info)&15u)
#define BINDING(info) ((info) >> 4)

/* Up to its NUL, or the @ of a version; 0: there is none. */
static size_t measure_name(const char *name, uint64_t bytes_max)
{
    size_t length = 0;

    while (length < bytes_max && name[length] != '\0' && (name[length] != '@' || length == 0))
        length++;
    return length == bytes_max ? 0 : length;
}

int elf_symbol_entry_get(const struct elf_symbols *symbols, uint64_t which, struct elf_symbol_entry *entry_out)
{
    bool is_dynamic = which >= symbols->tables[0].count;
    const struct elf_symbol_table *table = &symbols->tables[is_dynamic];
    const char *names = (const char *)symbols->bytes + table->names_offset;
    Elf64_Sym entry;
    size_t length;

    if (is_dynamic)
        which -= symbols->tables[0].count;
    if (which >= table->count)
        return -ENOENT;
    memcpy(&entry, symbols->bytes + table->offset + which * sizeof(entry), sizeof(entry));
    if (entry.st_name >= table->names_bytes)
        return -ENOENT;
    length = measure_name(names + entry.st_name, table->names_bytes - entry.st_name);
    if (length == 0)
        return -ENOENT;
    *entry_out = (struct elf_symbol_entry){
        .address = entry.st_value,
        .size_bytes = entry.st_size,
        .kind = KIND(entry.st_info),
        .binding = BINDING(entry.st_info),
        .section = entry.st_shndx,
        .is_dynamic = is_dynamic,
        .name = names + entry.st_name,
        .name_length = length,
    };
    return 0;
}

static bool has_name(const struct elf_symbol_entry *entry, const char *name)
{
    for (size_t i = 0; i < entry->name_length; i++)
        if (name[i] != entry->name[i])
            return false;
    return name[entry->name_length] == '\0';
}

int elf_symbol_entry_find(const struct elf_symbols *symbols, const char *name, struct elf_symbol_entry *entry_out)
{
    struct elf_symbol_entry entry;

    for (uint64_t i = 0; i < elf_symbols_count(symbols); i++)
        if (elf_symbol_entry_get(symbols, i, &entry) == 0 && entry.section != SHN_UNDEF && has_name(&entry, name)) {
            *entry_out = entry;
            return 0;
        }
    return -ENOENT;
}
