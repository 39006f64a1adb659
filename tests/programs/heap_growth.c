/* SPDX-License-Identifier: MIT */
/* The heap of a program at a fixed address grows as far as it does when nobody is there who needs memory near by. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB    (1 << 20)
#define WANTED 512

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Some code, so that there is some to be copied. */
static int work(int seed)
{
    static int values[300];
    char text[100];

    for (int i = 0; i < 300; i++)
        values[i] = (i * 7919 + seed) % 1009;
    qsort(values, 300, sizeof(values[0]), compare);
    snprintf(text, sizeof(text), "%d %s %.3f", values[17], "x", seed * 0.5);
    return (int)strlen(text) + values[150];
}

int main(void)
{
    char *first = sbrk(0);
    int got = 0, sum = 0;

    while (got < WANTED && sbrk(MIB) != (void *)-1) {
        sum += work(got);
        first[(size_t)got * MIB] = (char)got;
        got++;
    }
    for (int i = 0; i < got; i++)
        sum += first[(size_t)i * MIB] != (char)i;
    printf("%d MiB, %d\n", got, sum);
    return got != WANTED;
}
