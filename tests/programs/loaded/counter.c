/* SPDX-License-Identifier: MIT */
/* A library for dlopen_close: state of its own, a constructor and a destructor. */
#include <stdio.h>

unsigned counter_next(unsigned step);

static unsigned count;

static __attribute__((constructor)) void counter_begin(void)
{
    count = 100;
    puts("loaded");
}

static __attribute__((destructor)) void counter_end(void)
{
    printf("unloaded at %u\n", count);
}

unsigned counter_next(unsigned step)
{
    count += step;
    return count;
}
