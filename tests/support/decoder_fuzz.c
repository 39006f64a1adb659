/* SPDX-License-Identifier: MIT */
/* Even random bytes rarely reach the interesting encodings, so most cases begin with a skeleton of one. No state. */
#include "support/decoder_fuzz.h"

#include "arch/x86_64/isa/decoder.h"
#include "support/corpus.h"
#include "support/random.h"
#include "support/workers.h"
#include "support/zydis_oracle.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define BATCH_CASES     50000u
#define BATCHES_AT_ONCE 20u

enum skeleton {
    SKELETON_NONE,
    SKELETON_ESCAPE,
    SKELETON_LONG_ESCAPE,
    SKELETON_3DNOW,
    SKELETON_VEX2,
    SKELETON_VEX3,
    SKELETON_XOP,
    SKELETON_EVEX,
    SKELETON_EVEX_ODD, /* fixed bits too are random */
    SKELETON_BRANCH,
    SKELETON_MUTATION,
    SKELETON_COUNT,
};

static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65};

static uint8_t random_prefix(struct random *random)
{
    uint64_t number = random_below(random, sizeof(prefixes) + 8);

    return number < sizeof(prefixes) ? prefixes[number] : (uint8_t)(0x40 + random_below(random, 16));
}

/* Puts some prefixes in front, mostly few. Returns how many. */
static size_t put_prefixes(struct random *random, uint8_t *bytes)
{
    bool is_crowded = random_chance(random, 1, 64);
    size_t limit = is_crowded ? X86_MAX_INSN_BYTES : 4;
    size_t count = 0;

    while (count < limit && (is_crowded || random_chance(random, 1, 3)))
        bytes[count++] = random_prefix(random);
    return count;
}

static void put_evex(struct random *random, uint8_t *bytes, enum skeleton skeleton)
{
    bytes[0] = 0x62;
    if (skeleton == SKELETON_EVEX_ODD)
        return;
    bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + random_below(random, 6)));
    bytes[2] |= 4;
    /* Without a mask and without vvvv much more is valid. */
    if (random_chance(random, 1, 2))
        bytes[3] &= 0x78;
    if (random_chance(random, 1, 2)) {
        bytes[2] |= 0x78;
        bytes[3] |= 0x08;
    }
}

static void put_vex3(struct random *random, uint8_t *bytes, uint8_t lead)
{
    unsigned first_map = lead == 0x8f ? 8 : 1;

    bytes[0] = lead;
    if (random_chance(random, 15, 16))
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (first_map + random_below(random, lead == 0x8f ? 3 : 7)));
    if (random_chance(random, 1, 2))
        bytes[2] |= 0x78;
}

static void put_branch(struct random *random, uint8_t *bytes)
{
    static const uint8_t opcodes[] = {0xe8, 0xe9, 0xeb, 0xc2, 0xc3, 0xff, 0xe0, 0xe1, 0xe2, 0xe3, 0xca, 0xcb, 0xc7};
    uint64_t number = random_below(random, sizeof(opcodes) + 8);

    if (number < sizeof(opcodes)) {
        bytes[0] = opcodes[number];
    } else if (random_chance(random, 1, 2)) {
        bytes[0] = (uint8_t)(0x70 + random_below(random, 16));
    } else {
        bytes[0] = 0x0f;
        bytes[1] = (uint8_t)(0x80 + random_below(random, 16));
    }
}

/*
 * Takes a real instruction and changes some bits or bytes near its beginning. How many random numbers that takes
 * depends on the corpus, so it has a sequence of its own: all other cases are the same with every corpus.
 */
