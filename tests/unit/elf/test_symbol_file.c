/* SPDX-License-Identifier: MIT */
/* This test's own file, whole and cut off at every place. */
#define _GNU_SOURCE
#include "elf/symbol_file.h"

#include "elf/build_id.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

static void names_are_found_where_they_are(void)
{
    struct symbol_file file;
    struct elf_symbol symbol;

    CHECK_EQUAL(symbol_file_open(SELF, &file), 0);
    CHECK(elf_symbols_count(&file.symbols) > 10);
    CHECK_EQUAL(elf_symbols_find(&file.symbols, "main", &symbol), 0);
    CHECK(symbol.is_function && symbol.size_bytes > 0);
    CHECK_EQUAL(elf_symbols_find(&file.symbols, "names_are_found_where_they_are", &symbol), 0);
    CHECK_EQUAL(elf_symbols_find(&file.symbols, "no_such_name", &symbol), -ENOENT);
    symbol_file_close(&file);
    CHECK(file.memory == NULL);
}

static void notes_are_read_too(void)
{
    struct symbol_file file;
    const uint8_t *bytes;
    size_t size = 0;
    int result;

    CHECK_EQUAL(symbol_file_open(SELF, &file), 0);
    result = elf_build_id_find(&file.symbols, &bytes, &size);
    if (result == 0)
        CHECK(size >= 8);
    else
        CHECK_EQUAL(result, -ENOENT);
    symbol_file_close(&file);
}

static void code_is_read_if_it_is_wanted(void)
{
    struct symbol_file file, loaded, whole;
    struct elf_symbol symbol;
    const uint8_t *code;
    uint64_t available;

    CHECK_EQUAL(symbol_file_open(SELF, &file), 0);
    CHECK_EQUAL(symbol_file_open_whole(SELF, &whole), 0);
    CHECK_EQUAL(elf_symbols_find(&whole.symbols, "code_is_read_if_it_is_wanted", &symbol), 0);
    CHECK_EQUAL(elf_symbols_code(&whole.symbols, symbol.address, &code, &available), 0);
    CHECK(memcmp(code, (const void *)(uintptr_t)code_is_read_if_it_is_wanted, 16) == 0);
    CHECK_EQUAL(symbol_file_open_loaded(SELF, &loaded), 0);
    CHECK_EQUAL(elf_symbols_count(&loaded.symbols), elf_symbols_count(&whole.symbols));
    CHECK_EQUAL(elf_symbols_code(&loaded.symbols, symbol.address, &code, &available), 0);
    CHECK(memcmp(code, (const void *)(uintptr_t)code_is_read_if_it_is_wanted, 16) == 0);
    symbol_file_close(&loaded);
    CHECK_EQUAL(elf_symbols_code(&file.symbols, symbol.address, &code, &available), 0);
    CHECK(code[0] == 0 && code[15] == 0);
    symbol_file_close(&file);
    symbol_file_close(&whole);
}

static void what_is_no_such_file_is_refused(void)
{
    struct symbol_file file;

    CHECK_EQUAL(symbol_file_open("/nowhere/at/all", &file), -ENOENT);
    CHECK_EQUAL(symbol_file_open("/etc/passwd", &file), -ENOEXEC);
    CHECK_EQUAL(symbol_file_open("/dev/null", &file), -ENOEXEC);
    CHECK(symbol_file_open("/", &file) < 0);
}

/* A copy of this program in a file that nobody else has. */
static int make_copy(char *path, off_t *size_out)
{
    int from = open(SELF, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
    char buffer[65536];
    ssize_t got;

    *size_out = 0;
    while ((got = read(from, buffer, sizeof(buffer))) > 0) {
        CHECK_EQUAL(write(to, buffer, (size_t)got), got);
        *size_out += got;
    }
    close(from);
    snprintf(path, 64, "/proc/self/fd/%d", to);
    return to;
}

static void files_that_are_cut_off_are_errors(void)
{
    char path[64];
    off_t size;
    int copy = make_copy(path, &size);
    struct symbol_file file;

    CHECK_EQUAL(symbol_file_open(path, &file), 0);
    symbol_file_close(&file);
    for (off_t cut = size - 1; cut > 0; cut -= cut > 4096 ? size / 500 + 1 : 13) {
        CHECK_EQUAL(ftruncate(copy, cut), 0);
        /* Section headers come last, so nothing of it is whole any more. */
        CHECK_EQUAL(symbol_file_open(path, &file), -ENOEXEC);
    }
    close(copy);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(names_are_found_where_they_are),    CHECK_CASE(notes_are_read_too),
        CHECK_CASE(code_is_read_if_it_is_wanted),      CHECK_CASE(what_is_no_such_file_is_refused),
        CHECK_CASE(files_that_are_cut_off_are_errors),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
