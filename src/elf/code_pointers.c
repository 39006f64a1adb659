/* SPDX-License-Identifier: MIT */
/* Sections of relocations with addends, entry by entry. Neighbour: imports.c, which looks for those with symbols. */
#include "elf/code_pointers.h"

#include "base/memory_functions.h"

#include <linux/elf.h>

static bool is_whole(const struct elf_symbols *symbols, uint64_t offset, uint64_t size_bytes)
{
    return offset <= symbols->size_bytes && size_bytes <= symbols->size_bytes - offset;
}

static bool is_code(const struct elf_symbols *symbols, uint64_t address)
{
    const uint8_t *code;
    uint64_t available;

    return elf_symbols_code(symbols, address, &code, &available) == 0;
}

static void visit_section(const struct elf_symbols *symbols, const Elf64_Shdr *section,
                          void (*take)(void *context, uint64_t address), void *context)
{
    uint64_t count = section->sh_size / sizeof(Elf64_Rela);
    Elf64_Rela relocation;

    if (section->sh_type != SHT_RELA || section->sh_entsize != sizeof(relocation) ||
        !is_whole(symbols, section->sh_offset, section->sh_size))
        return;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&relocation, symbols->bytes + section->sh_offset + i * sizeof(relocation), sizeof(relocation));
        if (relocation.r_info >> 32 == 0 && is_code(symbols, (uint64_t)relocation.r_addend))
            take(context, (uint64_t)relocation.r_addend);
    }
}

void elf_code_pointers_visit(const struct elf_symbols *symbols, void (*take)(void *context, uint64_t address),
                             void *context)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;

    if (!is_whole(symbols, 0, sizeof(header)))
        return;
    memcpy(&header, symbols->bytes, sizeof(header));
    if (header.e_shentsize != sizeof(section) ||
        !is_whole(symbols, header.e_shoff, (uint64_t)header.e_shnum * sizeof(section)))
        return;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, symbols->bytes + header.e_shoff + i * sizeof(section), sizeof(section));
        visit_section(symbols, &section, take, context);
    }
}
