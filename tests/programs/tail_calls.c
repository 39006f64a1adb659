/* SPDX-License-Identifier: MIT */
/* Functions that end in jumps to each other, directly and through pointers: no frame is ever left. */
#include <stdio.h>

typedef unsigned long (*state)(unsigned long value, unsigned long left);

static unsigned long is_even(unsigned long value, unsigned long left);
static unsigned long by_table(unsigned long value, unsigned long left);

static __attribute__((noinline)) unsigned long is_odd(unsigned long value, unsigned long left)
{
    return left == 0 ? value : is_even(value * 3 + 1, left - 1);
}

static __attribute__((noinline)) unsigned long is_even(unsigned long value, unsigned long left)
{
    return left == 0 ? value + 1 : is_odd(value ^ left, left - 1);
}

static unsigned long shift(unsigned long value, unsigned long left)
{
    return by_table(value << 1 | value >> 63, left);
}

static unsigned long mix(unsigned long value, unsigned long left)
{
    return by_table(value * 0x9e3779b97f4a7c15, left);
}

static unsigned long fold(unsigned long value, unsigned long left)
{
    return by_table(value ^ value >> 31, left);
}

static const state volatile table[] = {shift, mix, fold};

static __attribute__((noinline)) unsigned long by_table(unsigned long value, unsigned long left)
{
    if (left == 0)
        return value;
    return table[value % 3](value, left - 1);
}

int main(void)
{
    printf("%lx\n", is_even(1, 1000000));
    printf("%lx\n", by_table(1, 1000000));
    return 0;
}
