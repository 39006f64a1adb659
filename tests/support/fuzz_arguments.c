/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/fuzz_arguments.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

bool fuzz_arguments_read(int argc, char **argv, const char *others, struct fuzz_arguments *arguments_out)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'},
        {"seed", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    int option;

    *arguments_out = (struct fuzz_arguments){.seconds = 60, .seed = 1};
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option != 's' && option != 'r') {
            fprintf(stderr, "usage: %s [--seconds N] [--seed S]%s\n", argv[0], others);
            return false;
        }
        *(option == 's' ? &arguments_out->seconds : &arguments_out->seed) = strtoull(optarg, NULL, 0);
    }
    return true;
}
