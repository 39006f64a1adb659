/* SPDX-License-Identifier: MIT */
/*
 * A program with probes of all shapes, in C and in C++, which says itself what it passes: "name arguments", a line
 * each, as gait query tells it. For each argument it is asked how often; semaphores are looked at where they are. It is
 * included, so that it is the same program in both languages.
 */
#include "gait/probe.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

GAIT_PROBE_SEMAPHORE(probed, guarded);

enum colour { RED, GREEN = 7 };

static int global_number = 41;
static const char *volatile global_text = "global";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What is passed is said by one thread at a time, so that nothing is mixed up. */
#define SAY(...)                                                                                                       \
    do {                                                                                                               \
        pthread_mutex_lock(&lock);                                                                                     \
        printf(__VA_ARGS__);                                                                                           \
        pthread_mutex_unlock(&lock);                                                                                   \
    } while (0)

struct pair {
    int first;
    long second;
};

static __attribute__((noinline)) void pass_numbers(int i, const struct pair *pair)
{
    signed char c = (signed char)-i;
    unsigned char uc = (unsigned char)(200 + i);
    short s = (short)(-300 - i);
    unsigned short us = (unsigned short)(60000 + i);
    long l = -5000000000L - i;
    unsigned long ul = 4000000000UL + (unsigned long)i;
    unsigned int ui = 3000000000u + (unsigned)i;

    GAIT_PROBE(probed, numbers, c, uc, s, us, i, ui, l, ul, pair->first, pair->second, GREEN, 12345);
    SAY("numbers %d, %u, %d, %u, %d, %u, %ld, %lu, %d, %ld, 7, 12345\n", c, uc, s, us, i, ui, l, ul, pair->first,
        pair->second);
}

static __attribute__((noinline)) void pass_texts(int i)
{
    char local[32];

    snprintf(local, sizeof(local), "local %d", i);
    GAIT_PROBE(probed, texts, local, "constant", global_text, global_number);
    SAY("texts \"%s\", \"constant\", \"%s\", %d\n", local, global_text, global_number);
}

static __attribute__((noinline)) void pass_nothing(void)
{
    GAIT_PROBE(probed, nothing);
    SAY("nothing \n");
}

/* A probe at the head of a loop, two next to each other, and a branch right behind. */
static __attribute__((noinline)) int pass_in_loop(int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        GAIT_PROBE(probed, loop, i);
        GAIT_PROBE(probed, again, sum);
        if (i % 3 == 0)
            GAIT_PROBE(probed, third, i);
        sum += i;
    }
    return sum;
}

static void say_loop(int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        SAY("loop %d\nagain %d\n", i, sum);
        if (i % 3 == 0)
            SAY("third %d\n", i);
        sum += i;
    }
}

static __attribute__((noinline)) void pass_guarded(int i)
{
    GAIT_PROBE_IF_ENABLED(probed, guarded, i * 2);
    if (GAIT_PROBE_ENABLED(probed, guarded))
        SAY("guarded %d\n", i * 2);
}

static __attribute__((noinline)) void pass_real(double d, float f)
{
    uint64_t bits;
    uint32_t half;

    memcpy(&bits, &d, sizeof(bits));
    memcpy(&half, &f, sizeof(half));
    GAIT_PROBE(probed, real, d, f);
    SAY("real 0x%lx, %u\n", (unsigned long)bits, half);
}

static void pass_all(int count)
{
    for (int i = 0; i < count; i++) {
        struct pair pair = {i, -i};

        pass_numbers(i, &pair);
        pass_texts(i);
        pass_nothing();
        pass_guarded(i);
        pass_real(i + 0.5, -2.0f);
    }
    SAY("sum %d\n", pass_in_loop(count));
    say_loop(count);
}

static void *run(void *argument)
{
    pass_all(*(const int *)argument);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run, &count);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pass_all(count);
    SAY("semaphore %d\n", probed_guarded_semaphore);
    return 0;
}
