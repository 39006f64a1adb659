/* SPDX-License-Identifier: MIT */
#include "elf/own_stack_walker.h"

#include "elf/symbol_file.h"
#include "support/check.h"

#include <elf.h>

/* What an OCaml program has a function of. */
void caml_start_program_of_a_test(void);

void caml_start_program_of_a_test(void)
{
    __asm__ volatile("");
}

static void names_tell_what_a_file_is_of(void)
{
    struct symbol_file file;

    CHECK_EQUAL(symbol_file_open_whole("/proc/self/exe", &file), 0);
    CHECK(elf_has_own_stack_walker(&file.symbols));
    symbol_file_close(&file);
    CHECK_EQUAL(symbol_file_open_whole("/bin/sh", &file), 0);
    CHECK(!elf_has_own_stack_walker(&file.symbols));
    symbol_file_close(&file);
}

/* A file that has nothing but headers of sections and their names. */
struct small_file {
    Elf64_Ehdr header;
    Elf64_Shdr sections[3];
    char names[64];
};

static struct elf_symbols parse(struct small_file *file, const char *name, uint32_t name_at)
{
    struct elf_symbols symbols = {.bytes = (const uint8_t *)file, .size_bytes = sizeof(*file)};

    *file = (struct small_file){
        .header = {.e_shoff = offsetof(struct small_file, sections),
                   .e_shnum = 3,
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shstrndx = 2},
        .sections = {{.sh_name = 0},
                     {.sh_name = name_at},
                     {.sh_offset = offsetof(struct small_file, names), .sh_size = sizeof(file->names)}},
    };
    snprintf(file->names + 1, sizeof(file->names) - 1, "%s", name);
    return symbols;
}

static void go_is_known_by_its_tables(void)
{
    struct small_file file;
    struct elf_symbols symbols = parse(&file, ".gopclntab", 1);

    CHECK(elf_has_own_stack_walker(&symbols));
    symbols = parse(&file, ".data.rel.ro.gopclntab", 1);
    CHECK(elf_has_own_stack_walker(&symbols));
    symbols = parse(&file, ".gopclntabs", 1);
    CHECK(!elf_has_own_stack_walker(&symbols));
    symbols = parse(&file, ".text", 1);
    CHECK(!elf_has_own_stack_walker(&symbols));
}

static void corrupt_files_are_none(void)
{
    struct small_file file;
    struct elf_symbols symbols = parse(&file, ".gopclntab", 1);

    for (size_t size = 0; size < sizeof(file.header) + sizeof(file.sections); size++) {
        symbols.size_bytes = size;
        CHECK(!elf_has_own_stack_walker(&symbols));
    }
    symbols = parse(&file, ".gopclntab", UINT32_MAX);
    CHECK(!elf_has_own_stack_walker(&symbols));
    symbols = parse(&file, ".gopclntab", 1);
    file.sections[2].sh_size = UINT64_MAX;
    CHECK(!elf_has_own_stack_walker(&symbols));
    file.sections[2].sh_offset = UINT64_MAX;
    CHECK(!elf_has_own_stack_walker(&symbols));
    file.header.e_shstrndx = 9;
    CHECK(!elf_has_own_stack_walker(&symbols));
}

static const struct check_case cases[] = {
    CHECK_CASE(names_tell_what_a_file_is_of),
    CHECK_CASE(go_is_known_by_its_tables),
    CHECK_CASE(corrupt_files_are_none),
};

CHECK_MAIN(cases)
