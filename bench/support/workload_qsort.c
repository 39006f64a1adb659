/* SPDX-License-Identifier: MIT */
/* qsort of libc, which calls back into this file for each comparison. */
#include "support/workload.h"

#include "support/checksum.h"
#include "support/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS   800000
#define DATA_SEED 0x50f7

/* No two are equal, so that any order that is right is the same one. */
struct record {
    uint32_t key, number;
};

struct sorting {
    size_t count;
    struct record *unsorted, *sorted;
};

static int compare(const void *left, const void *right)
{
    const struct record *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void discard(void *state)
{
    struct sorting *sorting = state;

    if (sorting == NULL)
        return;
    free(sorting->unsorted);
    free(sorting->sorted);
    free(sorting);
}

static void fill(struct sorting *sorting)
{
    struct random random;

    random_init(&random, DATA_SEED);
    for (size_t i = 0; i < sorting->count; i++)
        sorting->unsorted[i] = (struct record){(uint32_t)random_below(&random, RECORDS), (uint32_t)i};
}

static int prepare(const void *subject, unsigned scale_percent, void **state_out)
{
    struct sorting *sorting = calloc(1, sizeof(*sorting));

    (void)subject;
    if (sorting == NULL)
        return -ENOMEM;
    sorting->count = workload_scale(RECORDS, scale_percent);
    sorting->unsorted = calloc(sorting->count, sizeof(*sorting->unsorted));
    sorting->sorted = calloc(sorting->count, sizeof(*sorting->sorted));
    if (sorting->unsorted == NULL || sorting->sorted == NULL) {
        discard(sorting);
        return -ENOMEM;
    }
    fill(sorting);
    *state_out = sorting;
    return 0;
}

static uint64_t run(void *state)
{
    struct sorting *sorting = state;
    size_t size_bytes = sorting->count * sizeof(*sorting->sorted);

    memcpy(sorting->sorted, sorting->unsorted, size_bytes);
    qsort(sorting->sorted, sorting->count, sizeof(*sorting->sorted), compare);
    for (size_t i = 1; i < sorting->count; i++)
        if (compare(&sorting->sorted[i - 1], &sorting->sorted[i]) >= 0)
            return WORKLOAD_FAILED;
    return checksum_add_bytes(CHECKSUM_START, sorting->sorted, size_bytes);
}

const struct workload workload_qsort = {
    .name = "qsort",
    .prepare = prepare,
    .run = run,
    .discard = discard,
};
