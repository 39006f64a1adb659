/* SPDX-License-Identifier: MIT */
/* Reads the library that this test got its libc from, then pieces and mutations of a small image. */
#define _GNU_SOURCE
#include "elf/symbols.h"

#include "support/check.h"
#include "support/core_image.h"
#include "support/random.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>

#define MUTATIONS 3000

static uint8_t *read_whole(const char *path, size_t *size_out)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;

    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size_out = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*size_out);
    if (fread(bytes, 1, *size_out, file) != *size_out)
        *size_out = 0;
    fclose(file);
    return bytes;
}

static void the_dynamic_loader_agrees(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    struct elf_symbols symbols;
    struct elf_symbol symbol = {0};
    const ElfW(Sym) *entry = NULL;
    const uint8_t *code = NULL;
    uint64_t available = 0;
    size_t size = 0;
    Dl_info info;

    CHECK(function != NULL && dladdr1(function, &info, (void **)&entry, RTLD_DL_SYMENT) != 0);

    uint8_t *bytes = read_whole(info.dli_fname, &size);

    CHECK_EQUAL(elf_symbols_parse(bytes, size, &symbols), 0);
    CHECK_EQUAL(elf_symbols_find(&symbols, name, &symbol), 0);
    CHECK_EQUAL(symbol.address, (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase);
    CHECK_EQUAL(symbol.size_bytes, entry->st_size);
    CHECK(symbol.is_function && !symbol.is_resolver);
    CHECK_EQUAL(elf_symbols_code(&symbols, symbol.address, &code, &available), 0);
    CHECK(available >= symbol.size_bytes);
    CHECK(code != NULL && memcmp(code, function, symbol.size_bytes) == 0);
    CHECK_EQUAL(elf_symbols_address_at(&symbols, (uint64_t)(code - bytes) + 3, &available), 0);
    CHECK_EQUAL(available, symbol.address + 3);
    CHECK_EQUAL(elf_symbols_address_at(&symbols, size, &available), -ENOENT);
    CHECK_EQUAL(elf_symbols_find_address(&symbols, symbol.address + 1, &symbol), 0);
    CHECK_EQUAL(symbol.address, (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase);
    free(bytes);
}

static void functions_are_found_by_name_and_address(void)
{
    the_dynamic_loader_agrees("bsearch");
    the_dynamic_loader_agrees("qsort");
    the_dynamic_loader_agrees("fopen"); /* has versions */
}

/* An executable segment of 16 bytes with three symbols, of which the second has no size. */
struct handmade {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    Elf64_Shdr sections[3];
    Elf64_Sym symbols[5];
    char names[40];
    uint8_t code[16];
};

static struct handmade make(void)
{
    struct handmade made = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                   .e_type = ET_DYN,
                   .e_machine = EM_X86_64,
                   .e_phoff = offsetof(struct handmade, segment),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 1,
                   .e_shoff = offsetof(struct handmade, sections),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 3},
        .segment = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_X,
                    .p_vaddr = 0x1000,
                    .p_offset = offsetof(struct handmade, code),
                    .p_filesz = 16,
                    .p_memsz = 16},
        .sections = {{0},
                     {.sh_type = SHT_SYMTAB,
                      .sh_offset = offsetof(struct handmade, symbols),
                      .sh_size = 5 * sizeof(Elf64_Sym),
                      .sh_entsize = sizeof(Elf64_Sym),
                      .sh_link = 2},
                     {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct handmade, names), .sh_size = 40}},
        .symbols = {{0},
                    {.st_name = 1, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000, .st_size = 4},
                    {.st_name = 7, .st_info = STT_NOTYPE, .st_shndx = 1, .st_value = 0x1004},
                    {.st_name = 14, .st_info = STT_GNU_IFUNC, .st_shndx = 1, .st_value = 0x100a},
                    {.st_name = 1, .st_info = STT_OBJECT, .st_shndx = 1, .st_value = 0x1000}},
        .names = "\0first\0second\0third@@V_1\0",
    };

    return made;
}

static void sizes_and_versions_are_understood(void)
{
    struct handmade made = make();
    struct elf_symbols symbols;
    struct elf_symbol symbol = {0};

    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), 0);
    CHECK_EQUAL(elf_symbols_count(&symbols), 5);
    CHECK_EQUAL(elf_symbols_find(&symbols, "first", &symbol), 0);
    CHECK_EQUAL(symbol.size_bytes, 4);
    CHECK_EQUAL(elf_symbols_find(&symbols, "second", &symbol), 0);
    CHECK_EQUAL(symbol.size_bytes, 6);
    CHECK(!symbol.is_function);
    CHECK_EQUAL(elf_symbols_find(&symbols, "third", &symbol), 0);
    CHECK_EQUAL(symbol.size_bytes, 6);
    CHECK(symbol.is_resolver);
    CHECK_EQUAL(symbol.name_length, 5);
    CHECK_EQUAL(elf_symbols_find_address(&symbols, 0x1003, &symbol), 0);
    CHECK_EQUAL(symbol.address, 0x1000);
    CHECK_EQUAL(elf_symbols_find(&symbols, "third@@V_1", &symbol), -ENOENT);
    CHECK_EQUAL(elf_symbols_find(&symbols, "fir", &symbol), -ENOENT);
    CHECK_EQUAL(elf_symbols_find(&symbols, "", &symbol), -ENOENT);
    CHECK_EQUAL(elf_symbols_find_address(&symbols, 0x2000, &symbol), -ENOENT);
    CHECK_EQUAL(elf_symbols_get(&symbols, 99, &symbol), -ENOENT);
}

