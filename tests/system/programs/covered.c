/* SPDX-License-Identifier: MIT */
/* Threads, deep recursion, branches that are taken and some that are not: its calls and lines are counted by others. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int fibonacci(int number)
{
    if (number < 2)
        return number;
    return fibonacci(number - 1) + fibonacci(number - 2);
}

/* Called by another name, which a test gives it. */
int plainly_named(int number);
int plainly_named(int number)
{
    return number * 2;
}

static int deep(int depth)
{
    if (depth == 0)
        return 0;
    return 1 + deep(depth - 1);
}

static int is_odd(int number)
{
    switch (number % 4) {
    case 1:
    case 3:
        return 1;
    case -1:
        return -1;
    default:
        return 0;
    }
}

int never_called(int number);
int never_called(int number)
{
    int sum = 0;

    for (int i = 0; i < number; i++)
        sum += is_odd(i);
    return sum;
}

static void *work(void *argument)
{
    int *sum = argument;

    for (int i = 0; i < 1000; i++)
        if (is_odd(i))
            *sum += plainly_named(i);
    return NULL;
}

int main(int argc, char **argv)
{
    int sums[2] = {0, 0}, rounds = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (sums[0] != sums[1]) {
        puts("threads disagree");
        return 1;
    }
    for (int i = 0; i < rounds; i++)
        sums[0] += fibonacci(12);
    printf("%d %d\n", sums[0], deep(2500));
    return 0;
}
