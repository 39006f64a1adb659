/* SPDX-License-Identifier: MIT */
/*
 * System calls that the engine has a part in: those that make or end threads and processes, and those that change code.
 * All others run in the cache as they are.
 */
#ifndef GAIT_STALKER_SYSTEM_CALL_H
#define GAIT_STALKER_SYSTEM_CALL_H

#include "base/address.h"
#include "base/attributes.h"

#include <stdint.h>

struct stalker_engine;
struct stalker_thread;

/* As the program makes it. */
struct system_call {
    long number;
    long arguments[6];
};

/* In the table: somebody wants to know of it. */
#define SYSTEM_CALL_TOLD 0x80u

/* Some thread has its calls dispatched. */
#define SYSTEM_CALL_DISPATCHED 0x40u

/* A byte for each value of a number's low 16 bits, below 2 GiB. -ENOMEM. */
MUST_USE int system_call_table_create(uint8_t **table_out);
void system_call_table_destroy(uint8_t *table);

int32_t system_call_table_address(const struct stalker_engine *engine);

/* What the engine does next with a thread that made a system call. */
enum system_call_outcome {
    SYSTEM_CALL_IN_CACHE, /* the thread makes it where it is, in its block */
    SYSTEM_CALL_DONE,     /* it was made: context has its result, and the pc behind it */
    SYSTEM_CALL_IN_PLACE, /* the thread makes it in the cache; a child with our memory begins natively */
    SYSTEM_CALL_LEAVE,    /* the thread makes it natively, and is not followed any more */
};

/* Makes the system call that the thread's context asks for; its pc is that of the instruction. */
enum system_call_outcome system_call_make(struct stalker_thread *thread);

/* The same by an instruction that makes them as other programs do; nobody is told of it. */
enum system_call_outcome system_call_make_foreign(struct stalker_thread *thread);

#endif
