/* SPDX-License-Identifier: MIT */
/* Deep, branching and mutual recursion. */
#include <stdio.h>

static __attribute__((noinline)) unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static __attribute__((noinline)) unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __attribute__((noinline)) unsigned depth(unsigned levels)
{
    volatile unsigned here = levels;

    return levels == 0 ? 0 : depth(levels - 1) + (here & 1);
}

static unsigned second(unsigned n);

static __attribute__((noinline)) unsigned first(unsigned n)
{
    return n == 0 ? 1 : n - second(first(n - 1));
}

static __attribute__((noinline)) unsigned second(unsigned n)
{
    return n == 0 ? 0 : n - first(second(n - 1));
}

static unsigned moves;

static void hanoi(unsigned discs, unsigned from, unsigned to)
{
    if (discs == 0)
        return;
    hanoi(discs - 1, from, 6 - from - to);
    moves = moves * 3 + from * 10 + to;
    hanoi(discs - 1, 6 - from - to, to);
}

int main(void)
{
    printf("ackermann %u\n", ackermann(2, 200));
    printf("fibonacci %u\n", fibonacci(24));
    printf("depth %u\n", depth(50000));
    printf("mutual %u\n", first(60));
    hanoi(14, 1, 3);
    printf("hanoi %08x\n", moves);
    return 0;
}
