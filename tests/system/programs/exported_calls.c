/* SPDX-License-Identifier: MIT */
/*
 * Calls to be exported: of several threads with names, nested and deep, left by a long jump, and of a function with a
 * name that would do harm if somebody took it for a page. Names are those of C, so that everybody agrees on them.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;
static __thread jmp_buf back;

NOINLINE long spend(long n);
NOINLINE void hop(long n);
NOINLINE long both(long n);
NOINLINE long down(long n);
NOINLINE void *work(void *name);
NOINLINE void harm(void) __asm__("\"<script>window.harm=1;alert(1)</script><img src=x onerror='window.harm=2'>&amp;\"");

NOINLINE long spend(long n)
{
    for (long i = 0; i < n; i++)
        sink += i;
    return sink;
}

NOINLINE void hop(long n)
{
    spend(n);
    longjmp(back, 1);
}

NOINLINE long both(long n)
{
    long sum = spend(n) + spend(n / 2);

    if (setjmp(back) == 0)
        hop(n / 4);
    return sum + 1;
}

NOINLINE long down(long n)
{
    return n == 0 ? spend(10) : down(n - 1) + 1;
}

NOINLINE void harm(void)
{
    spend(20000000);
}

NOINLINE void *work(void *name)
{
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < 300; i++)
        both(2000);
    return NULL;
}

int main(int argc, char **argv)
{
    static char names[2][16] = {"left hand", "right;hand"};
    long depth = argc > 1 ? atol(argv[1]) : 20;
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, names[i]);
    for (int i = 0; i < 50; i++)
        both(4000);
    down(depth);
    harm();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
