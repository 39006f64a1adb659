/* SPDX-License-Identifier: MIT */
/*
 * A little shop, whose trace is asked questions by tests/system/test_query.sh and docs/queries.md: two workers take
 * orders, each order is weighed by recursion, packed with memory of its own, and every tenth one waits. Then the shop
 * closes and counts what it has.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ORDERS  40
#define WORKERS 2

#define KEPT __attribute__((noinline, noclone, used))

static volatile unsigned weights[WORKERS];

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

    if (number % 10 == 9)
        wait_for_stock();
    weight += parcel == NULL ? 0 : (unsigned)strlen(parcel);
    free(parcel);
    return weight;
}

KEPT void *work(void *which)
{
    static const char *const things[] = {"apples", "pears", "plums"};
    unsigned worker = (unsigned)(size_t)which;

    pthread_setname_np(pthread_self(), worker == 0 ? "till" : "counter");
    for (unsigned i = 0; i < ORDERS; i++)
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

int main(void)
{
    pthread_t workers[WORKERS];

    for (size_t i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, (void *)i) != 0)
            return 1;
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%u\n", count_stock());
    return 0;
}
