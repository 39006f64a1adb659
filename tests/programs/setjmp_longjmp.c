/* SPDX-License-Identifier: MIT */
/* Long jumps: out of one frame and out of deep recursion, many times. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;
static volatile unsigned deepest;

static __attribute__((noinline)) unsigned dive(unsigned depth, unsigned bottom)
{
    volatile unsigned here = depth;

    deepest = depth > deepest ? depth : deepest;
    if (depth > bottom)
        return depth;
    if (depth == bottom)
        longjmp(place, (int)bottom);
    return dive(depth + 1, bottom) + here;
}

int main(void)
{
    static volatile unsigned sum, round;
    int value;

    for (round = 1; round <= 300; round++) {
        value = setjmp(place);
        if (value == 0)
            sum += dive(0, round * 5);
        sum = sum * 3 + (unsigned)value;
    }
    printf("sum %08x, deepest %u\n", sum, deepest);
    return 0;
}
