/* SPDX-License-Identifier: MIT */
/*
 * What all tables of a query look at: the trace, its functions with their names, sums over all calls once somebody
 * wanted them, and what could not be read. One thread at a time.
 */
#ifndef GAIT_QUERY_QUERY_SOURCE_H
#define GAIT_QUERY_QUERY_SOURCE_H

#include "query/count_weights.h"
#include "symbolize/symbolizer.h"
#include "view/view_functions.h"

#include <stdbool.h>

struct call_totals;

/* A function as columns show it. */
struct query_function {
    const struct view_function *shown;
    int name_bytes;
    const char *module; /* the name of its file, without folders; NULL: none */
    int module_bytes;
    int64_t id;
    bool is_placed;   /* its source was looked for: */
    uint32_t line;    /* 0: not known */
    const char *file; /* NULL: not known */
};

/* Functions that were found lately, by address: while its module is there, one is not looked for again. */
#define QUERY_RECENT_FUNCTIONS 4096u

struct query_recent_function {
    uint64_t address;
    uint64_t from; /* the counter */
    uint64_t to;   /* from there on it may be another one */
    uint32_t process;
    uint32_t number;
};

struct query_source {
    const struct view_trace *trace;
    struct view_functions *functions;
    struct view_functions own_functions;
    struct query_recent_function *recent;
    struct query_function *known; /* by number; those that were not needed have no `shown` */
    size_t known_count;
    struct symbolizer lines;    /* for files and lines of functions */
    struct call_totals *totals; /* NULL: not asked for */
    struct count_weights weights;
    int problem; /* not 0: something of the trace could not be read, and: */
    struct gait_error why;
};

/* Functions are numbered by those of the trace that are given; NULL: by its own. Both must outlive it. -ENOMEM. */
MUST_USE int query_source_init(struct query_source *source, const struct view_trace *trace,
                               struct view_functions *functions);
void query_source_deinit(struct query_source *source);

/* Remembers the first problem. */
void query_source_note(struct query_source *source, int result, const struct gait_error *why);

/* The function's number; VIEW_NO_FUNCTION: there is no memory. */
uint32_t query_source_number(struct query_source *source, size_t process, uint64_t address, uint64_t time);

/* Good until the next call. Resolves names when it is first asked. */
const struct query_function *query_source_function(struct query_source *source, uint32_t number);

/* The same, with its file and line, for which debug information is read. */
const struct query_function *query_source_placed(struct query_source *source, uint32_t number);

/* Ticks of the counter as nanoseconds. */
int64_t query_source_span_ns(const struct query_source *source, uint64_t ticks);

/* When, from `time` back and on, nothing was loaded or unloaded in the process: from <= time < to. */
void query_module_pause(const struct modules *modules, uint64_t time, uint64_t *from_out, uint64_t *to_out);

/* The bytes of all events of the trace, as they are in its files. */
double query_source_event_bytes(const struct query_source *source);

#endif
