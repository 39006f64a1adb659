/* SPDX-License-Identifier: MIT */
/* Relocations of the sections that belong to the dynamic symbols; symbols.c has found those inside of the file. */
#include "elf/imports.h"

#include "base/memory_functions.h"
#include "elf/symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>

#define TABLE_DYNAMIC 1 /* of elf_symbols.tables */

static bool is_whole(const struct elf_symbols *symbols, uint64_t offset, uint64_t size_bytes)
{
    return offset <= symbols->size_bytes && size_bytes <= symbols->size_bytes - offset;
}

int elf_imports_name(const struct elf_symbols *symbols, uint64_t which, const char **name_out, size_t *length_out)
{
    const struct elf_symbol_table *table = &symbols->tables[TABLE_DYNAMIC];
    const char *name;
    Elf64_Sym symbol;
    size_t length = 0;

    if (which == 0 || which >= table->count)
        return -ENOENT;
    memcpy(&symbol, symbols->bytes + table->offset + which * sizeof(symbol), sizeof(symbol));
    if (symbol.st_name >= table->names_bytes)
        return -ENOENT;
    name = (const char *)symbols->bytes + table->names_offset + symbol.st_name;
    while (length < table->names_bytes - symbol.st_name && name[length] != '\0' && name[length] != '@')
        length++;
    *name_out = name;
    *length_out = length;
    return length == 0 ? -ENOENT : 0;
}

/* Which symbol the relocations of a section put there. 0: none. */
static uint64_t find_relocation(const struct elf_symbols *symbols, const Elf64_Shdr *section, uint64_t slot)
{
    uint64_t count = section->sh_size / sizeof(Elf64_Rela);
    Elf64_Rela relocation;

    if (section->sh_type != SHT_RELA || section->sh_entsize != sizeof(relocation) ||
        !is_whole(symbols, section->sh_offset, section->sh_size))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&relocation, symbols->bytes + section->sh_offset + i * sizeof(relocation), sizeof(relocation));
        if (relocation.r_offset == slot)
            return relocation.r_info >> 32;
    }
    return 0;
}

int elf_imports_find(const struct elf_symbols *symbols, uint64_t slot, const char **name_out, size_t *length_out)
{
    Elf64_Ehdr header;

    if (!is_whole(symbols, 0, sizeof(header)))
        return -ENOENT;
    memcpy(&header, symbols->bytes, sizeof(header));
    if (header.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_whole(symbols, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return -ENOENT;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        uint64_t which;

        memcpy(&section, symbols->bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        which = find_relocation(symbols, &section, slot);
        if (which != 0)
            return elf_imports_name(symbols, which, name_out, length_out);
    }
    return -ENOENT;
}
