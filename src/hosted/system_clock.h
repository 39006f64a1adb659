/* SPDX-License-Identifier: MIT */
/*
 * The system's clocks, for code with a C library, which reads them without a system call. Inside the target there is
 * clock_monotonic_ns. Callable from any thread.
 */
#ifndef GAIT_HOSTED_SYSTEM_CLOCK_H
#define GAIT_HOSTED_SYSTEM_CLOCK_H

#include <stdint.h>
#include <time.h>

uint64_t system_clock_ns(clockid_t clock);

/* CLOCK_MONOTONIC, in milliseconds. */
uint64_t system_clock_ms(void);

/* When on CLOCK_MONOTONIC a time from now on is over: what waits for conditions take. */
struct timespec system_clock_deadline(uint64_t timeout_ms);

#endif
