/* SPDX-License-Identifier: MIT */
/* The C library calls back: qsort, bsearch, twalk, and sorting inside of sorting. */
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 5000

static unsigned comparisons, nodes;

static int compare(const void *a, const void *b)
{
    const uint32_t *first = a, *second = b;

    comparisons++;
    return (*first > *second) - (*first < *second);
}

static int compare_backwards(const void *a, const void *b)
{
    return compare(b, a);
}

/* Sorts something small inside of each comparison. */
static int compare_slowly(const void *a, const void *b)
{
    uint32_t few[4] = {*(const uint32_t *)a % 7, *(const uint32_t *)b % 5, 3, 1};

    qsort(few, 4, sizeof(few[0]), compare_backwards);
    return compare(a, b);
}

static void visit(const void *node, VISIT order, int level)
{
    (void)level;
    if (order == postorder || order == leaf)
        nodes = nodes * 3 + **(const uint32_t *const *)node;
}

int main(void)
{
    static uint32_t numbers[COUNT];
    uint32_t state = 12345;
    void *tree = NULL;
    unsigned found = 0;

    for (int i = 0; i < COUNT; i++)
        numbers[i] = state = state * 1664525 + 1013904223;
    qsort(numbers, COUNT, sizeof(numbers[0]), compare);
    for (uint32_t i = 0; i < COUNT; i++)
        found += bsearch(&numbers[i], numbers, COUNT, sizeof(numbers[0]), compare) == &numbers[i];
    qsort(numbers, COUNT, sizeof(numbers[0]), compare_backwards);
    qsort(numbers, 300, sizeof(numbers[0]), compare_slowly);
    for (int i = 0; i < 500; i++)
        tsearch(&numbers[i * 7 % COUNT], &tree, compare);
    twalk(tree, visit);
    printf("found %u, first %u, last %u, nodes %08x, comparisons %u\n", found, numbers[0], numbers[COUNT - 1], nodes,
           comparisons);
    return found != COUNT;
}
