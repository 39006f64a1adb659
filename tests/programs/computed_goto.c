/* SPDX-License-Identifier: MIT */
/* Threaded code: each operation jumps to the next through a table of labels. */
#include <stdio.h>

enum operation { PUSH, ADD, MULTIPLY, DUPLICATE, SWAP, DROP, LOOP, STOP };

static long run(const int *program)
{
    static const void *const labels[] = {&&push, &&add, &&multiply, &&duplicate, &&swap, &&drop, &&loop, &&stop};
    long stack[16] = {0}, *top = stack, counter = 1000, other;
    const int *pc = program;

#define NEXT goto *labels[*pc++]
    NEXT;
push:
    *++top = *pc++;
    NEXT;
add:
    top--;
    *top = (long)((unsigned long)top[0] + (unsigned long)top[1]);
    NEXT;
multiply:
    top--;
    *top = (long)((unsigned long)top[0] * (unsigned long)top[1]);
    NEXT;
duplicate:
    top[1] = top[0];
    top++;
    NEXT;
swap:
    other = top[0];
    top[0] = top[-1];
    top[-1] = other;
    NEXT;
drop:
    top--;
    NEXT;
loop:
    if (--counter > 0)
        pc = program + *pc;
    else
        pc++;
    NEXT;
stop:
    return *top;
}

int main(void)
{
    static const int polynomial[] = {PUSH, 1,         DUPLICATE, PUSH, 7,   MULTIPLY, PUSH, 3, ADD, SWAP,
                                     DROP, DUPLICATE, PUSH,      5,    ADD, MULTIPLY, LOOP, 2, STOP};

    printf("%ld\n", run(polynomial));
    return 0;
}
