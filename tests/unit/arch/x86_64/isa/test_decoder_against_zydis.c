/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* time limit: 300 s */
/*
 * The decoder says the same as libZydis, field by field: of every opcode with all that may change it; of real code,
 * instruction after instruction; at every byte offset of part of it; and of random and mutated bytes; as Intel's and as
 * AMD's CPUs read them. What differs is explained in tests/data/x86_decoder_differences.
 *
 *     --seconds N   goes on with random bytes for that long       --seed S   from another seed
 *     --file PATH   sweeps over this file too
 */
#include "arch/x86_64/isa/decoder.h"

#include <getopt.h>
#include <stdatomic.h>

#include "support/check.h"
#include "support/corpus.h"
#include "support/decoder_fuzz.h"
#include "support/difference_list.h"
#include "support/encoding_walk.h"
#include "support/workers.h"
#include "support/zydis_oracle.h"

#define PIECE_BYTES (256u << 10)
#define MIN_SWEPT   10000000u
#define MIN_RANDOM  15000000u

struct comparison {
    struct difference_list list;
    struct corpus corpus;
    struct corpus_piece *pieces;
    size_t piece_count;
    struct decoder_fuzz fuzz;
    atomic_ullong walked, swept, offsets;
};

static size_t available_at(const struct corpus_piece *piece, size_t offset)
{
    return piece->section->size_bytes - offset;
}

struct walker {
    struct difference_list *list;
    unsigned long long valid;
};

static void visit(void *context, const uint8_t bytes[ENCODING_WALK_BYTES])
{
    struct walker *walker = context;
    bool is_valid;

    (void)zydis_oracle_compare(walker->list, bytes, ENCODING_WALK_BYTES, X86_DECODE_INTEL, &is_valid);
    walker->valid += is_valid;
}

static void walk(void *context, unsigned worker, size_t number)
{
    struct comparison *comparison = context;
    struct walker walker = {.list = &comparison->list};

    (void)worker;
    encoding_walk(number, visit, &walker);
    atomic_fetch_add(&comparison->walked, walker.valid);
}

/* Instruction after instruction, both ways. */
static void sweep(void *context, unsigned worker, size_t number)
{
    struct comparison *comparison = context;
    const struct corpus_piece *piece = &comparison->pieces[number / 2];
    unsigned options = number % 2 == 0 ? X86_DECODE_INTEL : X86_DECODE_AMD;
    unsigned long long swept = 0;

    (void)worker;
    for (size_t offset = piece->begin; offset < piece->end;) {
        const uint8_t *bytes = piece->section->bytes + offset;
        bool is_valid;

        offset += zydis_oracle_compare(&comparison->list, bytes, available_at(piece, offset), options, &is_valid);
        swept += is_valid;
    }
    atomic_fetch_add(&comparison->swept, swept);
}

/* What begins at every single byte. */
static void visit_offsets(void *context, unsigned worker, size_t number)
{
    struct comparison *comparison = context;
    const struct corpus_piece *piece = &comparison->pieces[number];
    unsigned long long valid = 0;

    (void)worker;
    if (piece->section->file->is_large)
        return;
    for (size_t offset = piece->begin; offset < piece->end; offset++) {
        const uint8_t *bytes = piece->section->bytes + offset;
        size_t available = available_at(piece, offset);
        bool is_valid;

        (void)zydis_oracle_compare(&comparison->list, bytes, available, X86_DECODE_INTEL, &is_valid);
        valid += is_valid;
        (void)zydis_oracle_compare(&comparison->list, bytes, available, X86_DECODE_AMD, &is_valid);
        valid += is_valid;
    }
    atomic_fetch_add(&comparison->offsets, valid);
}

static void read_arguments(struct comparison *comparison, int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'r'},
        {"file", required_argument, NULL, 'f'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's') {
            comparison->fuzz.seconds = (unsigned)strtoul(optarg, NULL, 0);
        } else if (option == 'r') {
            comparison->fuzz.seed = strtoull(optarg, NULL, 0);
        } else if (option != 'f' || corpus_add(&comparison->corpus, optarg) != 0) {
            fprintf(stderr, "usage: %s [--seconds N] [--seed S] [--file PATH]\n", argv[0]);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    static struct comparison comparison = {
        .fuzz = {.list = &comparison.list, .corpus = &comparison.corpus, .seed = 1, .min_cases = MIN_RANDOM},
    };
    struct decoder_fuzz_totals random;

    zydis_oracle_init();
    if (zydis_oracle_read_list(&comparison.list) != 0)
        return 1;
    corpus_init(&comparison.corpus);
    read_arguments(&comparison, argc, argv);
    comparison.piece_count = corpus_cut(&comparison.corpus, PIECE_BYTES, &comparison.pieces);
    workers_run(ENCODING_WALK_PARTS, walk, &comparison);
    workers_run(2 * comparison.piece_count, sweep, &comparison);
    workers_run(comparison.piece_count, visit_offsets, &comparison);
    decoder_fuzz_run(&comparison.fuzz, &random);
    printf("compared: %llu encodings, %llu instructions of real code, %llu at every offset, %llu of %llu random cases "
           "(seed %" PRIu64 ")\n",
           comparison.walked, comparison.swept, comparison.offsets, random.valid, random.cases, comparison.fuzz.seed);
    CHECK(comparison.swept >= MIN_SWEPT);
    CHECK_EQUAL(difference_list_finish(&comparison.list), 0);
    free(comparison.pieces);
    corpus_deinit(&comparison.corpus);
    difference_list_deinit(&comparison.list);
    return check_failures == 0 ? 0 : 1;
}
