/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "elf/symbol_entries.h"

#include "elf/symbol_file.h"
#include "elf/symbols.h"
#include "support/check.h"
#include "support/random.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>

static int some_data = 7;
int some_data_for_all = 8;

static void data_and_undefined_names_are_there(void)
{
    struct symbol_file file;
    struct elf_symbol_entry entry;
    const struct link_map *program = dlopen(NULL, RTLD_NOW);
    unsigned undefined = 0, dynamic = 0;

    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    CHECK_EQUAL(elf_symbol_entry_find(&file.symbols, "some_data_for_all", &entry), 0);
    CHECK_EQUAL(entry.address + program->l_addr, (uintptr_t)&some_data_for_all);
    CHECK_EQUAL(entry.size_bytes, sizeof(some_data_for_all));
    CHECK_EQUAL(entry.kind, STT_OBJECT);
    CHECK_EQUAL(entry.binding, STB_GLOBAL);
    CHECK_EQUAL(elf_symbol_entry_find(&file.symbols, "some_data", &entry), 0);
    CHECK_EQUAL(entry.address + program->l_addr, (uintptr_t)&some_data);
    CHECK_EQUAL(entry.binding, STB_LOCAL);
    CHECK(!entry.is_dynamic);
    CHECK_EQUAL(elf_symbol_entry_find(&file.symbols, "main", &entry), 0);
    CHECK_EQUAL(entry.kind, STT_FUNC);
    CHECK_EQUAL(elf_symbol_entry_find(&file.symbols, "nobody_has_this_name", &entry), -ENOENT);
    for (uint64_t i = 0; i < elf_symbols_count(&file.symbols); i++) {
        if (elf_symbol_entry_get(&file.symbols, i, &entry) != 0)
            continue;
        CHECK(entry.name_length > 0);
        undefined += entry.section == SHN_UNDEF;
        dynamic += entry.is_dynamic;
    }
    CHECK(undefined > 10);
    CHECK(dynamic > 3);
    CHECK_EQUAL(elf_symbol_entry_get(&file.symbols, elf_symbols_count(&file.symbols), &entry), -ENOENT);
    symbol_file_close(&file);
}

static void damaged_tables_are_read_within_their_bounds(void)
{
    struct random random;
    struct elf_symbols symbols;
    struct symbol_file file;
    struct elf_symbol_entry entry;
    unsigned parsed = 0;

    random_init(&random, 11);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    for (unsigned round = 0; round < 60; round++) {
        uint8_t *bytes = file.memory;

        for (unsigned i = 0; i < 2000; i++) {
            const struct elf_symbol_table *table = &file.symbols.tables[i % 2];
            uint64_t span = table->count * sizeof(Elf64_Sym);

            if (span != 0)
                bytes[table->offset + random_below(&random, span)] = (uint8_t)random_u64(&random);
        }
        if (elf_symbols_parse(file.memory, file.size_bytes, &symbols) != 0)
            continue;
        parsed++;
        for (uint64_t i = 0; i < elf_symbols_count(&symbols); i++)
            if (elf_symbol_entry_get(&symbols, i, &entry) == 0)
                CHECK((const uint8_t *)entry.name + entry.name_length < bytes + file.size_bytes);
    }
    CHECK_EQUAL(parsed, 60);
    symbol_file_close(&file);
}

static const struct check_case cases[] = {
    CHECK_CASE(data_and_undefined_names_are_there),
    CHECK_CASE(damaged_tables_are_read_within_their_bounds),
};

CHECK_MAIN(cases)
