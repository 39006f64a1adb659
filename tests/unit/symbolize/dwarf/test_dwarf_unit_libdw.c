/* SPDX-License-Identifier: MIT */
/* One unit of this program: what the compiler put where is known here. And what is left of it when it is damaged. */
#include "symbolize/dwarf/dwarf_unit.h"

#include "elf/sections.h"
#include "elf/symbol_file.h"
#include "support/check.h"
#include "support/line_printer.h"
#include "support/random.h"
#include "support/trace_folder.h"
#include "symbolize/code_table.h"
#include "symbolize/dwarf/dwarf_code.h"

#include <elf.h>
#include <link.h>

#define ROUNDS    40
#define ADDRESSES 60

extern const char __executable_start[];

static volatile int sink;

static inline __attribute__((always_inline)) void innermost(int n)
{
    sink = n;
}

static inline __attribute__((always_inline)) void middle(int n)
{
    innermost(n + sink);
}

static const uint32_t call_line = __LINE__ + 4;

static __attribute__((noinline)) void outermost(int n)
{
    middle(n);
}

static uint64_t place_of(const void *address)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;

    return (uintptr_t)address - (header->e_type == ET_DYN ? (uintptr_t)__executable_start : 0);
}

/* The table of the unit that has an address. */
static void *make_table(struct dwarf_code *code, uint64_t address, struct code_table *table_out)
{
    struct dwarf_range *ranges = NULL;
    size_t count = 0, size_bytes;
    bool is_whole = false;
    void *block = NULL;

    CHECK_EQUAL(dwarf_code_ranges(code, &ranges, &count), 0);
    for (size_t i = 0; i < count && block == NULL; i++)
        if (ranges[i].begin <= address && address < ranges[i].end) {
            CHECK_EQUAL(dwarf_code_make_table(code, ranges[i].unit, &block, &size_bytes, &is_whole), 0);
            CHECK_EQUAL(code_table_check(block, size_bytes, table_out), 0);
            CHECK(is_whole);
        }
    free(ranges);
    CHECK(block != NULL);
    return block;
}

static bool has_innermost(const struct code_table *table, uint64_t address, uint32_t *line_out)
{
    const struct code_scope *scope = code_table_scope(table, address);

    if (scope == NULL || strcmp(code_table_name(table, scope), "innermost") != 0)
        return false;
    scope = code_table_parent(table, scope);
    CHECK(scope != NULL && strcmp(code_table_name(table, scope), "middle") == 0);
    *line_out = scope == NULL ? 0 : scope->line;
    scope = scope == NULL ? NULL : code_table_parent(table, scope);
    CHECK(scope != NULL && strcmp(code_table_name(table, scope), "outermost") == 0);
    CHECK(scope != NULL && scope->line == call_line - 2 && scope->parent == 0);
    return true;
}

static void what_was_put_into_a_function_is_known(void)
{
    uint64_t address = place_of((const void *)outermost);
    struct dwarf_code *code = NULL;
    const struct code_scope *scope;
    struct code_table table;
    unsigned found = 0;
    uint32_t line;
    void *block;

    outermost(1);
    CHECK_EQUAL(dwarf_code_open("/proc/self/exe", "", &code), 0);
    block = make_table(code, address, &table);
    for (uint64_t i = 0; i < 256 && (scope = code_table_scope(&table, address + i)) != NULL; i++)
        if (has_innermost(&table, address + i, &line)) {
            const char *file = code_table_file(&table, code_table_line(&table, address + i)->file);

            found++;
            CHECK_EQUAL(line, call_line);
            CHECK(strstr(file, "test_dwarf_unit_libdw.c") != NULL);
        }
    CHECK(found != 0);
    free(block);
    dwarf_code_close(code);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

/* A byte of debug information: all but the code and the headers. */
static size_t choose_place(const struct symbol_file *file, struct random *random)
{
    for (;;) {
        struct elf_section section;

        if (elf_section_get(&file->symbols, (unsigned)random_below(random, elf_sections_count(&file->symbols)),
                            &section) == 0 &&
            strncmp(section.name, ".debug_", 7) == 0 && section.size_bytes != 0)
            return section.file_offset + random_below(random, section.size_bytes);
    }
}

static void ask(const char *path, const uint64_t *addresses, size_t count)
{
    struct symbolizer symbolizer;
    struct recorded_module module;
    FILE *nowhere = fopen("/dev/null", "we");

    symbolizer_init(&symbolizer, &(struct symbolizer_options){.has_no_cache = true, .debug_folders = ""});
    CHECK(line_printer_module(path, &module));
    line_printer_print(&symbolizer, &module, addresses, count, nowhere);
    symbolizer_deinit(&symbolizer);
    fclose(nowhere);
}

/* Less is found, or something that is wrong, but nothing worse happens. */
static void damaged_information_does_no_harm(void)
{
    struct trace_folder folder;
    struct symbol_file file;
    struct random random;
    size_t count;
    uint64_t *addresses = line_printer_addresses("/proc/self/exe", 20000, &count);
    uint8_t *copy;
    char path[128];

    CHECK_EQUAL(symbol_file_open_whole("/proc/self/exe", &file), 0);
    trace_folder_init(&folder);
    snprintf(path, sizeof(path), "%s/damaged", folder.path);
    copy = malloc(file.size_bytes);
    random_init(&random, 29);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t chosen[ADDRESSES];

        memcpy(copy, file.memory, file.size_bytes);
        /* From a few bytes to a good part of it. */
        for (size_t i = 0, changes = 8ull << (round % 14); i < changes; i++)
            copy[choose_place(&file, &random)] = (uint8_t)random_below(&random, 256);
        trace_folder_write(&folder, "damaged", copy, file.size_bytes);
        for (size_t i = 0; i < ADDRESSES; i++)
            chosen[i] = addresses[random_below(&random, count)];
        ask(path, chosen, ADDRESSES);
    }
    free(copy);
    free(addresses);
    symbol_file_close(&file);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_put_into_a_function_is_known),
    CHECK_CASE(damaged_information_does_no_harm),
};

CHECK_MAIN(cases)
