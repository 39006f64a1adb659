/* SPDX-License-Identifier: MIT */
/* Sums of two numbers, from the first on. */
#include "support/fibonacci.h"

#define GOLDEN_RATIO 1.618
#define SMALLEST     2

unsigned fibonacci_scale(unsigned full, unsigned scale_percent)
{
    double share = scale_percent / 100.0;
    unsigned which = full;

    for (; share < 1 / GOLDEN_RATIO && which > SMALLEST; share *= GOLDEN_RATIO)
        which--;
    for (; share > GOLDEN_RATIO; share /= GOLDEN_RATIO)
        which++;
    return which;
}

uint64_t fibonacci_number(unsigned which)
{
    uint64_t number = 0, next = 1;

    for (unsigned i = 0; i < which; i++) {
        uint64_t sum = number + next;

        number = next;
        next = sum;
    }
    return number;
}
