/* SPDX-License-Identifier: MIT */
/*
 * The functions of a program or library: which code belongs to which name, and what the file is, so that it is
 * recognized. Kept in the trace, so that it can be read where the file is gone. Nothing in a file of names is trusted.
 * After making or reading it does not change.
 */
#ifndef GAIT_TRACE_KEPT_NAMES_H
#define GAIT_TRACE_KEPT_NAMES_H

#include "base/attributes.h"
#include "gait/error.h"
#include "trace/trace_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk_encoder;
struct recorded_module;

/* Long enough for the name of a file of names. */
#define KEPT_NAME_BYTES 96

struct kept_function {
    uint64_t address; /* as the file calls it */
    uint64_t size_bytes;
    uint64_t covered_end; /* of this one and all before it, whatever ends last */
    size_t name;          /* where in the text */
};

struct kept_names {
    struct trace_names file; /* which one; the counts in it are those of the lists here */
    char *path;
    struct trace_segment *segments;
    struct kept_function *functions; /* by address; of several at one address, the best name is last */
    size_t function_count;
    size_t function_capacity;
    char *text; /* names, each ended by a NUL */
    size_t text_bytes;
    size_t text_capacity;
};

/* What the file is called in the folder of names that are kept: by the build ID of the module, or else by its path. */
void kept_names_file(const struct recorded_module *module, char name_out[KEPT_NAME_BYTES]);

/* Behind all others, by address; address and size must not be beyond what there is. -ENOMEM; -E2BIG: too many. */
MUST_USE int kept_names_add(struct kept_names *names, uint64_t address, uint64_t size_bytes, const char *name,
                            size_t name_length);
/* All zero, or made or read, perhaps in part. */
void kept_names_deinit(struct kept_names *names);

/*
 * Writes it to an open folder, under that name: wholly, or not at all. The size of the file may be NULL. -EEXIST: it is
 * there; what stream_writer gives: -ENOSPC and others.
 */
MUST_USE int kept_names_write(const struct kept_names *names, int folder, const char *name,
                              struct chunk_encoder *encoder, uint64_t *size_out);

/* Reads all of it; a part is not good enough. Explains errors. The names are unchanged by one. */
MUST_USE int kept_names_read(struct kept_names *names, int folder, const char *path, struct gait_error *err);

/* Whether the names are those of that module. */
bool kept_names_are_of(const struct kept_names *names, const struct recorded_module *module);

/* What the file calls the address of what is at that place in it. -ENOENT: no code is loaded from there. */
MUST_USE int kept_names_place(const struct kept_names *names, uint64_t file_offset, uint64_t *address_out);

#endif
