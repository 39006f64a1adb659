/* SPDX-License-Identifier: MIT */
#include "support/table_compare.h"

#include "symbolize/dwarf/dwarf_code.h"
#include "symbolize/dwarf/dwarf_session.h"
#include "symbolize/dwarf/dwarf_unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The tables of a unit, made in both ways. */
struct both {
    uint64_t unit;
    void *blocks[2];
    struct code_table tables[2];
};

static void forget(struct both *both)
{
    free(both->blocks[0]);
    free(both->blocks[1]);
    *both = (struct both){.unit = UINT64_MAX};
}

static bool make_both(struct both *both, struct dwarf_code *code, struct dwarf_session *session)
{
    size_t sizes[2];
    Dwarf_Die entry;
    bool is_whole;

    return dwarf_code_make_table(code, both->unit, &both->blocks[0], &sizes[0], &is_whole) == 0 &&
           dwarf_offdie(session->dwarf, both->unit, &entry) != NULL &&
           dwarf_unit_make_table(&entry, &session->extent, &both->blocks[1], &sizes[1], &is_whole) == 0 &&
           code_table_check(both->blocks[0], sizes[0], &both->tables[0]) == 0 &&
           code_table_check(both->blocks[1], sizes[1], &both->tables[1]) == 0;
}

size_t table_compare_program(const char *path, size_t *count_out)
{
    struct both both = {.unit = UINT64_MAX};
    struct dwarf_range *ranges = NULL;
    struct dwarf_session session;
    struct dwarf_code *code;
    size_t count = 0, differences = 0;

    if (dwarf_code_open(path, "", &code) != 0 || dwarf_session_begin(&session, path, "") != 0 ||
        dwarf_code_ranges(code, &ranges, &count) != 0)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].unit != both.unit) {
            forget(&both);
            both.unit = ranges[i].unit;
            if (!make_both(&both, code, &session)) {
                printf("there is no table of unit 0x%" PRIx64 "\n", ranges[i].unit);
                return 1;
            }
        }
        differences += table_compare(&both.tables[0], &both.tables[1], &ranges[i], count_out);
    }
    forget(&both);
    free(ranges);
    dwarf_session_end(&session);
    dwarf_code_close(code);
    return differences;
}
