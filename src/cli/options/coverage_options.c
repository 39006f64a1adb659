/* SPDX-License-Identifier: MIT */
#include "cli/options/coverage_options.h"

#include "cli/last_trace.h"
#include "cli/options/unknown_option.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define HELP "try 'gait help coverage'"

static const struct option long_options[] = {
    {"functions", no_argument, NULL, 'f'}, {"missed", no_argument, NULL, 'm'},       {"lines", no_argument, NULL, 'l'},
    {"json", no_argument, NULL, 'j'},      {"filter", required_argument, NULL, 'g'}, {0},
};

static int take_option(struct coverage_options *options, int letter, char *const *words, struct gait_error *err)
{
    switch (letter) {
    case 'f':
        options->choice.functions = true;
        return 0;
    case 'm':
        options->choice.missed = true;
        return 0;
    case 'l':
        options->lines = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case 'g':
        options->choice.filter = optarg;
        return 0;
    case ':':
        return error_set(err, EINVAL, "cannot use '%s': its value is missing; " HELP, words[optind - 1]);
    default:
        return unknown_option_of(long_options, "coverage", words[optind - 1], err);
    }
}

static int take_trace(struct coverage_options *options, int count, char *const *words, struct gait_error *err)
{
    if (optind + 1 < count)
        return error_set(err, EINVAL, "cannot use '%s': 'gait coverage' takes one trace; " HELP, words[optind + 1]);
    options->trace = optind < count ? words[optind] : last_trace_take("coverage", err);
    return options->trace == NULL ? -EINVAL : 0;
}

/* words[0] is for getopt, which begins behind it. */
static int read_words(struct coverage_options *options, int count, char **words, struct gait_error *err)
{
    int letter, result = 0;

    /* 0, not 1: getopt forgets what it knew of other words. */
    optind = 0;
    while (result == 0 && (letter = getopt_long(count, words, ":", long_options, NULL)) != -1)
        result = take_option(options, letter, words, err);
    return result == 0 ? take_trace(options, count, words, err) : result;
}

enum command_status coverage_options_read(const struct command_call *call, struct coverage_options *options_out)
{
    static char name[] = "coverage";
    struct coverage_options options = {.trace = NULL};
    size_t count = (size_t)call->argument_count;
    char **words = calloc(count + 2, sizeof(*words));
    int result;

    if (words == NULL) {
        error_set(call->error, ENOMEM, "cannot read the arguments: there is no memory");
        return COMMAND_FAILED;
    }
    words[0] = name;
    memcpy(words + 1, call->arguments, count * sizeof(*words));
    result = read_words(&options, call->argument_count + 1, words, call->error);
    free(words);
    if (result != 0)
        return COMMAND_MISUSED;
    *options_out = options;
    return COMMAND_DONE;
}
