/* SPDX-License-Identifier: MIT */
/*
 * What calls of a trace are counted by: their function, its module or source, or the thread. Groups are numbered from 0
 * on as they are first asked for. Functions that are the same place of the same file are one, in all processes. Any
 * number of threads may ask for groups; looking at them is for one thread at a time, when nobody asks.
 */
#ifndef GAIT_VIEW_CALL_GROUPS_H
#define GAIT_VIEW_CALL_GROUPS_H

#include "symbolize/symbolizer.h"
#include "view/text_numbers.h"
#include "view/view_functions.h"

#include <pthread.h>

#define CALL_GROUP_NONE UINT32_MAX /* a filter leaves the call out */

enum call_group_kind {
    CALL_GROUP_FUNCTION,
    CALL_GROUP_MODULE,
    CALL_GROUP_THREAD, /* the number is the thread's index in the trace */
    CALL_GROUP_FILE,   /* where its source is */
    CALL_GROUP_LINE,
};

struct call_group {
    uint32_t function; /* one of its functions; of a thread: VIEW_NO_FUNCTION */
    const char *file;  /* of those by source: NULL if that is not known */
    uint32_t line;
};

struct call_groups {
    const struct view_trace *trace;
    enum call_group_kind kind;
    const char *filter; /* NULL: none */
    struct view_functions functions;
    struct symbolizer symbolizer; /* of those by source: it knows lines, which takes longer */
    struct text_numbers keys;
    struct call_group *groups;
    size_t count;
    size_t capacity;
    pthread_mutex_t lock;
};

/* A group, and how long that is the answer for its address: what is there may change. */
struct call_group_answer {
    uint32_t group;
    uint64_t from; /* the counter */
    uint64_t to;   /* before that */
};

/*
 * The filter is a pattern for functions (view/function_pattern.h): calls of others are in no group.
 * The trace and the filter must outlive it. -ENOMEM.
 */
MUST_USE int call_groups_init(struct call_groups *groups, const struct view_trace *trace, enum call_group_kind kind,
                              const char *filter);
void call_groups_deinit(struct call_groups *groups);

/* The group of a call at that time. -ENOMEM. */
MUST_USE int call_groups_find(struct call_groups *groups, size_t thread, uint64_t address, uint64_t time,
                              struct call_group_answer *answer_out);

/* The function that a group is known by; NULL of a thread. Not while others ask for groups. */
const struct view_function *call_groups_function(struct call_groups *groups, uint32_t group);

/* Whether the source of any function is known. */
bool call_groups_know_source(const struct call_groups *groups);

/* The file of a path, without its folder. */
const char *call_groups_base_name(const char *path);

#endif
