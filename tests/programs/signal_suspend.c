/* SPDX-License-Identifier: MIT */
/*
 * Threads that are stopped by a signal, wait in its handler for another one and go on, as collectors of garbage do it.
 * A signal that is lost, or comes before it is waited for, keeps them there for good.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORKERS 4
#define ROUNDS  2000

static sem_t answers;
static sigset_t waiting_mask;
static _Atomic int is_over;
static __thread volatile sig_atomic_t last_signal;
static int suspend_signal, restart_signal;

static void restart(int number)
{
    last_signal = number;
}

static void suspend(int number)
{
    (void)number;
    sem_post(&answers);
    do {
        last_signal = 0;
        sigsuspend(&waiting_mask);
    } while (last_signal != restart_signal);
    sem_post(&answers);
}

static void *work(void *argument)
{
    unsigned long sum = 0;

    while (!is_over) {
        void *memory = malloc(1000 + sum % 1000);

        for (unsigned i = 0; i < 1000; i++)
            sum = sum * 31 + i;
        free(memory);
        usleep(20);
    }
    *(volatile unsigned long *)argument = sum;
    return NULL;
}

static void wait_for_answers(void)
{
    for (unsigned i = 0; i < WORKERS; i++)
        while (sem_wait(&answers) != 0)
            continue;
}

/* How often is an argument, for who wants to look at it for longer. */
int main(int count, char **arguments)
{
    static unsigned long sums[WORKERS];
    unsigned rounds = count > 1 ? (unsigned)atoi(arguments[1]) : ROUNDS;
    struct sigaction action = {.sa_handler = suspend, .sa_flags = SA_RESTART};
    pthread_t threads[WORKERS];

    suspend_signal = SIGRTMIN + 1;
    restart_signal = SIGRTMIN + 2;
    sem_init(&answers, 0, 0);
    sigfillset(&action.sa_mask);
    sigaction(suspend_signal, &action, NULL);
    action.sa_handler = restart;
    sigaction(restart_signal, &action, NULL);
    sigfillset(&waiting_mask);
    sigdelset(&waiting_mask, restart_signal);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    /* Long before anybody loses patience. */
    alarm(100);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < WORKERS; i++)
            pthread_kill(threads[i], suspend_signal);
        wait_for_answers();
        for (unsigned i = 0; i < WORKERS; i++)
            pthread_kill(threads[i], restart_signal);
        wait_for_answers();
    }
    is_over = 1;
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("stopped and restarted %u times\n", rounds);
    return 0;
}
