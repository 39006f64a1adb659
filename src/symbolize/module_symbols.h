/* SPDX-License-Identifier: MIT */
/*
 * The file of a module of a trace, as it is found now: whether it is the one that was recorded, the names in its symbol
 * tables, and the names of the stubs through which it calls others. If it is not, what was kept of it in the trace
 * stands in for it. One thread at a time.
 */
#ifndef GAIT_SYMBOLIZE_MODULE_SYMBOLS_H
#define GAIT_SYMBOLIZE_MODULE_SYMBOLS_H

#include "base/attributes.h"
#include "elf/symbol_file.h"
#include "symbolize/debug_file.h"
#include "symbolize/symbol_index.h"
#include "trace/kept_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorded_module;

struct module_symbols {
    /* The file that is used, for debug information too: "", or one in the trace, if not the one that is wanted. */
    char *path;
    char *wanted_path;  /* of the module; without memory for it: NULL */
    uint64_t loaded_at; /* when it was mapped: of modules without a build ID, each may be another one */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
    const char *problem;    /* NULL: nothing is wrong; else a static text that follows "its file" */
    bool has_kept;          /* what was kept in the trace is used in its place, whether or not there is a problem */
    struct kept_names kept; /* the names in the index */
    struct symbol_file file;
    struct symbol_file loaded; /* read when a stub is looked for; memory NULL: not yet */
    bool has_no_loaded;        /* it was tried */
    struct debug_file debug;   /* more names; often none */
    struct symbol_index index;
    struct symbol_index debug_index;
};

/*
 * Opens the file that the module names, if it is the one that was recorded; else `problem` says what is wrong. More
 * names are looked for in those folders, as debug_file_open does.
 */
void module_symbols_open(struct module_symbols *file, const struct recorded_module *module, const char *debug_folders);

/* The same; what was kept of it in the trace, whose folder is open, is used if the file is not that one. -1: none is.
 */
void module_symbols_open_kept(struct module_symbols *file, const struct recorded_module *module,
                              const char *debug_folders, int trace);
void module_symbols_close(struct module_symbols *file);

/* Whether it was opened for such a module: one of the same path and build ID. */
bool module_symbols_is_of(const struct module_symbols *file, const struct recorded_module *module);

/* What the file itself calls an address of the module. -ENOENT: it cannot be used, or has no code there. */
MUST_USE int module_symbols_place(const struct module_symbols *file, const struct recorded_module *module,
                                  uint64_t address, uint64_t *place_out);

/* The symbol that covers a place; NULL: none. Stays until the file is closed. */
const struct elf_symbol *module_symbols_symbol(const struct module_symbols *file, uint64_t place);

/*
 * The name of the function that a stub at that place calls in another library. It points into the file and is not ended
 * by a NUL. -ENOENT: there is no stub.
 */
MUST_USE int module_symbols_stub(struct module_symbols *file, uint64_t place, const char **name_out,
                                 size_t *length_out);

#endif
