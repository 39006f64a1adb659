/* SPDX-License-Identifier: MIT */
/* exit, deep inside: handlers in reverse order, ones that add others, destructors, buffers, the status. */
/* exit status: 17 */
#include <stdio.h>
#include <stdlib.h>

static void first(void)
{
    puts("first, so last");
}

static void added(void)
{
    puts("added by a handler");
}

static void second(void)
{
    puts("second");
    atexit(added);
}

static void third(void)
{
    puts("third, so first");
}

static __attribute__((destructor)) void at_end(void)
{
    puts("destructor");
}

static volatile int bottom = 10;

static int leave(int depth)
{
    if (depth > bottom)
        return depth;
    if (depth == bottom)
        exit(17);
    return leave(depth + 1) + 1;
}

int main(void)
{
    atexit(first);
    atexit(second);
    atexit(third);
    printf("no end of line yet, ");
    return leave(0);
}
