/* SPDX-License-Identifier: MIT */
#include "symbolize/code_units.h"

#include "base/partition_point.h"
#include "symbolize/dwarf/dwarf_code.h"

#include <errno.h>
#include <stdlib.h>

static int compare_names(const void *left_unit, const void *right_unit)
{
    const struct code_unit *left = left_unit, *right = right_unit;

    return left->unit < right->unit ? -1 : left->unit > right->unit;
}

static int compare_ranges(const void *left_range, const void *right_range)
{
    const struct code_unit_range *left = left_range, *right = right_range;

    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return left->unit < right->unit ? -1 : left->unit > right->unit;
}

static void gather_units(struct code_units *units, const struct dwarf_range *ranges, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        units->units[i] = (struct code_unit){.unit = ranges[i].unit};
    if (count != 0)
        qsort(units->units, count, sizeof(units->units[0]), compare_names);
    for (size_t i = 0; i < count; i++)
        if (used == 0 || units->units[used - 1].unit != units->units[i].unit)
            units->units[used++] = units->units[i];
    units->unit_count = used;
}

static uint32_t which_unit(const struct code_units *units, uint64_t name)
{
    const struct code_unit wanted = {.unit = name};
    const struct code_unit *found =
        bsearch(&wanted, units->units, units->unit_count, sizeof(units->units[0]), compare_names);

    return (uint32_t)(found - units->units);
}

/* The same range may be told twice. */
static void gather_ranges(struct code_units *units, const struct dwarf_range *ranges, size_t count)
{
    size_t used = 0;
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++)
        units->ranges[i] =
            (struct code_unit_range){ranges[i].begin, ranges[i].end, 0, which_unit(units, ranges[i].unit)};
    if (count != 0)
        qsort(units->ranges, count, sizeof(units->ranges[0]), compare_ranges);
    for (size_t i = 0; i < count; i++)
        if (used == 0 || compare_ranges(&units->ranges[used - 1], &units->ranges[i]) != 0)
            units->ranges[used++] = units->ranges[i];
    units->range_count = used;
    for (size_t i = 0; i < used; i++) {
        end = units->ranges[i].end > end ? units->ranges[i].end : end;
        units->ranges[i].covered_end = end;
    }
}

int code_units_make(struct code_units *units, const struct dwarf_range *ranges, size_t count)
{
    *units = (struct code_units){.unit_count = 0};
    if (count > UINT32_MAX)
        return -E2BIG;
    units->units = calloc(count + 1, sizeof(units->units[0]));
    units->ranges = calloc(count + 1, sizeof(units->ranges[0]));
    if (units->units == NULL || units->ranges == NULL) {
        code_units_deinit(units);
        return -ENOMEM;
    }
    gather_units(units, ranges, count);
    gather_ranges(units, ranges, count);
    return 0;
}

void code_units_deinit(struct code_units *units)
{
    for (size_t i = 0; i < units->unit_count; i++)
        free(units->units[i].block);
    free(units->units);
    free(units->ranges);
    *units = (struct code_units){.unit_count = 0};
}

bool code_units_are_same(const struct code_units *left, const struct code_units *right)
{
    if (left->unit_count != right->unit_count || left->range_count != right->range_count)
        return false;
    for (size_t i = 0; i < left->unit_count; i++)
        if (left->units[i].unit != right->units[i].unit)
            return false;
    for (size_t i = 0; i < left->range_count; i++)
        if (compare_ranges(&left->ranges[i], &right->ranges[i]) != 0)
            return false;
    return true;
}

/* How many ranges begin at the address or before it. */
static size_t count_up_to(const struct code_units *units, uint64_t address)
{
    return PARTITION_POINT(units->range_count, i, units->ranges[i].begin <= address);
}

struct code_unit *code_units_next(const struct code_units *units, uint64_t address, size_t *cursor)
{
    /* One more than where to go on, backwards. */
    size_t i = *cursor == 0 ? count_up_to(units, address) : *cursor - 1;

    for (; i > 0 && units->ranges[i - 1].covered_end > address; i--)
        if (units->ranges[i - 1].end > address) {
            *cursor = i;
            return &units->units[units->ranges[i - 1].unit];
        }
    *cursor = 1;
    return NULL;
}

int code_unit_set_table(struct code_unit *unit, void *block, size_t size_bytes)
{
    int result = code_table_check(block, size_bytes, &unit->table);

    if (result != 0)
        return result;
    unit->block = block;
    unit->state = CODE_UNIT_READY;
    return 0;
}
