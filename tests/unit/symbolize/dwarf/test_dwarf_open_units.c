/* SPDX-License-Identifier: MIT */
/* The units of this program. */
#include "symbolize/dwarf/dwarf_open_units.h"

#include "support/check.h"
#include "support/own_dwarf.h"

#include <errno.h>

static struct own_dwarf own;

static const char *name_of(const struct dwarf_open_unit *unit)
{
    const char *name = dwarf_value_text(&unit->view, &unit->entry.fields[DWARF_FIELD_NAME]);

    return name == NULL ? "" : name;
}

static void units_are_opened_once(void)
{
    struct dwarf_open_units units;
    struct dwarf_open_unit *unit, *again;
    size_t found = 0;

    dwarf_open_units_init(&units, UINT64_MAX);
    for (size_t i = 0; i < own.dwarf.unit_count; i++) {
        CHECK_EQUAL(dwarf_open_units_get(&units, &own.dwarf, &own.dwarf.units[i], &unit), 0);
        CHECK_EQUAL(dwarf_open_units_get(&units, &own.dwarf, &own.dwarf.units[i], &again), 0);
        CHECK(unit == again);
        if (strstr(name_of(unit), "test_dwarf_open_units.c") == NULL)
            continue;
        found++;
        CHECK(unit->folder != NULL && unit->folder[0] == '/' && unit->first_child != 0);
        CHECK(dwarf_open_units_lines(&units, unit) != NULL);
        CHECK(unit->lines.file_count > 3);
    }
    CHECK_EQUAL(found, 1);
    CHECK_EQUAL(units.count, own.dwarf.unit_count);
    dwarf_open_units_trim(&units);
    dwarf_open_units_deinit(&units);
}

static void a_look_tells_the_same_as_opening(void)
{
    struct dwarf_open_units units;
    struct dwarf_open_unit *unit, peeked;

    dwarf_open_units_init(&units, UINT64_MAX);
    for (size_t i = 0; i < own.dwarf.unit_count; i++) {
        CHECK_EQUAL(dwarf_open_units_get(&units, &own.dwarf, &own.dwarf.units[i], &unit), 0);
        CHECK_EQUAL(dwarf_open_unit_peek(&own.dwarf, &own.dwarf.units[i], &peeked), 0);
        CHECK(memcmp(unit->entry.fields, peeked.entry.fields, sizeof(peeked.entry.fields)) == 0);
        CHECK_EQUAL(unit->view.base_address, peeked.view.base_address);
    }
    dwarf_open_units_deinit(&units);
}

static void nothing_is_read_beyond_the_limit(void)
{
    struct dwarf_open_units units;
    struct dwarf_open_unit *unit;

    dwarf_open_units_init(&units, 10);
    CHECK(dwarf_open_units_spend(&units, 4));
    CHECK_EQUAL(dwarf_open_units_get(&units, &own.dwarf, &own.dwarf.units[0], &unit), -ENOTSUP);
    CHECK(!dwarf_open_units_spend(&units, 1));
    dwarf_open_units_deinit(&units);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(units_are_opened_once),
        CHECK_CASE(a_look_tells_the_same_as_opening),
        CHECK_CASE(nothing_is_read_beyond_the_limit),
    };
    int status;

    own_dwarf_open(&own, NULL);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    own_dwarf_close(&own);
    return status;
}
