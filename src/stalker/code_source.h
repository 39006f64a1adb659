/* SPDX-License-Identifier: MIT */
/*
 * What may be translated: the process's readable and executable memory, known from the kernel's list of mappings, which
 * is read again when an address is not in what is known. Any thread; has a lock of its own.
 */
#ifndef GAIT_STALKER_CODE_SOURCE_H
#define GAIT_STALKER_CODE_SOURCE_H

#include "base/address.h"
#include "base/interval_map.h"
#include "base/mutex.h"

#include <stdbool.h>
#include <stddef.h>

struct mapping;

struct code_source {
    struct mutex lock;
    struct interval_map regions;    /* readable and executable; value: whether it may change without a system call */
    struct interval_map unreadable; /* executable, and not readable; value: 0 */
    struct interval_map written;    /* regions that the program has asked to write to; value: 0 */
    uint64_t hole;                  /* where there was no code */
    uint64_t hole_time;             /* the counter when that was found; 0: never */
    bool is_blind;                  /* it was looked for in vain */
    bool is_partial;                /* more was forgotten than anybody asked for */
    bool is_written_unknown;        /* there was no memory for what is written */
};

void code_source_init(struct code_source *source);
void code_source_deinit(struct code_source *source);

/*
 * How many bytes of code can be read from pc on; 0: none. *is_changeable_out (may be NULL): they may change without a
 * system call of this process, since they can be written, or are shared with another mapping.
 */
size_t code_source_bytes(struct code_source *source, struct app_pc pc, bool *is_changeable_out);

/* Whether code may be there all the same: the process had no /proc, no descriptor or no memory to look with. */
bool code_source_is_blind(struct code_source *source);

/* Whether code may be there that can be executed and not be read, as was seen when it was looked for last. */
bool code_source_is_unreadable(struct code_source *source, struct app_pc pc);

/* Forgets what is known of a range, since the program changed its mappings. may_execute: to something that may be code.
 */
void code_source_forget(struct code_source *source, uint64_t start, uint64_t end, bool may_execute);

/* The program is about to ask for a range that it can write to: if that is code, it may put breakpoints there itself.
 */
void code_source_note_writing(struct code_source *source, uint64_t start, uint64_t end);

/* Whether code there was never seen to be made writable by the program, which then has not put a breakpoint there. */
bool code_source_is_unwritten(struct code_source *source, struct app_pc pc);

/*
 * For who reads the list of mappings anyway: what one of them is now, so that it need not be read for that again. At
 * first it is all of them, then all below the end of a range that was forgotten.
 */
void code_source_learn(struct code_source *source, const struct mapping *mapping);

#endif
