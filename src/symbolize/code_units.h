/* SPDX-License-Identifier: MIT */
/*
 * The units of a program's debug information, by the code that they have, and what is known of each so far. One thread
 * at a time; but different threads may give tables to different units.
 */
#ifndef GAIT_SYMBOLIZE_CODE_UNITS_H
#define GAIT_SYMBOLIZE_CODE_UNITS_H

#include "base/attributes.h"
#include "symbolize/code_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_range;

enum code_unit_state { CODE_UNIT_NEW, CODE_UNIT_READY, CODE_UNIT_EMPTY /* there is nothing to be had */ };

struct code_unit {
    uint64_t unit; /* its name in the debug information */
    enum code_unit_state state;
    bool is_whole;      /* it may be kept: nothing of it was missing */
    bool is_from_cache; /* it is kept already */
    void *block;        /* owned */
    struct code_table table;
    /* Where it is kept; size 0: nowhere. */
    uint64_t kept_place;
    uint32_t kept_bytes;
    uint32_t kept_sum;
};

struct code_unit_range {
    uint64_t begin;
    uint64_t end;
    uint64_t covered_end; /* of this one and all before it, whatever ends last */
    uint32_t unit;        /* which */
};

struct code_units {
    struct code_unit_range *ranges; /* by their begin */
    size_t range_count;
    struct code_unit *units; /* by their names */
    size_t unit_count;
};

/* -ENOMEM; -E2BIG: there are too many units. */
MUST_USE int code_units_make(struct code_units *units, const struct dwarf_range *ranges, size_t count);
void code_units_deinit(struct code_units *units);

/* Whether they have the same code and names. */
bool code_units_are_same(const struct code_units *left, const struct code_units *right);

/*
 * The units that have an address, one after the other; cursor is 0 at first. NULL: no more. Nearly always there is one
 * at most.
 */
struct code_unit *code_units_next(const struct code_units *units, uint64_t address, size_t *cursor);

/* Gives a unit its table, which it then owns. -EPROTO: it is damaged, and stays with the caller. */
MUST_USE int code_unit_set_table(struct code_unit *unit, void *block, size_t size_bytes);

#endif
