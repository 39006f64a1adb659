/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/sections.h"

#include "elf/symbol_file.h"
#include "support/check.h"
#include "support/random.h"

#include <elf.h>
#include <errno.h>
#include <link.h>

static int initialized = 3;

static void sections_have_their_names(void)
{
    struct symbol_file file;
    struct elf_section section;
    unsigned text = 0, data = 0;
    const struct link_map *program = _r_debug.r_map;

    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    CHECK(elf_sections_count(&file.symbols) > 20);
    for (unsigned i = 0; i < elf_sections_count(&file.symbols); i++) {
        uint64_t here = (uintptr_t)sections_have_their_names - program->l_addr;
        uint64_t there = (uintptr_t)&initialized - program->l_addr;

        CHECK_EQUAL(elf_section_get(&file.symbols, i, &section), 0);
        CHECK_EQUAL(strlen(section.name), section.name_length);
        if (strcmp(section.name, ".text") == 0) {
            text++;
            CHECK_EQUAL(section.type, SHT_PROGBITS);
            CHECK(section.flags & SHF_EXECINSTR);
            CHECK(here >= section.address && here < section.address + section.size_bytes);
        }
        if (strcmp(section.name, ".data") == 0) {
            data++;
            CHECK(section.flags & SHF_WRITE);
            CHECK(there >= section.address && there < section.address + section.size_bytes);
        }
    }
    CHECK_EQUAL(text, 1);
    CHECK_EQUAL(data, 1);
    CHECK_EQUAL(elf_section_get(&file.symbols, elf_sections_count(&file.symbols), &section), -ENOENT);
    symbol_file_close(&file);
}

static void damaged_headers_are_read_within_the_file(void)
{
    struct symbol_file file;
    struct elf_section section;
    struct random random;
    Elf64_Ehdr *header;

    random_init(&random, 21);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    header = file.memory;
    for (unsigned i = 0; i < 20000; i++) {
        Elf64_Ehdr before = *header;
        uint8_t *bytes = file.memory, *place;
        uint8_t kept;

        place = i % 2 ? bytes + random_below(&random, sizeof(*header))
                      : bytes + header->e_shoff + random_below(&random, header->e_shnum * sizeof(Elf64_Shdr));
        kept = *place;
        *place = (uint8_t)random_edge(&random);
        for (unsigned j = 0; j < elf_sections_count(&file.symbols) && j < 100; j++)
            if (elf_section_get(&file.symbols, j, &section) == 0 && section.name_length > 0)
                CHECK((const uint8_t *)section.name + section.name_length < bytes + file.size_bytes);
        *place = kept;
        *header = before;
    }
    symbol_file_close(&file);
}

static const struct check_case cases[] = {
    CHECK_CASE(sections_have_their_names),
    CHECK_CASE(damaged_headers_are_read_within_the_file),
};

CHECK_MAIN(cases)
