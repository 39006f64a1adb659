/* SPDX-License-Identifier: MIT */
/*
 * Programs that run in the kernel where a probe is: they choose events, write them, or count them there. By libbpf; in
 * builds without it, or without clang, none can be had. A program is gone when who loaded it is. One thread at a time.
 */
#ifndef GAIT_KERNEL_KERNEL_PROGRAM_H
#define GAIT_KERNEL_KERNEL_PROGRAM_H

#include "base/attributes.h"
#include "gait/error.h"
#include "kernel/program_layout.h"
#include "kernel/source.h"

#include <stdint.h>
#include <sys/types.h>

/* What a program is fastened to. */
enum kernel_program_form {
    KERNEL_PROGRAM_PROBE,      /* of a function, in a program or the kernel: gets registers */
    KERNEL_PROGRAM_TRACEPOINT, /* gets the record */
    KERNEL_PROGRAM_COUNTER,    /* any other perf event: gets nothing that can be read */
    KERNEL_PROGRAM_RAW_TRACEPOINT,
    KERNEL_PROGRAM_ENTRY,
    KERNEL_PROGRAM_EXIT,
};

struct kernel_program;

/* Programs that belong together share what they count, and the list of processes. */
struct kernel_programs {
    struct kernel_program *first; /* the last one that was loaded */
    pid_t pid;                    /* only this process, and those that it makes; 0: all */
};

/* Whether programs can be loaded here. 0, or -errno with the reason and what to do. */
MUST_USE int kernel_program_check(struct gait_error *err);

void kernel_programs_init(struct kernel_programs *programs, pid_t pid);
void kernel_programs_deinit(struct kernel_programs *programs);

/* Which form fits a kind of probe. */
enum kernel_program_form kernel_program_form_of(enum probe_kind kind);

/*
 * Loads one; what cannot be fastened by a perf event (raw tracepoints, entries and exits of functions) is fastened to
 * `target` and runs from now on. config->source and by_process are filled in here. Explains errors.
 */
MUST_USE int kernel_programs_load(struct kernel_programs *programs, enum kernel_program_form form, const char *target,
                                  struct program_config *config, struct kernel_program **program_out,
                                  struct gait_error *err);

/* Its descriptor, for PERF_EVENT_IOC_SET_BPF. */
int kernel_program_descriptor(const struct kernel_program *program);

/* The event of a CPU into whose ring it writes there. */
MUST_USE int kernel_program_set_output(struct kernel_program *program, uint32_t cpu, int descriptor);

/* From now on they run. Those that a perf event starts do nothing here. */
MUST_USE int kernel_programs_start(struct kernel_programs *programs, struct gait_error *err);

/* Calls visit for each key that something was counted by, with the sum over all CPUs. */
MUST_USE int kernel_programs_counts(const struct kernel_programs *programs,
                                    void (*visit)(void *context, const struct program_key *key, uint64_t count),
                                    void *context);

/* How many could not be counted, for there were too many keys. */
uint64_t kernel_programs_left_out(const struct kernel_programs *programs);

#endif
