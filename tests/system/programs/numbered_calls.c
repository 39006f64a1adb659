/* SPDX-License-Identifier: MIT */
/* Calls that have their number as their argument, and that is in their result; between them calls of libc, side by
 * side. */
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

static volatile int sink;

APART int inner(int number)
{
    sink = number;
    return 2 * number;
}

APART int outer(int number)
{
    char *copy = strdup("abc");

    free(copy);
    return inner(number) + 1;
}

int main(void)
{
    for (int i = 0; i < 3000; i++)
        sink = outer(i);
    return 0;
}
