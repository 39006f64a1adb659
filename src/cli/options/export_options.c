/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/options/export_options.h"

#include "base/text_parse.h"
#include "cli/last_trace.h"
#include "cli/options/nearest_name.h"
#include "cli/options/unknown_option.h"
#include "export/export_format.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define HELP "try 'gait help export'"

enum option_letter { OPTION_FROM = 256, OPTION_TO, OPTION_THREAD, OPTION_EVENTS };

static const struct option long_options[] = {
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"thread", required_argument, NULL, OPTION_THREAD},
    {"events", no_argument, NULL, OPTION_EVENTS},
    {0},
};

static int refuse_format(const char *name, struct gait_error *err)
{
    const struct export_format *format;
    struct nearest_names nearest;

    nearest_names_init(&nearest, name);
    for (size_t i = 0; (format = export_formats_get(i)) != NULL; i++)
        nearest_names_offer(&nearest, format->name, strlen(format->name));
    if (nearest.count == 0)
        return error_set(err, EINVAL, "cannot export to '%s': there is no such format; " HELP " for the list", name);
    return error_set(err, EINVAL, "cannot export to '%s': there is no such format; did you mean '%s'?", name,
                     nearest.best[0].name);
}

static int take_format(struct export_options *options, const char *name, struct gait_error *err)
{
    options->format = export_formats_find(name);
    return options->format == NULL ? refuse_format(name, err) : 0;
}

static int take_time(const char *option, const char *text, uint64_t *time_out, struct gait_error *err)
{
    if (text_parse_duration(text, strlen(text), time_out) == 0)
        return 0;
    return error_set(err, EINVAL, "cannot use '--%s %s': it is no time since the beginning; try 1.5s or 200ms", option,
                     text);
}

static int take_option(struct export_options *options, int letter, char *const *words, struct gait_error *err)
{
    switch (letter) {
    case 'f':
        return take_format(options, optarg, err);
    case 'o':
        options->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
        return 0;
    case OPTION_FROM:
        return take_time("from", optarg, &options->from_ns, err);
    case OPTION_TO:
        return take_time("to", optarg, &options->to_ns, err);
    case OPTION_THREAD:
        options->threads[options->thread_count++] = optarg;
        return 0;
    case OPTION_EVENTS:
        options->has_events = true;
        return 0;
    case ':':
        return error_set(err, EINVAL, "cannot use '%s': its value is missing; " HELP, words[optind - 1]);
    default:
        return unknown_option_of(long_options, "export", words[optind - 1], err);
    }
}

static int take_trace(struct export_options *options, int count, char *const *words, struct gait_error *err)
{
    if (optind + 1 < count)
        return error_set(err, EINVAL, "cannot use '%s': 'gait export' takes one trace; " HELP, words[optind + 1]);
    if (options->format == NULL)
        return error_set(err, EINVAL,
                         "cannot run 'gait export': no format was given; try -f chrome, or 'gait help export'");
    if (options->has_events && !options->format->can_have_events)
        return error_set(err, EINVAL, "cannot use --events: %s has calls only; try a database, or 'gait dump events'",
                         options->format->name);
    if (options->from_ns >= options->to_ns)
        return error_set(err, EINVAL,
                         "cannot export what is from --from to --to: the end is not after the beginning; try others");
    options->trace = optind < count ? words[optind] : last_trace_take("export", err);
    return options->trace == NULL ? -EINVAL : 0;
}

/* words[0] is for getopt, which begins behind it. */
static int read_words(struct export_options *options, int count, char **words, struct gait_error *err)
{
    int letter, result = 0;

    /* 0, not 1: getopt forgets what it knew of other words. */
    optind = 0;
    while (result == 0 && (letter = getopt_long(count, words, ":f:o:", long_options, NULL)) != -1)
        result = take_option(options, letter, words, err);
    return result == 0 ? take_trace(options, count, words, err) : result;
}

enum command_status export_options_read(const struct command_call *call, struct export_options *options_out)
{
    struct export_options options = {.to_ns = UINT64_MAX};
    size_t count = (size_t)call->argument_count;
    char **words = calloc(count + 2, sizeof(*words));
    int result;

    options.threads = calloc(count + 1, sizeof(*options.threads));
    if (words == NULL || options.threads == NULL) {
        result = error_set(call->error, ENOMEM, "cannot read the arguments: there is no memory");
    } else {
        static char name[] = "export";

        words[0] = name;
        memcpy(words + 1, call->arguments, count * sizeof(*words));
        result = read_words(&options, call->argument_count + 1, words, call->error);
    }
    free(words);
    if (result != 0) {
        export_options_deinit(&options);
        return result == -ENOMEM ? COMMAND_FAILED : COMMAND_MISUSED;
    }
    *options_out = options;
    return COMMAND_DONE;
}

void export_options_deinit(struct export_options *options)
{
    free(options->threads);
}
