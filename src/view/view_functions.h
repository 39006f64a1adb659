/* SPDX-License-Identifier: MIT */
/*
 * The functions of a trace, numbered from 0 on in the order in which they are first asked for: by process, address, and
 * the module that was there at that time, for another one may come to the same place. Names are looked for when
 * somebody wants them. One thread at a time.
 */
#ifndef GAIT_VIEW_VIEW_FUNCTIONS_H
#define GAIT_VIEW_VIEW_FUNCTIONS_H

#include "symbolize/function_names.h"
#include "view/pattern_lines.h"
#include "view/view_trace.h"

#define VIEW_NO_FUNCTION UINT32_MAX

struct view_function {
    uint32_t number;
    size_t process; /* index */
    uint64_t address;
    const struct recorded_module *module; /* NULL: none was there */
    const char *name;                     /* "0x401000", or "file+0x1000", where there is nothing better; never NULL */
    const char *file;                     /* of the source, where it begins; NULL: not known, or nobody wants to know */
    uint32_t line;                        /* there; 0: not known */
    const char *problem; /* why the names of its file are not used: a text that follows "its file"; NULL */
};

struct view_functions {
    const struct view_trace *trace;
    struct function_names names;
    struct pattern_lines lines;
    bool has_sources; /* files and lines are wanted, too */
    struct numbered_function *functions;
    size_t count;
    size_t capacity;
    struct hash_map *addresses; /* of each process: address -> the last of its functions */
    uint64_t *first_modules;    /* of each process: how many modules those before it have */
};

/* The trace must outlive it. -ENOMEM. */
MUST_USE int view_functions_init(struct view_functions *functions, const struct view_trace *trace);
void view_functions_deinit(struct view_functions *functions);

/* VIEW_NO_FUNCTION: there is no memory. `time` is the counter. */
uint32_t view_functions_number(struct view_functions *functions, size_t process, uint64_t address, uint64_t time);

/* What was mapped where that function is; NULL: nothing. Looks for no name. */
const struct recorded_module *view_functions_module(const struct view_functions *functions, uint32_t number);

/*
 * What identifies the function in its trace, whoever numbers it: where in which of all modules it is. Negative: by its
 * process and address, where no module is.
 */
int64_t view_functions_id(const struct view_functions *functions, uint32_t number);

/* Before any is looked at: files and lines are wanted. Debug information is read for them, which takes longer. */
void view_functions_want_sources(struct view_functions *functions);

/* The same: who is to be told how far the reading of debug information is. */
void view_functions_watch(struct view_functions *functions, struct symbolizer_watch watch);

/* Says that all that were numbered so far will be looked at: what is needed for it is read by several threads at once.
 */
void view_functions_prepare(struct view_functions *functions);

/* Good until the functions go; of a number that was given. Without memory the name is "?". */
const struct view_function *view_functions_at(struct view_functions *functions, uint32_t number);

#endif
