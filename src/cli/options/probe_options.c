/* SPDX-License-Identifier: MIT */
/* Probes may stand before, between and behind options; "--" begins the program. */
#include "cli/options/probe_options.h"

#include "cli/options/option_values.h"
#include "cli/options/unknown_option.h"
#include "hosted/error_text.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum option_number {
    OPTION_IF = 256,
    OPTION_STACK,
    OPTION_COUNT,
    OPTION_BY,
    OPTION_HIST,
    OPTION_INTERVAL,
    OPTION_DURATION,
    OPTION_LIMIT,
    OPTION_BUFFER,
    OPTION_COMPRESS,
    OPTION_QUIET,
};

static const struct option options_known[] = {
    {"pid", required_argument, NULL, 'p'},
    {"all", no_argument, NULL, 'a'},
    {"list", no_argument, NULL, 'l'},
    {"output", required_argument, NULL, 'o'},
    {"if", required_argument, NULL, OPTION_IF},
    {"stack", no_argument, NULL, OPTION_STACK},
    {"count", no_argument, NULL, OPTION_COUNT},
    {"by", required_argument, NULL, OPTION_BY},
    {"hist", required_argument, NULL, OPTION_HIST},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"buffer", required_argument, NULL, OPTION_BUFFER},
    {"compress", no_argument, NULL, OPTION_COMPRESS},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {NULL, 0, NULL, 0},
};

static bool take_pid(struct probe_options *options, const char *value)
{
    unsigned long number;

    if (!option_read_number(value, 0x7fffffff, &number) || number == 0)
        return false;
    options->pid = (pid_t)number;
    return true;
}

static bool take_limit(struct probe_options *options, const char *value)
{
    unsigned long number;

    if (!option_read_number(value, ~0ul, &number) || number == 0)
        return false;
    options->limit = number;
    return true;
}

/* False: the value is not what it should be. */
static bool take(struct probe_options *options, int which, const char *value)
{
    switch (which) {
    case 'p':
        return take_pid(options, value);
    case 'a':
        return options->is_all = true;
    case 'l':
        return options->is_list = true;
    case 'o':
        options->output = value;
        return value[0] != '\0';
    case OPTION_IF:
        options->condition = value;
        return value[0] != '\0';
    case OPTION_STACK:
        return options->with_stacks = true;
    case OPTION_COUNT:
        return options->is_counting = true;
    case OPTION_BY:
        options->by = value;
        return options->is_counting = true;
    case OPTION_HIST:
        options->measure = value;
        return options->is_counting = true;
    case OPTION_INTERVAL:
        return option_read_seconds(value, &options->interval_seconds);
    case OPTION_DURATION:
        return option_read_seconds(value, &options->duration_seconds);
    case OPTION_LIMIT:
        return take_limit(options, value);
    case OPTION_BUFFER:
        return option_read_buffer_bytes(value, &options->buffer_bytes);
    case OPTION_COMPRESS:
        return options->compress = true;
    default:
        return options->is_quiet = true;
    }
}

static enum command_status misuse(const struct command_call *call, const char *what)
{
    (void)error_set(call->error, EINVAL, "probe: %s; see gait help probe", what);
    return COMMAND_MISUSED;
}

static enum command_status check(const struct command_call *call, const struct probe_options *options)
{
    if (options->is_list)
        return COMMAND_DONE;
    if (options->spec_count == 0)
        return misuse(call, "which probe? gait probe -l lists what there is");
    if ((options->pid != 0) + options->is_all + (options->program != NULL && !options->is_all) > 1)
        return misuse(call, "-p, -a and a program do not go together");
    if (options->is_counting && options->output != NULL)
        return misuse(call,
                      "what is counted in the kernel is not recorded: --count, --by and --hist go without --output");
    if (options->is_counting && options->with_stacks)
        return misuse(call, "--stack is of events, which --count, --by and --hist do not show");
    if (options->interval_seconds != 0 && !options->is_counting)
        return misuse(call, "--interval goes with --count, --by or --hist");
    if (options->buffer_bytes != 0 && (options->buffer_bytes & (options->buffer_bytes - 1)) != 0)
        return misuse(call, "--buffer takes a power of two, as 4M");
    return COMMAND_DONE;
}

/* With room for them, and for two more. */
static enum command_status parse(const struct command_call *call, char **arguments, struct probe_options *options_out)
{
    struct probe_options options = {.pid = 0};
    int count = 0, end = 0, which;

    /* Behind the first "--" everything is the program's; getopt moves what stands before it. */
    arguments[count++] = (char *)(uintptr_t) "probe";
    while (end < call->argument_count && strcmp(call->arguments[end], "--") != 0)
        arguments[count++] = call->arguments[end++];
    arguments[count] = NULL;
    optind = 0;
    opterr = 0;
    while ((which = getopt_long(count, arguments, ":p:alo:", options_known, NULL)) != -1) {
        const char *given = arguments[optind - 1];

        if (which == '?') {
            (void)unknown_option_of(options_known, "probe", given, call->error);
            return COMMAND_MISUSED;
        }
        if (which == ':') {
            (void)error_set(call->error, EINVAL, "probe: a value should follow '%s'; see gait help probe", given);
            return COMMAND_MISUSED;
        }
        if (!take(&options, which, optarg)) {
            (void)error_set(call->error, EINVAL, "probe: '%s' is no value for that option; see gait help probe",
                            optarg);
            return COMMAND_MISUSED;
        }
    }
    for (int i = optind; i < count; i++)
        call->arguments[options.spec_count++] = arguments[i];
    call->arguments[options.spec_count] = NULL;
    options.specs = call->arguments;
    if (end + 1 < call->argument_count)
        options.program = call->arguments + end + 1;
    *options_out = options;
    return check(call, &options);
}

enum command_status probe_options_parse(const struct command_call *call, struct probe_options *options_out)
{
    char **arguments = calloc((size_t)call->argument_count + 2, sizeof(*arguments));
    enum command_status status;

    if (arguments == NULL) {
        (void)error_set(call->error, ENOMEM, "no memory");
        return COMMAND_FAILED;
    }
    status = parse(call, arguments, options_out);
    free(arguments);
    return status;
}
