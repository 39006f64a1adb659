/* SPDX-License-Identifier: MIT */
/*
 * A little shop, whose trace is asked questions by tests/system/test_query.sh and docs/queries.md: two workers take
 * orders, each order is weighed by recursion, packed with memory of its own, and every tenth one waits. Then the shop
 * closes and counts what it has. With a number, so many orders come, when there is a line to read, and none of them
 * waits.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORKERS 2

#define KEPT    __attribute__((noinline, noclone, used))

static volatile unsigned weights[WORKERS];
static unsigned orders = 40;
static int is_busy;
static pthread_barrier_t opening; /* both begin together, however busy the machine is */

KEPT unsigned weigh(unsigned depth)
{
    return depth == 0 ? 1 : weigh(depth - 1) + 1;
}

KEPT void wait_for_stock(void)
{
    struct timespec pause = {0, 2000000};

    nanosleep(&pause, NULL);
}

KEPT char *pack(const char *what, unsigned count)
{
    char *parcel = malloc(64);

    if (parcel != NULL)
        snprintf(parcel, 64, "%u x %s", count, what);
    return parcel;
}

KEPT unsigned take_order(const char *what, unsigned number)
{
    char *parcel = pack(what, number);
    unsigned weight = weigh(number % 7);

    if (!is_busy && number % 10 == 9)
        wait_for_stock();
    weight += parcel == NULL ? 0 : (unsigned)strlen(parcel);
    free(parcel);
    return weight;
}

KEPT void *work(void *which)
{
    static const char *const things[] = {"apples", "pears", "plums"};
    unsigned worker = (unsigned)(size_t)which;

    pthread_barrier_wait(&opening);
    for (unsigned i = 0; i < orders; i++)
        weights[worker] += take_order(things[i % 3], i);
    return NULL;
}

KEPT unsigned count_stock(void)
{
    unsigned all = 0;

    for (unsigned i = 0; i < WORKERS; i++)
        all += weights[i] + weigh(3);
    return all;
}

int main(int argument_count, char **arguments)
{
    pthread_t workers[WORKERS];

    is_busy = argument_count > 1;
    if (is_busy) {
        orders = (unsigned)strtoul(arguments[1], NULL, 10);
        (void)getchar();
    }

    pthread_barrier_init(&opening, NULL, WORKERS);
    /* A thread is born with the name of who makes it. */
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_setname_np(pthread_self(), i == 0 ? "till" : "counter");
        if (pthread_create(&workers[i], NULL, work, (void *)i) != 0)
            return 1;
    }
    pthread_setname_np(pthread_self(), "shop");
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%u\n", count_stock());
    fflush(stdout);
    return 0;
}
