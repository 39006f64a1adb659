/* SPDX-License-Identifier: MIT */
/*
 * The seeded source of randomness of all tests: the same seed gives the same sequence on every machine, compiler and
 * release, so a seed in a failure report is all that is needed to see the failure again. Plain data, no locks, no
 * system calls: callable from anywhere, one source belongs to one thread.
 */
#ifndef GAIT_TESTS_RANDOM_H
#define GAIT_TESTS_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t word[4];
};

/* Starts the sequence that belongs to the seed; every seed is a good one, 0 too. */
void random_init(struct random *random, uint64_t seed);

/* The seed of case `number` in a batch that has a seed of its own, so that each case can be repeated alone. */
uint64_t random_seed_derive(uint64_t batch_seed, uint64_t number);

/* 64 even bits. */
uint64_t random_u64(struct random *random);

/* 0 <= result < limit; 0 when the limit is 0. */
uint64_t random_below(struct random *random, uint64_t limit);

/* True `numerator` times out of `denominator`. */
bool random_chance(struct random *random, uint32_t numerator, uint32_t denominator);

/* A value at which arithmetic tends to change its behaviour: 0, -1, limits of every width, powers of two and around. */
uint64_t random_edge(struct random *random);

/* Fills bytes. */
void random_fill(struct random *random, void *bytes, size_t size_bytes);

#endif
