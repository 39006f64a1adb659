/* SPDX-License-Identifier: MIT */
/*
 * Reads debug information that is damaged at random, until the time is up: --seconds N --seed S [PROGRAM]. By default
 * it is this program's own. There is a table that can be asked, or an error; crashes and hangs end the program.
 */
#include "support/fuzz_arguments.h"
#include "support/own_dwarf.h"
#include "support/random.h"
#include "symbolize/dwarf/dwarf_range_list.h"
#include "symbolize/dwarf/dwarf_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A case takes milliseconds. */
#define CASE_SECONDS_MAX 60
#define UNITS_PER_CASE   24

static struct own_dwarf own;

/* A copy that ends where its memory ends, with changes. */
static void damage(struct random *random, struct dwarf_span *span, uint64_t changes)
{
    size_t size_bytes = span->size_bytes;
    uint8_t *copy;

    if (random_chance(random, 1, 16))
        size_bytes = random_below(random, size_bytes + 1);
    copy = malloc(size_bytes + 1);
    if (copy == NULL)
        exit(2);
    if (size_bytes != 0)
        memcpy(copy, span->bytes, size_bytes);
    for (; changes > 0 && size_bytes != 0; changes--) {
        size_t at = random_below(random, random_chance(random, 1, 3) && size_bytes > 4096 ? 4096 : size_bytes);
        uint64_t edge = random_edge(random);

        memcpy(copy + at, &edge, size_bytes - at < sizeof(edge) ? size_bytes - at : 1 + random_below(random, 8));
    }
    *span = (struct dwarf_span){copy, size_bytes};
}

static void ask(const void *block, size_t size_bytes, struct random *random)
{
    struct code_table table;

    if (code_table_check(block, size_bytes, &table) != 0)
        abort();
    for (unsigned i = 0; i < 50; i++) {
        uint64_t address = own.extent.begin + random_below(random, own.extent.end - own.extent.begin);

        (void)code_table_line(&table, address);
        for (const struct code_scope *scope = code_table_scope(&table, address); scope != NULL;
             scope = code_table_parent(&table, scope))
            if (strlen(code_table_name(&table, scope)) > size_bytes)
                abort();
    }
}

static void read_units(const struct dwarf_file *file, struct random *random)
{
    struct dwarf_range_list list = {.count = 0};
    struct dwarf_reader reader;

    (void)!dwarf_range_list_read(&list, file, &own.extent);
    free(list.ranges);
    dwarf_reader_init(&reader, file, &own.extent);
    for (unsigned i = 0; i < UNITS_PER_CASE && file->unit_count != 0; i++) {
        const struct dwarf_unit_header *unit =
            &file->units[i < UNITS_PER_CASE / 2 ? i % file->unit_count : random_below(random, file->unit_count)];
        size_t size_bytes;
        void *block;

        if (dwarf_reader_make_table(&reader, unit->first_entry, &block, &size_bytes) != 0)
            continue;
        ask(block, size_bytes, random);
        free(block);
    }
    dwarf_reader_deinit(&reader);
}

static void run_case(struct random *random)
{
    struct dwarf_sections sections = own.sections;
    struct dwarf_span *const spans[] = {&sections.info,    &sections.abbrev, &sections.line,
                                        &sections.str,     &sections.ranges, &sections.rnglists,
                                        &sections.aranges, &sections.addr,   &sections.str_offsets};
    bool is_copy[sizeof(spans) / sizeof(spans[0])];
    struct dwarf_file file;

    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        is_copy[i] = random_chance(random, 1, 2);
        if (is_copy[i])
            damage(random, spans[i], random_below(random, 1ull << random_below(random, 12)));
    }
    if (dwarf_file_init(&file, &sections, random_chance(random, 1, 2) ? &own.dwarf : NULL) != 0)
        exit(2);
    read_units(&file, random);
    dwarf_file_deinit(&file);
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        if (is_copy[i])
            free((void *)(uintptr_t)spans[i]->bytes);
}

int main(int argc, char **argv)
{
    struct fuzz_arguments arguments;
    uint64_t cases = 0;
    time_t start = time(NULL);

    if (!fuzz_arguments_read(argc, argv, " [PROGRAM]", &arguments))
        return 2;
    own_dwarf_open(&own, optind < argc ? argv[optind] : NULL);
    for (; (uint64_t)(time(NULL) - start) < arguments.seconds; cases++) {
        struct random random;

        random_init(&random, random_seed_derive(arguments.seed, cases));
        alarm(CASE_SECONDS_MAX);
        run_case(&random);
    }
    printf("seed %" PRIu64 ": %" PRIu64 " cases\n", arguments.seed, cases);
    own_dwarf_close(&own);
    return 0;
}
