/* SPDX-License-Identifier: MIT */
/*
 * The vector and floating point registers, for code that keeps off them but calls functions which do not. Implemented
 * once for each CPU in arch/<cpu>/host. No libc, no locks; usable inside the target, from any thread.
 */
#ifndef GAIT_ARCH_VECTOR_STATE_H
#define GAIT_ARCH_VECTOR_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* Where the program's registers are while a function of the user's runs. */
struct vector_state_place {
    void *area;     /* NULL: nowhere */
    bool is_in_cpu; /* still; the area is free */
};

/* How much room they take. */
size_t vector_state_bytes(void);

/* Prepares zeroed memory of that size, aligned to 64. */
void vector_state_init(void *area);

/* Saves them; afterwards they are as a function that is called may expect. */
void vector_state_save(void *area);
void vector_state_restore(void *area);

#endif
