/* SPDX-License-Identifier: MIT */
/*
 * Memory that code under test is written into, with the encoder and through `writer`, and run from as it is. For tests
 * that have to know the address of each instruction. Where it runs it cannot be written, as is usual for code: writing
 * is done in another view of the same memory.
 */
#ifndef GAIT_TESTS_CODE_PAGE_H
#define GAIT_TESTS_CODE_PAGE_H

#include "base/code_writer.h"

#include <stddef.h>
#include <stdint.h>

struct code_page {
    uint8_t *bytes; /* for writing */
    uint64_t start; /* for running */
    size_t size_bytes;
    struct code_writer writer; /* of all of it */
};

/*
 * Zeroed memory, in two views; that for running is private, as the code of programs is, so that the engine takes it for
 * code that does not change. Ends the program if there is none.
 */
void code_page_init(struct code_page *page, size_t size_bytes);
void code_page_deinit(struct code_page *page);

/* Begins again at the start. What was written stays until it is overwritten. */
void code_page_rewind(struct code_page *page);

/* Where the next instruction will stand. */
static inline uint64_t code_page_here(const struct code_page *page)
{
    return code_writer_pc(&page->writer).value;
}

static inline uint64_t code_page_start(const struct code_page *page)
{
    return page->start;
}

static inline uint64_t code_page_end(const struct code_page *page)
{
    return code_page_start(page) + page->size_bytes;
}

/* Writes the bytes of a string constant. */
#define CODE_PAGE_PUT(page, bytes) code_writer_put_bytes(&(page)->writer, bytes, sizeof(bytes) - 1)

#endif
