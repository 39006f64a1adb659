/* SPDX-License-Identifier: MIT */
#include "agent/unhooked_function.h"

#include "elf/symbol_file.h"
#include "process/mapping_list.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "ring/unhooked_log.h"
#include "support/check.h"

#include <string.h>

static struct ring_region *ring;
static struct ring_reader *reader;
static struct symbol_file file;
static struct mapping mapping = {.path = "/usr/bin/some program", .path_length = 21};

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    CHECK_EQUAL(symbol_file_open("/proc/self/exe", &file), 0);
}

static void end(void)
{
    symbol_file_close(&file);
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static void tell(uint64_t address, const char *name)
{
    const struct unhooked_function function = {.mapping = &mapping,
                                               .symbols = &file.symbols,
                                               .address = address,
                                               .name = name,
                                               .is_named = true,
                                               .why = "it is odd"};

    unhooked_function_tell(ring, &function);
}

static void functions_are_told_with_their_names(void)
{
    struct ring_unhooked told[3];
    struct elf_symbol symbol;

    begin();
    CHECK_EQUAL(elf_symbols_find(&file.symbols, "main", &symbol), 0);
    tell(symbol.address, NULL);
    tell(symbol.address + 1, NULL);
    tell(symbol.address, "provider:probe");
    CHECK_EQUAL(unhooked_log_read(reader, told, 3), 3);
    CHECK_TEXT(told[0].name, "some program!main");
    CHECK_TEXT(told[0].why, "it is odd");
    CHECK(told[0].is_named);
    CHECK(strncmp(told[1].name, "some program+0x", 15) == 0);
    CHECK_TEXT(told[2].name, "some program!provider:probe");
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(functions_are_told_with_their_names),
};

CHECK_MAIN(cases)
