/* SPDX-License-Identifier: MIT */
/*
 * Calls of which is known how often there are: r_fib(10) makes 177, and two threads named "server" make 100 r_serve
 * each, every tenth of which takes a millisecond longer. With an argument, r_serve is left out and r_extra is called
 * instead, 50 times.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define FUNCTION __attribute__((noinline, noclone)) static

static int is_other;
static volatile unsigned sum;

FUNCTION unsigned r_fib(unsigned n)
{
    unsigned result = n < 2 ? n : r_fib(n - 1) + r_fib(n - 2);

    sum += result;
    return result;
}

FUNCTION void r_wait(void)
{
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    sum++;
}

FUNCTION void r_serve(unsigned number)
{
    if (number % 10 == 0)
        r_wait();
    sum += number;
}

FUNCTION void r_extra(unsigned number)
{
    sum += number;
}

static void *serve(void *unused)
{
    pthread_setname_np(pthread_self(), "server");
    for (unsigned i = 0; i < (is_other ? 50 : 100); i++)
        if (is_other)
            r_extra(i);
        else
            r_serve(i);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    (void)argv;
    is_other = argc > 1;
    for (unsigned i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, serve, NULL);
        pthread_join(threads[i], NULL);
    }
    printf("%u\n", r_fib(10));
    return 0;
}
