/* SPDX-License-Identifier: MIT */
/* Thirty threads that are mostly busy, and a process that ends with 3 when it is asked to. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 30

static void *work(void *unused)
{
    for (volatile unsigned long i = 1;; i++)
        if (i % 1000 == 0)
            usleep(100);
    return unused;
}

static void end(int number)
{
    (void)number;
    _exit(3);
}

int main(void)
{
    signal(SIGTERM, end);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;

        pthread_create(&thread, NULL, work, NULL);
    }
    printf("ready\n");
    fflush(stdout);
    for (;;)
        pause();
}
