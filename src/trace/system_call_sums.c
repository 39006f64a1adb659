/* SPDX-License-Identifier: MIT */
/* By number, in order, so that one is found by halving: there are some dozens. */
#include "trace/system_call_sums.h"

#include "base/partition_point.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void system_call_sums_deinit(struct system_call_sums *counts)
{
    free(counts->counts);
    *counts = (struct system_call_sums){.count = 0};
}

/* Where the number is, or would be. */
static size_t place_of(const struct system_call_sums *counts, uint64_t number)
{
    return PARTITION_POINT(counts->count, i, counts->counts[i].number < number);
}

/* NULL: no memory. */
static struct system_call_sum *obtain(struct system_call_sums *counts, uint64_t number)
{
    size_t place = place_of(counts, number);

    if (place < counts->count && counts->counts[place].number == number)
        return &counts->counts[place];
    if (ARRAY_RESERVE(counts->counts, counts->capacity, counts->count + 1) != 0) {
        counts->result = -ENOMEM;
        return NULL;
    }
    memmove(&counts->counts[place + 1], &counts->counts[place], (counts->count - place) * sizeof(counts->counts[0]));
    counts->counts[place] = (struct system_call_sum){.number = number};
    counts->count++;
    return &counts->counts[place];
}

static void add(struct system_call_sum *count, const struct system_call_sum *more)
{
    if (more->returned != 0 && (count->returned == 0 || more->shortest < count->shortest))
        count->shortest = more->shortest;
    if (more->longest > count->longest)
        count->longest = more->longest;
    count->calls += more->calls;
    count->errors += more->errors;
    count->returned += more->returned;
    count->total += more->total;
}

void system_call_sums_add(struct system_call_sums *counts, const struct detail_system_call *call)
{
    struct system_call_sum *count = obtain(counts, call->record.function);
    struct system_call_sum one = {.calls = 1};

    if (count == NULL)
        return;
    if (!(call->flags & DETAIL_SYSTEM_CALL_NEVER_RETURNED) && call->record.time >= call->entered_time) {
        one.returned = 1;
        one.errors = system_call_has_failed(call->result);
        one.total = one.shortest = one.longest = call->record.time - call->entered_time;
    }
    add(count, &one);
}

void system_call_sums_take_back(struct system_call_sums *counts, uint64_t number)
{
    size_t place = place_of(counts, number);

    if (place < counts->count && counts->counts[place].number == number && counts->counts[place].calls != 0)
        counts->counts[place].calls--;
}

void system_call_sums_merge(struct system_call_sums *counts, const struct system_call_sums *other)
{
    for (size_t i = 0; i < other->count; i++) {
        struct system_call_sum *count = obtain(counts, other->counts[i].number);

        if (count != NULL)
            add(count, &other->counts[i]);
    }
}

static int compare(const void *left_count, const void *right_count)
{
    const struct system_call_sum *left = left_count, *right = right_count;

    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    if (left->calls != right->calls)
        return left->calls > right->calls ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

void system_call_sums_sort(struct system_call_sums *counts)
{
    if (counts->count != 0)
        qsort(counts->counts, counts->count, sizeof(counts->counts[0]), compare);
}
