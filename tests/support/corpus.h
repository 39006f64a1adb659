/* SPDX-License-Identifier: MIT */
/*
 * Real machine code to test with: the executable sections of big libraries and programs that a Debian system has, and
 * of the test program itself. Files that are missing are left out with a line that says so.
 */
#ifndef GAIT_TESTS_CORPUS_H
#define GAIT_TESTS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORPUS_MAX_FILES    16
#define CORPUS_MAX_SECTIONS 128

struct corpus_file {
    const char *name;
    char path[256];
    uint8_t *bytes; /* the whole file, mapped read-only */
    size_t size_bytes;
    bool is_large; /* tens of megabytes: too much for anything slow */
};

struct corpus_section {
    const struct corpus_file *file;
    const char *name;
    const uint8_t *bytes;
    size_t size_bytes;
    uint64_t address;
};

struct corpus {
    struct corpus_file files[CORPUS_MAX_FILES];
    size_t file_count;
    struct corpus_section sections[CORPUS_MAX_SECTIONS]; /* those with code */
    size_t section_count;
};

/* A part of a section that is small enough to be one job among many. */
struct corpus_piece {
    const struct corpus_section *section;
    size_t begin, end;
};

/* Finds and maps what there is. */
void corpus_init(struct corpus *corpus);

void corpus_deinit(struct corpus *corpus);

/* Adds a file by its path. Returns 0, or -errno when it cannot be read or is no x86-64 ELF file. */
__attribute__((warn_unused_result)) int corpus_add(struct corpus *corpus, const char *path);

/*
 * Cuts all sections into pieces of at most size_bytes. Returns how many, stored in *pieces_out; the caller frees them.
 */
size_t corpus_cut(const struct corpus *corpus, size_t size_bytes, struct corpus_piece **pieces_out);

#endif
