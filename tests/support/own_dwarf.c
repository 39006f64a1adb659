/* SPDX-License-Identifier: MIT */
#include "support/own_dwarf.h"

#include "elf/sections.h"
#include "support/check.h"

#include <elf.h>
#include <link.h>

extern const char __executable_start[];

static void take_sections(struct own_dwarf *own)
{
    struct elf_section section;

    for (unsigned i = 0; i < elf_sections_count(&own->file.symbols); i++) {
        struct dwarf_span *span;

        if (elf_section_get(&own->file.symbols, i, &section) != 0 || section.flags & SHF_COMPRESSED)
            continue;
        span = dwarf_sections_by_name(&own->sections, section.name);
        if (span != NULL)
            *span = (struct dwarf_span){own->file.symbols.bytes + section.file_offset, section.size_bytes};
    }
}

static void find_extent(struct own_dwarf *own)
{
    const struct elf_symbols *symbols = &own->file.symbols;

    own->extent = (struct dwarf_extent){.begin = UINT64_MAX};
    for (uint64_t i = 0; i < symbols->program_header_count; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, symbols->bytes + symbols->program_headers + i * sizeof(segment), sizeof(segment));
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        if (segment.p_vaddr < own->extent.begin)
            own->extent.begin = segment.p_vaddr;
        if (segment.p_vaddr + segment.p_memsz > own->extent.end)
            own->extent.end = segment.p_vaddr + segment.p_memsz;
    }
}

void own_dwarf_open(struct own_dwarf *own, const char *path)
{
    *own = (struct own_dwarf){.extent = {0}};
    if (symbol_file_open_whole(path == NULL ? "/proc/self/exe" : path, &own->file) != 0)
        check_skip("the file cannot be read");
    take_sections(own);
    find_extent(own);
    if (own->sections.info.bytes == NULL || own->sections.abbrev.bytes == NULL)
        check_skip("there is no debug information, or it is packed");
    if (dwarf_file_init(&own->dwarf, &own->sections, NULL) != 0)
        abort();
}

void own_dwarf_close(struct own_dwarf *own)
{
    dwarf_file_deinit(&own->dwarf);
    symbol_file_close(&own->file);
}

uint64_t own_dwarf_place(const void *function)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;

    return (uintptr_t)function - (header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0);
}
