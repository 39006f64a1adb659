/* SPDX-License-Identifier: MIT */
/* Memory, strings, numbers, sorting, time, the environment, short sleeps: what programs are made of. */
#define _GNU_SOURCE
#include "support/libc_hammer.h"

#include "base/raw_syscall.h"

#include <asm/unistd.h>
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define NUMBERS 64
#define BLOCKS  16

static _Atomic bool ended;
static _Atomic long rounds;
static pthread_t threads[LIBC_HAMMER_THREADS];

static int compare_numbers(const void *first, const void *second)
{
    int a = *(const int *)first, b = *(const int *)second;

    return (a > b) - (a < b);
}

static long use_text(unsigned seed)
{
    char text[256], copy[256];
    long wrong = 0;

    snprintf(text, sizeof(text), "%d %s %5.2f %x", (int)seed, "words", 2.5, seed);
    wrong += atoi(text) != (int)seed || strtol(text, NULL, 10) != (long)(int)seed;
    strcpy(copy, text);
    wrong += strcmp(copy, text) != 0 || strlen(copy) != strlen(text) || strstr(copy, "words") == NULL;
    wrong += memchr(copy, 'w', sizeof(copy)) == NULL || strrchr(copy, ' ') == NULL;
    wrong += toupper('a') != 'A' || wcslen(L"wide") != 4 || getenv("PATH") == NULL;
    return wrong;
}

static long use_sorting(unsigned seed)
{
    int numbers[NUMBERS];
    long wrong = 0;

    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = rand_r(&seed) % 1000;
    qsort(numbers, NUMBERS, sizeof(numbers[0]), compare_numbers);
    for (int i = 1; i < NUMBERS; i++)
        wrong += numbers[i - 1] > numbers[i];
    return wrong;
}

static void use_memory(unsigned seed)
{
    void *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(16 + (size_t)(rand_r(&seed) % 5000));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = realloc(blocks[i], 32 + (size_t)(rand_r(&seed) % 5000));
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

static long use_time(void)
{
    time_t then = 86400 * 365;
    char text[64];
    struct tm tm;

    gmtime_r(&then, &tm);
    strftime(text, sizeof(text), "%Y-%m-%d", &tm);
    sched_yield();
    usleep(1);
    return tm.tm_year != 71 || strcmp(text, "1971-01-01") != 0;
}

long libc_hammer_once(unsigned seed)
{
    use_memory(seed);
    return use_text(seed) + use_sorting(seed) + use_time();
}

static void *hammer(void *context)
{
    long wrong = 0;

    for (unsigned i = (unsigned)(uintptr_t)context; !atomic_load(&ended); i++) {
        wrong += libc_hammer_once(i);
        atomic_fetch_add(&rounds, 1);
    }
    return (void *)wrong;
}

void libc_hammer_start(void)
{
    atomic_store(&ended, false);
    atomic_store(&rounds, 0);
    for (intptr_t i = 0; i < LIBC_HAMMER_THREADS; i++)
        if (pthread_create(&threads[i], NULL, hammer, (void *)i) != 0) {
            perror("cannot start a thread");
            exit(1);
        }
}

long libc_hammer_stop(void)
{
    long wrong = 0;

    atomic_store(&ended, true);
    for (int i = 0; i < LIBC_HAMMER_THREADS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        wrong += (intptr_t)result;
    }
    return wrong;
}

long libc_hammer_rounds(void)
{
    return atomic_load(&rounds);
}

uint64_t libc_hammer_address(void)
{
    return (uintptr_t)dlsym(RTLD_DEFAULT, "qsort");
}

int64_t libc_hammer_now_ns(void)
{
    struct timespec time;

    (void)raw_syscall(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&time, 0, 0, 0, 0);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