/* The same code has three names, in any order. */
static void plain_names_are_preferred(void)
{
    static const char names[][16] = {"__a\0_b\0c", "c\0__a\0_b"};
    static const uint8_t places[][3] = {{0, 4, 7}, {0, 2, 6}};

    for (int order = 0; order < 2; order++) {
        struct handmade made = make();
        struct elf_symbols symbols;
        struct elf_symbol symbol = {0};

        memcpy(made.names, names[order], sizeof(names[order]));
        for (int i = 0; i < 3; i++)
            made.symbols[1 + i] = (Elf64_Sym){
                .st_name = places[order][i], .st_info = STT_FUNC, .st_shndx = 1, .st_value = 0x1000, .st_size = 8};
        CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), 0);
        CHECK_EQUAL(elf_symbols_find_address(&symbols, 0x1002, &symbol), 0);
        CHECK_EQUAL(symbol.name_length, 1);
        CHECK_EQUAL(symbol.name[0], 'c');
    }
}

static void other_files_are_refused(void)
{
    struct handmade made = make();
    struct elf_symbols symbols;

    CHECK_EQUAL(elf_symbols_parse("", 0, &symbols), -ENOEXEC);
    CHECK_EQUAL(elf_symbols_parse("#!/bin/sh\n", 10, &symbols), -ENOEXEC);
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made.header) - 1, &symbols), -ENOEXEC);
    made.header.e_ident[EI_CLASS] = ELFCLASS32;
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), -ENOEXEC);
    made = make();
    made.header.e_type = ET_CORE;
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), -ENOEXEC);
    made = make();
    made.sections[1].sh_size = UINT64_MAX;
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), -ENOEXEC);
    made = make();
    made.header.e_shoff = UINT64_MAX - 7;
    CHECK_EQUAL(elf_symbols_parse(&made, sizeof(made), &symbols), -ENOEXEC);
}

static uint64_t checksum;

/* Reads all there is; sanitizers see what should not be read. */
static void try_bytes(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    const uint8_t *code;
    uint64_t available;

    memcpy(exact, bytes, size);
    if (elf_symbols_parse(exact, size, &symbols) == 0) {
        uint64_t count = elf_symbols_count(&symbols);

        for (uint64_t i = 0; i < count && i < 200; i++) {
            if (elf_symbols_get(&symbols, i, &symbol) != 0)
                continue;
            for (size_t j = 0; j < symbol.name_length; j++)
                checksum += (uint8_t)symbol.name[j];
            if (elf_symbols_code(&symbols, symbol.address, &code, &available) == 0)
                checksum += code[0] + code[available - 1];
        }
        if (count < 1000 && elf_symbols_find(&symbols, "second", &symbol) == 0)
            checksum += symbol.size_bytes;
        if (count < 1000 && elf_symbols_find_address(&symbols, 0x1005, &symbol) == 0)
            checksum += symbol.size_bytes;
    }
    free(exact);
}

static void fuzz(const uint8_t *original, size_t size, uint64_t rounds)
{
    uint8_t *bytes = malloc(size);
    struct random random;

    random_init(&random, 11);
    for (size_t cut = 0; cut < size; cut += 1 + size / 500)
        try_bytes(original, cut);
    for (uint64_t round = 0; round < rounds; round++) {
        memcpy(bytes, original, size);
        for (uint64_t changes = 1 + random_below(&random, 4); changes > 0; changes--) {
            size_t at = random_below(&random, random_chance(&random, 1, 2) && size > 512 ? 512 : size);
            uint64_t edge = random_edge(&random);

            if (random_chance(&random, 1, 2) && size - at >= 8)
                memcpy(bytes + at, &edge, 8);
            else
                bytes[at] = (uint8_t)random_u64(&random);
        }
        try_bytes(bytes, round % 8 == 0 ? random_below(&random, size) : size);
    }
    free(bytes);
}

static void truncated_and_mutated_files_do_no_harm(void)
{
    struct handmade made = make();
    size_t size = 0;
    uint8_t *image = core_image_read(CORE_IMAGE, &size);

    fuzz((const uint8_t *)&made, sizeof(made), 20 * MUTATIONS);
    CHECK(image != NULL);
    if (image != NULL)
        fuzz(image, size, MUTATIONS / 20);
    free(image);
}

static void symbols_are_sorted_by_address_and_the_plainest_name_is_last(void)
{
    const struct elf_symbol plain = {.address = 16, .name = "read", .name_length = 4};
    const struct elf_symbol inner = {.address = 16, .name = "__read", .name_length = 6};
    const struct elf_symbol local = {.address = 16, .name = "readx", .name_length = 5, .is_local = true};
    const struct elf_symbol later = {.address = 17, .name = "_", .name_length = 1};

    CHECK_EQUAL(elf_symbol_compare(&plain, &later), -1);
    CHECK_EQUAL(elf_symbol_compare(&later, &plain), 1);
    CHECK_EQUAL(elf_symbol_compare(&plain, &inner), 1);
    CHECK_EQUAL(elf_symbol_compare(&inner, &plain), -1);
    CHECK_EQUAL(elf_symbol_compare(&local, &plain), -1);
    CHECK_EQUAL(elf_symbol_compare(&plain, &plain), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_found_by_name_and_address),
    CHECK_CASE(sizes_and_versions_are_understood),
    CHECK_CASE(plain_names_are_preferred),
    CHECK_CASE(other_files_are_refused),
    CHECK_CASE(truncated_and_mutated_files_do_no_harm),
    CHECK_CASE(symbols_are_sorted_by_address_and_the_plainest_name_is_last),
};

CHECK_MAIN(cases)
