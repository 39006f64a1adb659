/* SPDX-License-Identifier: MIT */
/* A process that runs out of address space: calls fail as they should, and it goes on when there is some again. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE (1 << 20)

/* There is none for whoever follows it, either. */
extern const char program_may_be_left;
const char program_may_be_left = 1;

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Code that has not run before, while there is no memory. */
static int work(void)
{
    static int values[1000];
    char text[100];

    for (int i = 0; i < 1000; i++)
        values[i] = i * 7919 % 1009;
    qsort(values, 1000, sizeof(values[0]), compare);
    snprintf(text, sizeof(text), "%d %s %.3f", values[17], "x", 1.5);
    return (int)strlen(text) + values[500];
}

static void *nothing(void *argument)
{
    return argument;
}

int main(void)
{
    struct rlimit limit, none = {0, 0};
    void *pieces = NULL, *piece;
    pthread_t thread;
    int sum, status, failed;

    getrlimit(RLIMIT_AS, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_AS, &none);
    while ((piece = malloc(PIECE)) != NULL) {
        *(void **)piece = pieces;
        pieces = piece;
    }
    printf("malloc: %s\n", strerror(errno));
    printf("mmap: %s\n",
           mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? strerror(errno) : "");
    failed = pthread_create(&thread, NULL, nothing, NULL);
    printf("thread: %s\n", strerror(failed));
    sum = work();
    fflush(stdout);
    if (fork() == 0)
        _exit(work() & 0x7f);
    wait(&status);
    printf("fork: %x\n", (unsigned)status);
    setrlimit(RLIMIT_AS, &limit);
    for (; pieces != NULL; pieces = piece) {
        piece = *(void **)pieces;
        free(pieces);
    }
    failed = pthread_create(&thread, NULL, nothing, NULL);
    if (failed == 0)
        pthread_join(thread, NULL);
    printf("%d, again: %s, %d\n", sum, strerror(failed), work() == sum);
    return 0;
}
