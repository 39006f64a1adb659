/* SPDX-License-Identifier: MIT */
/* Go has its tables in a section of their own, also in a file without symbols; the others are known by names. */
#include "elf/own_stack_walker.h"

#include "base/memory_functions.h"

#include <linux/elf.h>
#include <stdint.h>

static const char go_tables[] = ".gopclntab";

/* The name of a section, if all of it is there. NULL: it is not. */
static const char *section_name(const struct elf_symbols *symbols, const Elf64_Shdr *names, uint32_t offset,
                                size_t name_bytes)
{
    if (offset > names->sh_size || names->sh_size - offset < name_bytes || names->sh_offset > symbols->size_bytes ||
        symbols->size_bytes - names->sh_offset < names->sh_size)
        return NULL;
    return (const char *)symbols->bytes + names->sh_offset + offset;
}

static bool read_section(const struct elf_symbols *symbols, const Elf64_Ehdr *header, unsigned which, Elf64_Shdr *out)
{
    uint64_t offset = (uint64_t)which * sizeof(*out);

    if (which >= header->e_shnum || header->e_shoff > symbols->size_bytes ||
        symbols->size_bytes - header->e_shoff < offset + sizeof(*out))
        return false;
    memcpy(out, symbols->bytes + header->e_shoff + offset, sizeof(*out));
    return true;
}

static bool ends_with_go_tables(const char *name, size_t name_bytes)
{
    /* ".data.rel.ro.gopclntab" in position-independent programs. */
    for (size_t i = 0; i + sizeof(go_tables) <= name_bytes; i++) {
        if (memcmp(name + i, go_tables, sizeof(go_tables)) == 0)
            return true;
        if (name[i] == '\0')
            break;
    }
    return false;
}

static bool has_go_tables(const struct elf_symbols *symbols)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;

    if (symbols->size_bytes < sizeof(header))
        return false;
    memcpy(&header, symbols->bytes, sizeof(header));
    if (header.e_shentsize != sizeof(section) || !read_section(symbols, &header, header.e_shstrndx, &names))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        size_t name_bytes = sizeof(".data.rel.ro.gopclntab");
        const char *name;

        if (!read_section(symbols, &header, i, &section))
            return false;
        if (section.sh_name < names.sh_size && names.sh_size - section.sh_name < name_bytes)
            name_bytes = names.sh_size - section.sh_name;
        name = section_name(symbols, &names, section.sh_name, name_bytes);
        if (name != NULL && ends_with_go_tables(name, name_bytes))
            return true;
    }
    return false;
}

static bool begins_with(const struct elf_symbol *symbol, const char *text, size_t length)
{
    return symbol->name_length >= length && memcmp(symbol->name, text, length) == 0;
}

#define BEGINS_WITH(symbol, text) begins_with(symbol, text, sizeof(text) - 1)

static bool has_names(const struct elf_symbols *symbols)
{
    uint64_t count = elf_symbols_count(symbols);
    struct elf_symbol symbol;

    for (uint64_t i = 0; i < count; i++)
        if (elf_symbols_peek(symbols, i, &symbol) == 0 &&
            (BEGINS_WITH(&symbol, "Builtins_") || BEGINS_WITH(&symbol, "caml_start_program") ||
             BEGINS_WITH(&symbol, "stg_ap_") || BEGINS_WITH(&symbol, "runtime.morestack")))
            return true;
    return false;
}

bool elf_has_own_stack_walker(const struct elf_symbols *symbols)
{
    return has_go_tables(symbols) || has_names(symbols);
}
