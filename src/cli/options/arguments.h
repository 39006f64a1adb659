/* SPDX-License-Identifier: MIT */
/*
 * Reading a command's arguments: --name, --name value, --name=value, and the others in their order; behind -- nothing
 * is an option. Stateless; callable from anywhere.
 */
#ifndef GAIT_CLI_OPTIONS_ARGUMENTS_H
#define GAIT_CLI_OPTIONS_ARGUMENTS_H

#include "cli/command.h"

#include <stddef.h>

/* For argument_option.values: a number from 1 on follows, and is the result. */
#define ARGUMENT_NUMBER "NUMBER"
/* The same: any text follows, and is the option's text. */
#define ARGUMENT_TEXT "TEXT"

/* The same: any text follows, and is added to a struct argument_texts. Such an option can be given several times. */
#define ARGUMENT_TEXTS     "TEXTS"

#define ARGUMENT_TEXTS_MAX 16

struct argument_texts {
    const char *texts[ARGUMENT_TEXTS_MAX]; /* they point into the arguments */
    size_t count;
};

struct argument_option {
    const char *name;   /* without the dashes */
    const char *values; /* what may follow: "one|of|these", "some,of,these", one of the above, or NULL: nothing does */
    void *result;       /* an int that is set to the number of the value, to a bit for each number, or to 1; of
                           ARGUMENT_TEXT a const char *, which points into the arguments; of ARGUMENT_TEXTS such a struct */
};

struct argument_rules {
    const char *command; /* whose help to point to */
    const struct argument_option *options;
    size_t option_count;
    const char *const *names; /* of the arguments that are no options: all are required, but TRACE, if it is the first,
                                 is the last trace where it is missing */
    size_t name_count;
};

/*
 * Reads the call's arguments. values_out gets one text for each name; they point into the arguments. COMMAND_DONE, or
 * COMMAND_MISUSED with the error filled in.
 */
enum command_status arguments_parse(const struct command_call *call, const struct argument_rules *rules,
                                    const char **values_out);

/* The same where more arguments may follow those with names: values_out has room for `capacity` in all. */
enum command_status arguments_parse_more(const struct command_call *call, const struct argument_rules *rules,
                                         const char **values_out, size_t capacity, size_t *count_out);

#endif
