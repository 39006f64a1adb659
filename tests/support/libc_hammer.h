/* SPDX-License-Identifier: MIT */
/* Threads that use all kinds of functions of libc as fast as they can, with results that are known. */
#ifndef GAIT_TESTS_LIBC_HAMMER_H
#define GAIT_TESTS_LIBC_HAMMER_H

#include <stddef.h>
#include <stdint.h>

#define LIBC_HAMMER_THREADS 16

/* Ends the program if threads cannot be had. */
void libc_hammer_start(void);

/* Ends the threads and returns how many results were wrong. */
long libc_hammer_stop(void);

/* How often they have gone through all of it. */
long libc_hammer_rounds(void);

/* One round on the calling thread; how many results were wrong. */
long libc_hammer_once(unsigned seed);

/* An address in libc. */
uint64_t libc_hammer_address(void);

/* CLOCK_MONOTONIC, by a system call of our own. */
int64_t libc_hammer_now_ns(void);

#endif
