/* SPDX-License-Identifier: MIT */
/* Contexts of the C library: made, swapped in turns, and ended through uc_link. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define CONTEXTS    4
#define STACK_BYTES 65536

static ucontext_t main_context, contexts[CONTEXTS];
static int finished;

static unsigned climb(int number, unsigned depth)
{
    swapcontext(&contexts[number], &main_context);
    return depth == 0 ? 1 : climb(number, depth - 1) * 3 + (unsigned)number;
}

static void body(int number, int depth)
{
    double ratio = number / 7.0;

    printf("%d begins\n", number);
    unsigned result = climb(number, (unsigned)depth);
    printf("%d ends with %u, %.3f\n", number, result, ratio);
    finished |= 1 << number;
}

int main(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], (void (*)(void))(void *)body, 2, i, i * 2 + 1);
    }
    for (int turn = 0; finished != (1 << CONTEXTS) - 1; turn++) {
        int next = turn * 3 % CONTEXTS;

        if (finished >> next & 1)
            continue;
        printf("turn %d\n", turn);
        swapcontext(&main_context, &contexts[next]);
    }
    return 0;
}
