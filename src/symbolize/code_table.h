/* SPDX-License-Identifier: MIT */
/*
 * What debug information says of the code of one unit (a source file, as a rule), in a form that is quick to ask: a
 * block of bytes with places in it instead of pointers, so that it can be kept in a file and used where it is mapped. A
 * block may come from anywhere: code_table_check looks at it once, after that it can be asked.
 *
 *   header | lines, by address | spans, by address | scopes | files | texts
 *
 * A line covers the code up to the next one, and so does a span, which says whose code it is: a scope is a function, or
 * one that was put into another scope.
 */
#ifndef GAIT_SYMBOLIZE_CODE_TABLE_H
#define GAIT_SYMBOLIZE_CODE_TABLE_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_table_header {
    uint64_t base; /* addresses are counted from here */
    uint32_t size_bytes;
    uint32_t line_count;
    uint32_t span_count;
    uint32_t scope_count;
    uint32_t file_count;
    uint32_t text_bytes;
};

struct code_line {
    uint32_t offset; /* from the base */
    uint32_t line;   /* 0: not known */
    uint16_t file;   /* its number and one; 0: there is no line from here on */
    uint16_t column; /* 0: not known */
};

struct code_span {
    uint32_t offset;
    uint32_t scope; /* its number and one; 0: nobody's */
};

struct code_scope {
    uint32_t name;   /* a text */
    uint32_t parent; /* what it was put into: its number, below its own, and one; 0: it is a function of its own */
    uint32_t line;   /* where it was called, or declared if it is a function of its own */
    uint16_t file;   /* the same: number and one; 0: not known */
    uint16_t column;
    uint32_t is_plain; /* the name is a short one: a symbol, if there is one, tells more */
};

_Static_assert(sizeof(struct code_table_header) == 32, "in files");
_Static_assert(sizeof(struct code_line) == 12, "in files");
_Static_assert(sizeof(struct code_span) == 8, "in files");
_Static_assert(sizeof(struct code_scope) == 20, "in files");

/* The beginning of such a block, with the places of its parts. */
struct code_table {
    const struct code_table_header *header;
    const struct code_line *lines;
    const struct code_span *spans;
    const struct code_scope *scopes;
    const uint32_t *files; /* texts */
    const char *texts;     /* each ended by a NUL; the first one is empty */
};

/*
 * Looks whether all that the block says is inside of it. It must be aligned to 8 bytes and stay as it is. -EPROTO: it
 * is no such block, or damaged.
 */
MUST_USE int code_table_check(const void *block, size_t size_bytes, struct code_table *table_out);

/* The line that an address has; NULL: none. */
const struct code_line *code_table_line(const struct code_table *table, uint64_t address);

/* The innermost scope that an address is in; NULL: none. */
const struct code_scope *code_table_scope(const struct code_table *table, uint64_t address);

/* What it was put into; NULL: it is a function of its own. */
const struct code_scope *code_table_parent(const struct code_table *table, const struct code_scope *scope);

const char *code_table_name(const struct code_table *table, const struct code_scope *scope);
/* NULL: not known. */
const char *code_table_file(const struct code_table *table, uint16_t file);

#endif
