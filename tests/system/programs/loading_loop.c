/* SPDX-License-Identifier: MIT */
/*
 * Loads and unloads a library in several threads until its input ends, while signals keep coming whose handler takes
 * its time. There are thousands of mappings, so that whoever looks through them when something is loaded is long at it.
 * Says a line when all threads have loaded something, and another one at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define THREADS  3
#define MAPPINGS 6000
#define PAGE     4096

static atomic_int is_over, running;
static atomic_long loads, signals;
static const char *library;

static void on_alarm(int number)
{
    struct timespec now, began;

    (void)number;
    signals++;
    clock_gettime(CLOCK_MONOTONIC, &began);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - began.tv_sec) * 1000000000 + now.tv_nsec - began.tv_nsec < 300000);
}

static void *load(void *unused)
{
    (void)unused;
    running++;
    while (!is_over) {
        void *handle = dlopen(library, RTLD_NOW);

        if (handle == NULL)
            return (void *)1;
        dlclose(handle);
        loads++;
    }
    return NULL;
}

/* Each of them has neighbours with another protection. */
static void map_much(void)
{
    char *all = mmap(NULL, (size_t)MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < MAPPINGS; i += 2)
        mprotect(all + i * PAGE, PAGE, PROT_READ);
}

int main(int count, char **words)
{
    const struct itimerval interval = {{0, 1000}, {0, 1000}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    pthread_t threads[THREADS];
    sigset_t alarm;
    void *failed = NULL, *one;
    char byte;

    if (count < 2)
        return 2;
    library = words[1];
    map_much();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, load, NULL);
    while (loads < 10)
        usleep(1000);
    /* They are for the others. */
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
    printf("ready\n");
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        continue;
    is_over = 1;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &one);
        failed = one != NULL ? one : failed;
    }
    printf("%s\n", failed == NULL && loads > 10 && signals > 10 ? "well" : "failed");
    return failed != NULL;
}
