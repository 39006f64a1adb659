/* SPDX-License-Identifier: MIT */
/* By getopt_long, which stops at the first argument that is no option: what follows belongs to the program. */
#define _GNU_SOURCE
#include "cli/record_options.h"

#include "gait/stalker.h"
#include "libgait/error.h"
#include "ring/ring_layout.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum option_letter {
    OPTION_OUTPUT = 'o',
    OPTION_FOLLOW = 256,
    OPTION_TIMES,
    OPTION_OVERFLOW,
    OPTION_BUFFER,
    OPTION_DURATION,
    OPTION_COMPRESS,
    OPTION_CHILDREN,
    OPTION_NO_CHILDREN,
    OPTION_QUIET,
};

static const struct option known[] = {
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"follow", required_argument, NULL, OPTION_FOLLOW},
    {"times", no_argument, NULL, OPTION_TIMES},
    {"overflow", required_argument, NULL, OPTION_OVERFLOW},
    {"buffer", required_argument, NULL, OPTION_BUFFER},
    {"duration", required_argument, NULL, OPTION_DURATION},
    {"compress", no_argument, NULL, OPTION_COMPRESS},
    {"children", no_argument, NULL, OPTION_CHILDREN},
    {"no-children", no_argument, NULL, OPTION_NO_CHILDREN},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {NULL, 0, NULL, 0},
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint32_t event;
} event_names[] = {
    {"none", 0},
    {"call", GAIT_EVENT_CALL},
    {"ret", GAIT_EVENT_RET},
    {"block", GAIT_EVENT_BLOCK},
    {"exec", GAIT_EVENT_EXEC},
    {"compile", GAIT_EVENT_COMPILE},
};

static bool add_event(const char *name, size_t length, uint32_t *events)
{
    for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++)
        if (strlen(event_names[i].name) == length && memcmp(event_names[i].name, name, length) == 0) {
            *events |= event_names[i].event;
            return true;
        }
    return false;
}

static bool read_events(const char *text, uint32_t *events_out)
{
    *events_out = 0;
    for (const char *name = text;; name++) {
        size_t length = strcspn(name, ",");

        if (!add_event(name, length, events_out))
            return false;
        name += length;
        if (*name == '\0')
            return true;
    }
}

static bool read_number(const char *text, unsigned long most, unsigned long *number_out, const char **end_out)
{
    char *end;

    errno = 0;
    *number_out = strtoul(text, &end, 10);
    *end_out = end;
    return end != text && errno == 0 && text[0] != '-' && *number_out <= most;
}

static bool read_size(const char *text, size_t *size_out)
{
    unsigned long number;
    const char *end;
    unsigned shift = 0;

    if (!read_number(text, RING_BUFFER_BYTES_MAX, &number, &end))
        return false;
    if (*end == 'K' || *end == 'k' || *end == 'M' || *end == 'm')
        shift = *end++ == 'M' || end[-1] == 'm' ? 20 : 10;
    *size_out = number << shift;
    return *end == '\0' && *size_out >= RING_BUFFER_BYTES_MIN && *size_out <= RING_BUFFER_BYTES_MAX;
}

static bool read_seconds(const char *text, unsigned *seconds_out)
{
    unsigned long number;
    const char *end;

    if (!read_number(text, 1000000000, &number, &end) || *end != '\0' || number == 0)
        return false;
    *seconds_out = (unsigned)number;
    return true;
}

static bool read_overflow(const char *text, int *overflow_out)
{
    if (strcmp(text, "drop") == 0)
        *overflow_out = RING_DROP;
    else if (strcmp(text, "block") == 0)
        *overflow_out = RING_BLOCK;
    else
        return false;
    return true;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* NULL: it is right; else what it should be. */
static const char *take_option(int letter, const char *value, struct record_options *options)
{
    switch (letter) {
    case OPTION_OUTPUT:
        options->output = value;
        return value[0] == '\0' ? "the name of a folder" : NULL;
    case OPTION_FOLLOW:
        return read_events(value, &options->events) ? NULL : "none, or some of call,ret,block,exec,compile";
    case OPTION_TIMES:
        options->with_times = true;
        return NULL;
    case OPTION_OVERFLOW:
        return read_overflow(value, &options->overflow) ? NULL : "drop or block";
    case OPTION_BUFFER:
        return read_size(value, &options->buffer_bytes) ? NULL : "a size from 4K to 8M";
    case OPTION_DURATION:
        return read_seconds(value, &options->duration_seconds) ? NULL : "a number of seconds, at least 1";
    case OPTION_COMPRESS:
        options->compress = true;
        return NULL;
    case OPTION_CHILDREN:
    case OPTION_NO_CHILDREN:
        options->without_children = letter == OPTION_NO_CHILDREN;
        return NULL;
    default:
        options->is_quiet = true;
        return NULL;
    }
}

static const char *name_of(int letter)
{
    for (const struct option *option = known; option->name != NULL; option++)
        if (option->val == letter)
            return option->name;
    return "";
}

enum command_status record_options_parse(const struct command_call *call, const char *command,
                                         struct record_options *options_out)
{
    char **arguments = calloc((size_t)call->argument_count + 2, sizeof(*arguments));
    int count = call->argument_count + 1, letter;

    *options_out = (struct record_options){
        .output = "./traces",
        .events = GAIT_EVENT_CALL | GAIT_EVENT_RET,
        .overflow = -1,
        .words = arguments,
    };
    if (arguments == NULL) {
        (void)error_set(call->error, ENOMEM, "%s: no memory", command);
        return COMMAND_FAILED;
    }
    /* getopt wants the program's name first. */
    arguments[0] = call->arguments[0];
    for (int i = 0; i < call->argument_count; i++)
        arguments[i + 1] = call->arguments[i];
    optind = 0;
    opterr = 0;
    while ((letter = getopt_long(count, arguments, "+:o:", known, NULL)) != -1) {
        const char *wanted, *given = arguments[optind - 1];

        if (letter == '?' || letter == ':') {
            (void)error_set(call->error, EINVAL, "%s: %s %s; see gait help %s", command, given,
                            letter == ':' ? "needs a value" : "is no option", command);
            return COMMAND_MISUSED;
        }
        wanted = take_option(letter, optarg, options_out);
        if (wanted != NULL) {
            (void)error_set(call->error, EINVAL, "%s: --%s is %s; it should be %s", command, name_of(letter), optarg,
                            wanted);
            return COMMAND_MISUSED;
        }
    }
    options_out->rest = arguments + optind;
    options_out->rest_count = count - optind;
    return COMMAND_DONE;
}