static void put_mutation(uint64_t seed, const struct corpus *corpus, uint8_t *bytes, size_t size_bytes)
{
    struct random random;

    random_init(&random, seed);

    const struct corpus_section *section = &corpus->sections[random_below(&random, corpus->section_count)];
    unsigned changes = (unsigned)random_below(&random, 4);

    if (section->size_bytes <= size_bytes)
        return;
    memcpy(bytes, section->bytes + random_below(&random, section->size_bytes - size_bytes), size_bytes);
    while (changes-- > 0) {
        uint8_t *changed = &bytes[random_below(&random, 6)];

        if (random_chance(&random, 1, 2))
            *changed ^= (uint8_t)(1u << random_below(&random, 8));
        else
            *changed = (uint8_t)random_u64(&random);
    }
}

void decoder_fuzz_fill(struct random *random, const struct corpus *corpus, uint8_t bytes_out[DECODER_FUZZ_BYTES])
{
    bool has_code = corpus != NULL && corpus->section_count > 0;
    enum skeleton skeleton = (enum skeleton)random_below(random, has_code ? SKELETON_COUNT : SKELETON_MUTATION);

    random_fill(random, bytes_out, DECODER_FUZZ_BYTES);

    size_t used = put_prefixes(random, bytes_out);
    uint8_t *bytes = bytes_out + used;

    switch (skeleton) {
    case SKELETON_ESCAPE:
        bytes[0] = 0x0f;
        break;
    case SKELETON_LONG_ESCAPE:
        bytes[0] = 0x0f;
        bytes[1] = random_chance(random, 1, 2) ? 0x38 : 0x3a;
        break;
    case SKELETON_3DNOW:
        bytes[0] = bytes[1] = 0x0f;
        break;
    case SKELETON_VEX2:
        bytes[0] = 0xc5;
        break;
    case SKELETON_VEX3:
    case SKELETON_XOP:
        put_vex3(random, bytes, skeleton == SKELETON_VEX3 ? 0xc4 : 0x8f);
        break;
    case SKELETON_EVEX:
    case SKELETON_EVEX_ODD:
        put_evex(random, bytes, skeleton);
        break;
    case SKELETON_BRANCH:
        put_branch(random, bytes);
        break;
    case SKELETON_MUTATION:
        put_mutation(random_u64(random), corpus, bytes, DECODER_FUZZ_BYTES - used);
        break;
    default:
        break;
    }
}

/* Batches of cases, each with a seed of its own: what they compare does not depend on the threads. */
struct progress {
    const struct decoder_fuzz *fuzz;
    uint64_t first_batch;
    atomic_ullong cases, valid;
};

static void run_batch(void *context, unsigned worker, size_t number)
{
    struct progress *progress = context;
    const struct decoder_fuzz *fuzz = progress->fuzz;
    unsigned long long valid = 0;
    struct random random;

    (void)worker;
    random_init(&random, random_seed_derive(fuzz->seed, progress->first_batch + number));
    for (unsigned i = 0; i < BATCH_CASES; i++) {
        unsigned options = i % 2 == 0 ? X86_DECODE_INTEL : X86_DECODE_AMD;
        uint8_t bytes[DECODER_FUZZ_BYTES];
        size_t available = sizeof(bytes);
        bool is_valid;

        decoder_fuzz_fill(&random, fuzz->corpus, bytes);
        if (random_chance(&random, 1, 8))
            available = 1 + random_below(&random, available);
        (void)zydis_oracle_compare(fuzz->list, bytes, available, options, &is_valid);
        valid += is_valid;
    }
    /* Only counts: joining the threads orders them. */
    atomic_fetch_add_explicit(&progress->cases, BATCH_CASES, memory_order_relaxed);
    atomic_fetch_add_explicit(&progress->valid, valid, memory_order_relaxed);
}

void decoder_fuzz_run(const struct decoder_fuzz *fuzz, struct decoder_fuzz_totals *totals_out)
{
    struct progress progress = {.fuzz = fuzz};
    time_t end = time(NULL) + (time_t)fuzz->seconds;

    while (progress.cases < fuzz->min_cases || time(NULL) < end) {
        workers_run(BATCHES_AT_ONCE, run_batch, &progress);
        progress.first_batch += BATCHES_AT_ONCE;
    }
    totals_out->cases = progress.cases;
    totals_out->valid = progress.valid;
}
