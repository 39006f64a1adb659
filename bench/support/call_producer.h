/* SPDX-License-Identifier: MIT */
/*
 * Makes calls, for tracers to record: trees of small functions, which of them call which follows from random bits. Any
 * number of threads at a time.
 */
#ifndef GAIT_BENCH_CALL_PRODUCER_H
#define GAIT_BENCH_CALL_PRODUCER_H

#include <stdint.h>

/* Calls are made in trees of so many. */
#define CALL_PRODUCER_TREE 15u

/*
 * Makes at least so many calls on each of so many threads, as fast as it can, or so many thousand a second on each if
 * that is not 0. Returns a number that depends on all of them.
 */
uint64_t call_producer_run(unsigned threads, uint64_t calls, unsigned thousands_per_second);

#endif
