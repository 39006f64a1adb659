/* SPDX-License-Identifier: MIT */
/*
 * Random instructions for the decoder: bytes that are made to look like an encoding, and real instructions with a few
 * bytes changed. What a seed gives is always the same, for the same corpus.
 */
#ifndef GAIT_TESTS_DECODER_FUZZ_H
#define GAIT_TESTS_DECODER_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct corpus;
struct difference_list;
struct random;

#define DECODER_FUZZ_BYTES 32

/* Makes the bytes of one case. The corpus may be NULL. */
void decoder_fuzz_fill(struct random *random, const struct corpus *corpus, uint8_t bytes_out[DECODER_FUZZ_BYTES]);

/* What to compare. */
struct decoder_fuzz {
    struct difference_list *list; /* judges */
    const struct corpus *corpus;
    uint64_t seed;
    uint64_t min_cases;
    unsigned seconds;
};

struct decoder_fuzz_totals {
    unsigned long long cases, valid; /* valid: an instruction, to one of the two */
};

/*
 * Compares cases made from the seed with libZydis, as Intel's and AMD's CPUs read them by turns, some of them cut off;
 * on all CPUs, at least min_cases and until the time is up.
 */
void decoder_fuzz_run(const struct decoder_fuzz *fuzz, struct decoder_fuzz_totals *totals_out);

#endif
