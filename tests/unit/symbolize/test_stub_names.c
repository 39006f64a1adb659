/* SPDX-License-Identifier: MIT */
#include "symbolize/stub_names.h"

#include "elf/symbol_file.h"
#include "support/check.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

static const struct named_stub *find(const struct stub_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->stubs[i].name_length == strlen(name) &&
            memcmp(names->stubs[i].name, name, names->stubs[i].name_length) == 0)
            return &names->stubs[i];
    return NULL;
}

/* This program calls them. */
static void stubs_are_called_after_what_they_call(void)
{
    struct symbol_file file;
    struct stub_names names;

    CHECK_EQUAL(symbol_file_open_whole("/proc/self/exe", &file), 0);
    CHECK_EQUAL(stub_names_make(&names, &file.symbols), 0);
    if (names.count == 0)
        check_skip("this program was linked without stubs, or for a CPU whose instructions are not known");
    CHECK(find(&names, "realloc") != NULL);
    CHECK(find(&names, "free") != NULL);
    CHECK(find(&names, "stub_names_make") == NULL);
    for (size_t i = 0; i < names.count; i++) {
        CHECK(names.stubs[i].size_bytes >= 8 && names.stubs[i].size_bytes <= 64);
        CHECK(i == 0 || names.stubs[i - 1].address + names.stubs[i - 1].size_bytes <= names.stubs[i].address);
    }
    stub_names_deinit(&names);
    symbol_file_close(&file);
}

/* Code is not read by symbol_file_open, and so are no relocations. */
static void without_their_bytes_there_are_none(void)
{
    struct symbol_file file;
    struct stub_names names;

    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
    CHECK_EQUAL(stub_names_make(&names, &file.symbols), 0);
    CHECK_EQUAL(names.count, 0);
    stub_names_deinit(&names);
    symbol_file_close(&file);
}

static void damaged_headers_do_no_harm(void)
{
    struct symbol_file file;
    struct stub_names names;
    Elf64_Ehdr header;

    CHECK_EQUAL(symbol_file_open_whole("/proc/self/exe", &file), 0);
    memcpy(&header, file.memory, sizeof(header));
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr *section = (Elf64_Shdr *)((uint8_t *)file.memory + header.e_shoff) + i;
        Elf64_Shdr before = *section;

        section->sh_size = UINT64_MAX - i;
        CHECK_EQUAL(stub_names_make(&names, &file.symbols), 0);
        stub_names_deinit(&names);
        *section = before;
        section->sh_offset = UINT64_MAX - 8;
        CHECK_EQUAL(stub_names_make(&names, &file.symbols), 0);
        stub_names_deinit(&names);
        *section = before;
        section->sh_entsize = 1;
        CHECK_EQUAL(stub_names_make(&names, &file.symbols), 0);
        stub_names_deinit(&names);
        *section = before;
    }
    symbol_file_close(&file);
}

static const struct check_case cases[] = {
    CHECK_CASE(without_their_bytes_there_are_none),
    CHECK_CASE(damaged_headers_do_no_harm),
    CHECK_CASE(stubs_are_called_after_what_they_call),
};

CHECK_MAIN(cases)
