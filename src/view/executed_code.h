/* SPDX-License-Identifier: MIT */
/*
 * Which code a trace tells of, and how often it ran: blocks, or instructions, and functions that were called. Memory
 * grows with the code that ran, not with events. After reading it does not change.
 */
#ifndef GAIT_VIEW_EXECUTED_CODE_H
#define GAIT_VIEW_EXECUTED_CODE_H

#include "view/view_trace.h"

enum executed_kind {
    EXECUTED_FUNCTION, /* it was called, or entered: what of it ran is not told */
    EXECUTED_BLOCK,    /* from its first byte to its last one */
    EXECUTED_INSN,     /* of traces that have no blocks */
};

struct executed {
    enum executed_kind kind;
    size_t process;                       /* index */
    const struct recorded_module *module; /* NULL: none was there */
    uint64_t address;
    uint64_t size_bytes; /* of functions 0 */
    uint64_t count;      /* of functions that are hooked, and were never called: 0 */
    uint32_t next;       /* another one at that address */
};

struct executed_code {
    const struct view_trace *trace;
    struct executed *executed;
    size_t count;
    size_t capacity;
    struct hash_map *addresses; /* of each process: address -> the last one there */
    bool has_functions;
    bool has_blocks;  /* or instructions */
    bool has_insns;   /* not blocks */
    bool is_of_hooks; /* only of functions that are in it is known whether they ran: the others were not hooked */
};

/* What is to be looked at. */
struct executed_choice {
    const size_t *threads; /* indexes */
    size_t thread_count;
    uint64_t from_ns; /* since the recording began */
    uint64_t to_ns;   /* what is then, or later, is left out; UINT64_MAX: nothing is */
};

/*
 * Reads the threads that are chosen; NULL: all of it. 0; -ENOMEM; or the first error, explained, after what can be read
 * was read. executed_code_deinit gives back what there is, whatever the result is.
 */
MUST_USE int executed_code_read(struct executed_code *code, const struct view_trace *trace,
                                const struct executed_choice *choice, struct gait_error *err);
void executed_code_deinit(struct executed_code *code);

#endif
