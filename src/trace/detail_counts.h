/* SPDX-License-Identifier: MIT */
/* What is known of functions whose calls were looked at closely: how often, how long, with what. One thread at a time.
 */
#ifndef GAIT_TRACE_DETAIL_COUNTS_H
#define GAIT_TRACE_DETAIL_COUNTS_H

#include "base/attributes.h"
#include "base/hash_map.h"
#include "ring/detail_record.h"

#include <stddef.h>
#include <stdint.h>

/* Values of a record, kept. */
struct detail_last_values {
    uint8_t *bytes;
    uint32_t size_bytes;
    size_t capacity;
};

struct detail_count {
    uint64_t address;
    uint64_t calls;    /* that began */
    uint64_t returns;  /* whose end is known */
    uint64_t left;     /* of these, in another way than by a return */
    uint64_t total;    /* of their times, in ticks of the counter */
    uint64_t shortest; /* of them */
    uint64_t longest;
    uint64_t last_time; /* of the call that began last, */
    uint64_t last_arguments[DETAIL_ARGUMENTS];
    struct detail_last_values last_values; /* if they were declared */
    uint64_t last_value;                   /* and what was returned last, */
    uint64_t last_return;                  /* which was then */
    struct detail_last_values last_result;
};

struct detail_counts {
    struct hash_map addresses;
    struct detail_count *counts;
    size_t count;
    size_t capacity;
    int result; /* -ENOMEM: some are missing */
};

/* -ENOMEM. */
MUST_USE int detail_counts_init(struct detail_counts *counts);
void detail_counts_deinit(struct detail_counts *counts);

void detail_counts_enter(struct detail_counts *counts, const struct detail_enter *enter, struct detail_values values);
void detail_counts_leave(struct detail_counts *counts, const struct detail_leave *leave, struct detail_values values);

/* Puts them into order, the one that took most time first. Nothing can be added afterwards. */
void detail_counts_sort(struct detail_counts *counts);

#endif
