/* SPDX-License-Identifier: MIT */
/* Recursive Fibonacci numbers in C: hardly more than calls and returns, the worst case for following them. */
#include "support/workload.h"

#include "support/fibonacci.h"

#include <errno.h>
#include <stdlib.h>

#define FULL_SCALE 35

/* Inlined into itself it would call a fraction as often. */
__attribute__((noinline)) static uint64_t fib(unsigned which)
{
    return which < 2 ? which : fib(which - 1) + fib(which - 2);
}

static int prepare(const void *subject, unsigned scale_percent, void **state_out)
{
    unsigned *which = malloc(sizeof(*which));

    (void)subject;
    if (which == NULL)
        return -ENOMEM;
    *which = fibonacci_scale(FULL_SCALE, scale_percent);
    *state_out = which;
    return 0;
}

static uint64_t run(void *state)
{
    const unsigned *which = state;

    return fib(*which);
}

static uint64_t expect(const void *state)
{
    const unsigned *which = state;

    return fibonacci_number(*which);
}

const struct workload workload_fib = {
    .name = "fib",
    .prepare = prepare,
    .run = run,
    .expect = expect,
    .discard = free,
};
