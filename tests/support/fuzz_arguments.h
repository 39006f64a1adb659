/* SPDX-License-Identifier: MIT */
/* What fuzzers are told: for how long, and where random numbers begin. */
#ifndef GAIT_TESTS_FUZZ_ARGUMENTS_H
#define GAIT_TESTS_FUZZ_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct fuzz_arguments {
    uint64_t seconds; /* 60, if nobody says */
    uint64_t seed;    /* 1 */
};

/* Reads [--seconds N] [--seed S]; what follows is from optind on. False: they are others, and how they should be was
 * said, with `others` behind. */
bool fuzz_arguments_read(int argc, char **argv, const char *others, struct fuzz_arguments *arguments_out);

#endif
