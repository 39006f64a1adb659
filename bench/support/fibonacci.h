/* SPDX-License-Identifier: MIT */
/* Fibonacci numbers without recursion: how far a recursive workload goes, and what it must find. Stateless. */
#ifndef GAIT_BENCH_FIBONACCI_H
#define GAIT_BENCH_FIBONACCI_H

#include <stdint.h>

/*
 * Which number takes about that many percent of the recursive calls that number `full` takes; at least 2. Calls grow by
 * the golden ratio from one number to the next.
 */
unsigned fibonacci_scale(unsigned full, unsigned scale_percent);

/* The number itself; 0, 1, 1, 2 and so on. */
uint64_t fibonacci_number(unsigned which);

#endif
