/* SPDX-License-Identifier: MIT */
#include "elf/sections.h"

#include "base/memory_functions.h"
#include "elf/symbols.h"

#include <asm/errno.h>
#include <linux/elf.h>
#include <stdbool.h>

static bool read_at(const struct elf_symbols *symbols, uint64_t offset, void *bytes_out, size_t size_bytes)
{
    if (offset > symbols->size_bytes || symbols->size_bytes - offset < size_bytes)
        return false;
    memcpy(bytes_out, symbols->bytes + offset, size_bytes);
    return true;
}

static bool read_header(const struct elf_symbols *symbols, unsigned which, Elf64_Shdr *section_out)
{
    Elf64_Ehdr header;

    return read_at(symbols, 0, &header, sizeof(header)) && header.e_shentsize == sizeof(*section_out) &&
           which < header.e_shnum &&
           read_at(symbols, header.e_shoff + (uint64_t)which * sizeof(*section_out), section_out, sizeof(*section_out));
}

unsigned elf_sections_count(const struct elf_symbols *symbols)
{
    Elf64_Ehdr header;

    return read_at(symbols, 0, &header, sizeof(header)) && header.e_shentsize == sizeof(Elf64_Shdr) ? header.e_shnum
                                                                                                    : 0;
}

/* Sets the name, if it is whole inside of its table. */
static void find_name(const struct elf_symbols *symbols, uint32_t offset, struct elf_section *section)
{
    Elf64_Ehdr header;
    Elf64_Shdr names;
    uint64_t start, length = 0;

    section->name = "";
    section->name_length = 0;
    if (!read_at(symbols, 0, &header, sizeof(header)) || !read_header(symbols, header.e_shstrndx, &names) ||
        names.sh_offset > symbols->size_bytes || names.sh_size > symbols->size_bytes - names.sh_offset ||
        offset >= names.sh_size)
        return;
    start = names.sh_offset + offset;
    while (offset + length < names.sh_size && symbols->bytes[start + length] != 0)
        length++;
    if (offset + length == names.sh_size)
        return;
    section->name = (const char *)symbols->bytes + start;
    section->name_length = (size_t)length;
}

int elf_section_get(const struct elf_symbols *symbols, unsigned which, struct elf_section *section_out)
{
    Elf64_Shdr section;

    if (!read_header(symbols, which, &section))
        return -ENOENT;
    *section_out = (struct elf_section){
        .address = section.sh_addr,
        .size_bytes = section.sh_size,
        .file_offset = section.sh_offset,
        .type = section.sh_type,
        .flags = section.sh_flags,
        .entry_bytes = section.sh_entsize,
    };
    find_name(symbols, section.sh_name, section_out);
    return 0;
}
