/* SPDX-License-Identifier: MIT */
/* A thread ends the process while the main thread waits and others run. */
/* exit status: 23 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void at_end(void)
{
    puts("at the end");
}

static void *spin(void *unused)
{
    for (volatile unsigned long i = 0;; i++)
        ;
    return unused;
}

static void *leave(void *unused)
{
    (void)unused;
    puts("a thread leaves");
    exit(23);
}

int main(void)
{
    pthread_t threads[3];

    atexit(at_end);
    pthread_create(&threads[0], NULL, spin, NULL);
    pthread_create(&threads[1], NULL, spin, NULL);
    pthread_create(&threads[2], NULL, leave, NULL);
    for (;;)
        pause();
}
