/* SPDX-License-Identifier: MIT */
/*
 * What of a program ran: for each file that was mapped, all of its functions, how often they were called and how much
 * of them ran, and the blocks that did. Processes that have the same file mapped are one. One thread at a time.
 */
#ifndef GAIT_VIEW_COVERAGE_H
#define GAIT_VIEW_COVERAGE_H

#include "symbolize/module_functions.h"
#include "view/code_ranges.h"
#include "view/executed_code.h"

struct coverage_function {
    const char *name; /* "file+0x1234" where there is nothing better */
    uint64_t start;   /* places are as the file itself calls addresses; without the file: places in the file */
    uint64_t end;
    uint64_t count;          /* how often it began; of one that was only come into the middle of: 0 */
    uint64_t executed_bytes; /* 0 where no blocks were recorded */
    bool is_executed;
    bool is_watched; /* else nobody knows whether it ran: it was not hooked */
};

/* A file. */
struct coverage_module {
    const struct recorded_module *module; /* the first mapping of it */
    const char *problem; /* why its functions are not known, only those that ran: follows "its file"; NULL */
    char *debug_path;    /* of what has its debug information; "": nothing has */
    uint64_t base;       /* the places that it says to be loaded at */
    uint64_t end;
    struct coverage_function *functions; /* by start */
    size_t function_count;
    size_t executed_functions;
    struct code_range *blocks; /* that ran, or instructions: by start, then end; none comes twice */
    size_t block_count;
    struct code_ranges ranges; /* the same, without overlapping */
    char *made_names;
};

struct coverage {
    struct executed_code code;
    struct coverage_module *modules; /* in the order in which they were first mapped */
    size_t count;
    uint64_t elsewhere; /* functions and blocks that ran where no file was mapped */
};

/* How much there is, and how much of it ran. */
struct coverage_totals {
    size_t functions; /* that were watched */
    size_t executed_functions;
    size_t unwatched_functions;
    uint64_t code_bytes; /* of those that were watched; what several of them say to have counts once */
    uint64_t executed_bytes;
    size_t blocks; /* that ran */
};

/* Which functions count; NULL for wants: all of them, and blocks that are in none. */
struct coverage_filter {
    bool (*wants)(const void *context, const struct coverage_module *module, const struct coverage_function *function);
    const void *context;
};

/*
 * Reads what is chosen of the trace (NULL: all of it), which must outlive this. 0; -ENOMEM; or the first error,
 * explained, where not all of it could be read. coverage_deinit gives back what there is, whatever the result is.
 */
MUST_USE int coverage_read(struct coverage *coverage, const struct view_trace *trace,
                           const struct executed_choice *choice, struct gait_error *err);
void coverage_deinit(struct coverage *coverage);

void coverage_count(const struct coverage_module *module, const struct coverage_filter *filter,
                    struct coverage_totals *totals_out);

#endif
