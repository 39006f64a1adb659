/* SPDX-License-Identifier: MIT */
/*
 * Makes the table of a unit's code (code_table.h) out of what debug information says, in the order in which it says it.
 * Without memory, or when something does not fit, it is sticky: code_table_builder_finish reports it. One thread at a
 * time.
 */
#ifndef GAIT_SYMBOLIZE_CODE_TABLE_BUILDER_H
#define GAIT_SYMBOLIZE_CODE_TABLE_BUILDER_H

#include "base/attributes.h"
#include "symbolize/code_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list that grows. */
struct code_table_list {
    void *items;
    size_t count;
    size_t capacity;
};

struct code_table_builder {
    struct code_table_list lines;  /* struct built_line */
    struct code_table_list ranges; /* struct built_range */
    struct code_table_list spans;  /* struct built_span */
    struct code_table_list scopes; /* struct code_scope */
    struct code_table_list files;  /* uint32_t */
    struct code_table_list hashes; /* of their paths: uint32_t */
    struct code_table_list texts;  /* char */
    int result;
};

struct source_location {
    uint16_t file; /* as code_table_builder_add_file said; 0: none */
    uint16_t column;
    uint32_t line;
};

void code_table_builder_init(struct code_table_builder *builder);
void code_table_builder_deinit(struct code_table_builder *builder);

/* A text to be named by its place. */
uint32_t code_table_builder_add_text(struct code_table_builder *builder, const char *text);

/* A file, once; its number and one. 0: there are too many. */
uint16_t code_table_builder_add_file(struct code_table_builder *builder, const char *path);

/* From this address on there is that line; with file 0, none. Of several at one address the last one counts, and one
 * rather than none. */
void code_table_builder_add_line(struct code_table_builder *builder, uint64_t address, struct source_location place);

struct code_name {
    uint32_t text;
    bool is_plain;
};

/* A function, or what was put into `parent` (a number and one). Its number and one; 0: there is no memory. */
uint32_t code_table_builder_add_scope(struct code_table_builder *builder, struct code_name name, uint32_t parent,
                                      struct source_location place);

/* Code of the scope with that number and one. Of several scopes with the same code the one that was added last has it.
 */
void code_table_builder_add_range(struct code_table_builder *builder, uint32_t scope, uint64_t begin, uint64_t end);

/* The block, the caller's to be freed. -ENOMEM; -E2BIG. */
MUST_USE int code_table_builder_finish(struct code_table_builder *builder, void **block_out, size_t *size_out);

#endif
