/* SPDX-License-Identifier: MIT */
/*
 * What the kernel passed to this process when its program began. Raw system calls, no memory, no locks: callable from
 * any thread, in signal handlers and inside the target, also before the program has run its first instruction.
 */
#ifndef GAIT_PROCESS_AUXILIARY_VECTOR_H
#define GAIT_PROCESS_AUXILIARY_VECTOR_H

#include "base/attributes.h"

#include <stdint.h>

/* 0: it was not passed. */
struct auxiliary_vector {
    uint64_t program_headers; /* where the program's are in memory */
    uint64_t program_header_count;
    uint64_t loader; /* where the dynamic loader was loaded to */
    uint64_t entry;  /* of the program */
    uint64_t vdso;   /* where its ELF header is */
};

/* -ENOENT, -EACCES and others: the kernel does not give it, and there is no /proc. */
MUST_USE int auxiliary_vector_read(struct auxiliary_vector *vector_out);

#endif
