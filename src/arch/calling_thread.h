/* SPDX-License-Identifier: MIT */
/*
 * What the calling thread has in registers that neither a context nor C can name. Implemented once for each CPU in
 * arch/<cpu>/host. No libc, no locks; usable inside the target.
 */
#ifndef GAIT_ARCH_CALLING_THREAD_H
#define GAIT_ARCH_CALLING_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#define CALLING_THREAD_VECTORS 8

/* What its thread-local variables are found by; 0: it has none yet. */
uint64_t calling_thread_pointer(void);

/* The lowest 64 bits of the vector registers that arguments are in. Only where they are still the program's. */
void calling_thread_vectors(uint64_t values_out[CALLING_THREAD_VECTORS]);

/*
 * Adds to a word that only this thread changes, and its signal handlers, which see it before or after: returns what was
 * there. Where the CPU can do so it is quicker than what other threads may see.
 */
uint64_t calling_thread_add(_Atomic uint64_t *word, uint64_t more);

/*
 * A function that does nothing but to give the address of a variable that each thread has one of, such as the C
 * library's __errno_location: its instructions, which are looked at, not run.
 */
#define VARIABLE_CODE_BYTES 32

struct variable_function {
    uint64_t address;
    uint8_t code[VARIABLE_CODE_BYTES];
};

/* Copies its instructions, before anybody overwrites them. False: they cannot be read. */
bool variable_function_read(uint64_t address, struct variable_function *function_out);

/* What it gives. 0: it is none that is understood. */
uint64_t calling_thread_variable(const struct variable_function *function);

#endif
