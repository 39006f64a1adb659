/* SPDX-License-Identifier: MIT */
/* Every address of code of real files is found as by looking at all symbols one by one. */
#define _GNU_SOURCE
#include "symbolize/symbol_index.h"

#include "support/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct elf_symbols symbols;
static uint8_t *bytes;

static bool read_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    bool is_good = fd >= 0 && fstat(fd, &status) == 0;

    bytes = is_good ? malloc((size_t)status.st_size) : NULL;
    is_good = bytes != NULL && read(fd, bytes, (size_t)status.st_size) == status.st_size;
    close(fd);
    return is_good && elf_symbols_parse(bytes, (size_t)status.st_size, &symbols) == 0;
}

static void compare_at(const struct symbol_index *index, uint64_t address)
{
    const struct elf_symbol *found = symbol_index_find(index, address);
    struct elf_symbol expected;
    int result = elf_symbols_find_address(&symbols, address, &expected);

    CHECK((found == NULL) == (result != 0));
    if (found != NULL && result == 0) {
        CHECK_EQUAL(found->address, expected.address);
        CHECK_EQUAL(found->name_length, expected.name_length);
        CHECK(memcmp(found->name, expected.name, expected.name_length) == 0);
    }
}

static void search_as_one_by_one(const char *path)
{
    struct symbol_index index;

    CHECK(read_file(path));
    CHECK_EQUAL(symbol_index_make(&index, &symbols), 0);
    CHECK(index.count > 20);
    /* Some of the symbols, their first byte, the last, and those beside them. */
    for (size_t i = 0; i < index.count; i += 1 + index.count / 150) {
        const struct elf_symbol *symbol = &index.symbols[i].symbol;

        compare_at(&index, symbol->address - 1);
        compare_at(&index, symbol->address);
        compare_at(&index, symbol->address + symbol->size_bytes / 2);
        compare_at(&index, symbol->address + symbol->size_bytes - 1);
        compare_at(&index, symbol->address + symbol->size_bytes);
    }
    compare_at(&index, 0);
    compare_at(&index, UINT64_MAX);
    symbol_index_deinit(&index);
    free(bytes);
}

static void code_in_other_code_is_found(void)
{
    struct indexed_symbol nested[] = {
        {{.address = 100, .size_bytes = 100, .name = "outer"}, 0, 200},
        {{.address = 120, .size_bytes = 10, .name = "inner"}, 1, 200},
        {{.address = 300, .size_bytes = 0, .name = "mark"}, 2, 301},
    };
    struct symbol_index index = {nested, 3};

    CHECK_TEXT(symbol_index_find(&index, 110)->name, "outer");
    CHECK_TEXT(symbol_index_find(&index, 129)->name, "inner");
    CHECK_TEXT(symbol_index_find(&index, 150)->name, "outer");
    CHECK_TEXT(symbol_index_find(&index, 300)->name, "mark");
    CHECK(symbol_index_find(&index, 99) == NULL);
    CHECK(symbol_index_find(&index, 200) == NULL);
    CHECK(symbol_index_find(&index, 301) == NULL);
}

static void this_program_is_searched(void)
{
    search_as_one_by_one("/proc/self/exe");
}

static void libc_is_searched(void)
{
    search_as_one_by_one("/lib/x86_64-linux-gnu/libc.so.6");
}

static const struct check_case cases[] = {
    CHECK_CASE(this_program_is_searched),
    CHECK_CASE(libc_is_searched),
    CHECK_CASE(code_in_other_code_is_found),
};

CHECK_MAIN(cases)
