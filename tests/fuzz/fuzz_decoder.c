/* SPDX-License-Identifier: MIT */
/*
 * Compares the decoder with libZydis on random and mutated instructions until the time is up: --seconds N --seed S.
 * Prints what differs without an explanation in tests/data/x86_decoder_differences, and ends with 1 if anything does.
 */
#include "support/corpus.h"
#include "support/decoder_fuzz.h"
#include "support/difference_list.h"
#include "support/zydis_oracle.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void read_arguments(struct decoder_fuzz *fuzz, int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 's') {
            fuzz->seconds = (unsigned)strtoul(optarg, NULL, 0);
        } else if (option == 'r') {
            fuzz->seed = strtoull(optarg, NULL, 0);
        } else {
            fprintf(stderr, "usage: %s [--seconds N] [--seed S]\n", argv[0]);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    static struct difference_list list;
    static struct corpus corpus;
    struct decoder_fuzz fuzz = {.list = &list, .corpus = &corpus, .seconds = 60};
    struct decoder_fuzz_totals totals;

    read_arguments(&fuzz, argc, argv);
    zydis_oracle_init();
    if (zydis_oracle_read_list(&list) != 0)
        return 1;
    corpus_init(&corpus);
    decoder_fuzz_run(&fuzz, &totals);
    printf("seed %" PRIu64 ": %llu cases, %llu of them instructions\n", fuzz.seed, totals.cases, totals.valid);
    difference_list_print_unexplained(&list);

    int status = list.unexplained == 0 ? 0 : 1;

    corpus_deinit(&corpus);
    difference_list_deinit(&list);
    return status;
}
