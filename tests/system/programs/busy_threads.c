/* SPDX-License-Identifier: MIT */
/* Two threads, and then the first one, call a function as often as it is told; each says how often it did. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int work(int before)
{
    __asm__ volatile("");
    return before + 1;
}

static void *run(void *argument)
{
    long count = (long)argument;
    int sum = 0;

    for (long i = 0; i < count; i++)
        sum = work(sum);
    printf("%d\n", sum);
    return NULL;
}

int main(int argc, char **argv)
{
    long count = argc < 2 ? 1000 : atol(argv[1]);
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)count) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    run((void *)count);
    return 7;
}
