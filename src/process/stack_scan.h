/* SPDX-License-Identifier: MIT */
/*
 * The words on the stacks of a thread that stands still: where it will come back to, as far as one can tell without
 * knowing its frames. From the stack pointer to the end of the mapped memory, and where a signal handler runs on
 * another stack, on that which it has interrupted as well. Memory is read so that nothing faults, up to what may not be
 * read. No libc, no locks; usable inside the target.
 */
#ifndef GAIT_PROCESS_STACK_SCAN_H
#define GAIT_PROCESS_STACK_SCAN_H

#include "base/interval_map.h"
#include "process/forced_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No more is looked at of one stack. */
#define STACK_SCAN_BYTES_MAX     ((uint64_t)16 * 1024 * 1024)
#define STACK_SCAN_RESTORERS_MAX 8

struct stack_scan {
    const struct forced_memory *memory;
    uint64_t restorers[STACK_SCAN_RESTORERS_MAX]; /* where signal handlers return to */
    size_t restorer_count;
    struct interval_map mappings; /* all that can be read, */
    bool is_bounded;              /* if that is known */

    /* Words low <= w < high are reported. */
    uint64_t low;
    uint64_t high;
    void (*word)(void *context, uint64_t word);
    /* The pc that was interrupted by a signal, and where it is; may be NULL. */
    void (*interrupted)(void *context, uint64_t place, uint64_t pc);
    void *context;
};

/* Asks the kernel for the restorers, and for what is mapped: good as long as all threads stand still. */
void stack_scan_init(struct stack_scan *scan, const struct forced_memory *memory);
void stack_scan_deinit(struct stack_scan *scan);

/* Looks at the stacks of a thread with that stack pointer. */
void stack_scan_run(const struct stack_scan *scan, uint64_t sp);

/* Looks at a frame that is not known by what is there, and at the stack that was interrupted, if that is another one.
 */
void stack_scan_frame(const struct stack_scan *scan, uint64_t frame);

/* Whether handlers return to that address. */
bool stack_scan_is_restorer(const struct stack_scan *scan, uint64_t address);

#endif
