/* SPDX-License-Identifier: MIT */
/*
 * A computation that uses all of the core: containers, text, memory functions, generated code. The same source is
 * linked into the test programs and, without libc, into an image that the tests load; both must come to the same
 * result.
 */
#ifndef GAIT_TESTS_CORE_EXERCISE_H
#define GAIT_TESTS_CORE_EXERCISE_H

#include <stdint.h>

/* A checksum that depends on the seed only. 0: something failed. */
uint64_t core_exercise(uint64_t seed);

#endif
