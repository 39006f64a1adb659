/* SPDX-License-Identifier: MIT */
#include "support/handmade_functions.h"

#include "support/frame_sections.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct handmade_functions, field)

static const Elf64_Ehdr header = {
    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
    .e_type = ET_DYN,
    .e_machine = EM_X86_64,
    .e_phoff = AT(segments),
    .e_phentsize = sizeof(Elf64_Phdr),
    .e_phnum = 3,
    .e_shoff = AT(sections),
    .e_shentsize = sizeof(Elf64_Shdr),
    .e_shnum = 6,
    .e_shstrndx = 3,
};

static const Elf64_Phdr segments[3] = {
    {.p_type = PT_LOAD,
     .p_flags = PF_R | PF_X,
     .p_vaddr = HANDMADE_CODE,
     .p_offset = AT(code),
     .p_filesz = HANDMADE_CODE_BYTES,
     .p_memsz = HANDMADE_CODE_BYTES},
    {.p_type = PT_LOAD,
     .p_flags = PF_R,
     .p_vaddr = HANDMADE_DATA,
     .p_offset = AT(frame_header),
     .p_filesz = 8 + 512,
     .p_memsz = 8 + 512},
    {.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_vaddr = HANDMADE_DATA, .p_filesz = 8},
};

static const Elf64_Shdr sections[6] = {
    {0},
    {.sh_type = SHT_SYMTAB,
     .sh_offset = AT(symbols),
     .sh_size = 12 * sizeof(Elf64_Sym),
     .sh_entsize = sizeof(Elf64_Sym),
     .sh_link = 2},
    {.sh_type = SHT_STRTAB, .sh_offset = AT(names), .sh_size = 160},
    {.sh_type = SHT_STRTAB, .sh_offset = AT(section_names), .sh_size = 32},
    {.sh_type = SHT_PROGBITS,
     .sh_flags = SHF_EXECINSTR | SHF_ALLOC,
     .sh_name = 1,
     .sh_addr = HANDMADE_CODE + 0xc0,
     .sh_size = 0x10},
    {.sh_type = SHT_RELA,
     .sh_offset = AT(relocations),
     .sh_size = 4 * sizeof(Elf64_Rela),
     .sh_entsize = sizeof(Elf64_Rela)},
};

static void add_symbol(struct handmade_functions *made, const char *name, unsigned type, uint64_t address,
                       uint64_t size_bytes)
{
    unsigned which = 1;
    size_t name_at = 1;

    for (; made->symbols[which].st_shndx != 0; which++)
        name_at = made->symbols[which].st_name + strlen(made->names + made->symbols[which].st_name) + 1;
    if (which >= 12 || name_at + strlen(name) >= sizeof(made->names))
        abort();
    strcpy(made->names + name_at, name);
    made->symbols[which] = (Elf64_Sym){.st_name = (Elf64_Word)name_at,
                                       .st_info = (unsigned char)type,
                                       .st_shndx = 1,
                                       .st_value = address,
                                       .st_size = size_bytes};
}

static void add_symbols(struct handmade_functions *made)
{
    add_symbol(made, "__first", STT_FUNC, 0x1000, 0x10);
    add_symbol(made, "first", STT_FUNC, 0x1000, 0x10);
    add_symbol(made, "label", STT_NOTYPE, 0x1008, 0);
    add_symbol(made, "first.cold", STT_FUNC, 0x1060, 8);
    add_symbol(made, "sized", STT_FUNC, 0x1020, 0);
    add_symbol(made, "resolver", STT_GNU_IFUNC, 0x1040, 8);
    add_symbol(made, "outside", STT_FUNC, 0x9000, 8);
    add_symbol(made, "object", STT_OBJECT, 0x1018, 8);
    add_symbol(made, "long", STT_FUNC, 0x10f0, 0x1000);
    add_symbol(made, "assembly", STT_NOTYPE, 0x1050, 0);
}

static void add_frames(struct handmade_functions *made)
{
    static const uint8_t usual[] = {0x41, 0x0e, 16};         /* at first the frame is as a call leaves it */
    static const uint8_t part[] = {0x83, 2, 0x0e, 32, 0x44}; /* where rbx is, and another frame from the start on */
    static const uint8_t encoding = 0x1b;
    struct made_section section = {.address = HANDMADE_DATA + 8};
    size_t common = made_section_add_usual(&section);
    size_t signal_common = made_section_add_common(&section, "zRS", &encoding, 1);
    int32_t distance = 4;

    made_section_add_entry(&section, common, 0x1070, 0x10, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x1000, 0x10, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x1004, 4, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x1020, 0x10, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x1050, 8, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x1060, 8, part, sizeof(part));
    made_section_add_entry(&section, common, 0x1080, 8, part, sizeof(part));
    made_section_add_entry(&section, common, 0x10c0, 0x10, usual, sizeof(usual));
    made_section_add_entry(&section, common, 0x5000, 0x10, usual, sizeof(usual));
    made_section_add_entry(&section, signal_common, 0x10d8, 8, usual, sizeof(usual));
    if (section.size_bytes > sizeof(made->frame))
        abort();
    memcpy(made->frame, section.bytes, section.size_bytes);
    memcpy(made->frame_header, "\x01\x1b\xff\xff", 4);
    memcpy(made->frame_header + 4, &distance, 4);
}

void handmade_functions_make(struct handmade_functions *made)
{
    memset(made, 0, sizeof(*made));
    made->header = header;
    memcpy(made->segments, segments, sizeof(segments));
    memcpy(made->sections, sections, sizeof(sections));
    memcpy(made->section_names, "\0.plt", 6);
    memset(made->code, 0xc3, sizeof(made->code));
    made->relocations[0] = (Elf64_Rela){.r_info = 8, .r_addend = 0x1070};
    made->relocations[1] = (Elf64_Rela){.r_info = 8, .r_addend = HANDMADE_DATA};
    made->relocations[2] = (Elf64_Rela){.r_info = 1ull << 32 | 1, .r_addend = 0x1000};
    made->relocations[3] = (Elf64_Rela){.r_info = 37, .r_addend = 0x1040};
    add_symbols(made);
    add_frames(made);
}
