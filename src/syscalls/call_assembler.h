/* SPDX-License-Identifier: MIT */
/*
 * From records of the kernel's (system_call_program_layout.h) to what a source of system calls tells: both halves of a
 * call are put together, each with the memory of both. One thread at a time.
 */
#ifndef GAIT_SYSCALLS_CALL_ASSEMBLER_H
#define GAIT_SYSCALLS_CALL_ASSEMBLER_H

#include "syscalls/system_call_program_layout.h"
#include "syscalls/system_call_source.h"

struct told_thread;

struct call_assembler {
    const struct system_call_request *request;
    struct told_thread *threads; /* the last user first */
    int hidden;                  /* of this one nothing is told before it executes a program; 0: of none */
    uint64_t unix_ns;            /* between CLOCK_MONOTONIC and the time since 1970 */
    bool is_out_of_memory;
};

/*
 * hidden: a child of ours that is about to execute the program, which has to be among the records even if it is not in
 * the set; 0: there is none.
 */
void call_assembler_init(struct call_assembler *assembler, const struct system_call_request *request, int hidden);
void call_assembler_deinit(struct call_assembler *assembler);

/* Tells what the record says. Nothing in it is trusted but its size. */
void call_assembler_take(struct call_assembler *assembler, const struct call_program_record *record);

#endif
