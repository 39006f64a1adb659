/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses with names that were given to them at some time, later ones in place of earlier ones: code that
 * programs make while they run, or the kernel's. Filled first, then finished, then asked; after that it does not
 * change.
 */
#ifndef GAIT_SYMBOLIZE_NAMED_CODE_H
#define GAIT_SYMBOLIZE_NAMED_CODE_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>

struct named_range {
    uint64_t begin;
    uint64_t end;
    uint64_t time; /* since when */
    uint64_t order;
    uint64_t covered_end; /* of this one and all before it, whatever ends last */
    size_t name;          /* where it is in the texts */
    uint32_t line;        /* 0: not known */
};

struct named_code {
    struct named_range *ranges;
    size_t count;
    size_t capacity;
    char *texts;
    size_t text_bytes;
    size_t text_capacity;
};

void named_code_init(struct named_code *code);
void named_code_deinit(struct named_code *code);

/* Adds a range; the name is copied. One that ends before it begins is left out. -ENOMEM. */
MUST_USE int named_code_add(struct named_code *code, const struct named_range *range, const char *name, size_t length);

/* Puts it in order. Ranges without an end (end 0) get the begin of the next one. */
void named_code_finish(struct named_code *code);

/* The range that has the address at that time: of several the one that came last. NULL: none. */
const struct named_range *named_code_find(const struct named_code *code, uint64_t address, uint64_t time);

const char *named_code_name(const struct named_code *code, const struct named_range *range);

#endif
