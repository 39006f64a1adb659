/* SPDX-License-Identifier: MIT */
/*
 * Reading a command's arguments: --name, --name value, --name=value, and the others in their order; behind -- nothing
 * is an option. Stateless; callable from anywhere.
 */
#ifndef GAIT_CLI_ARGUMENTS_H
#define GAIT_CLI_ARGUMENTS_H

#include "cli/command.h"

#include <stddef.h>

/* For argument_option.values: a number from 1 on follows, and is the result. */
#define ARGUMENT_NUMBER "NUMBER"
/* For the same: any text follows, and is the option's text. */
#define ARGUMENT_TEXT "TEXT"

struct argument_option {
    const char *name; /* without the dashes */
    const char *
        values; /* what may follow: "one|of|these", "some,of,these", ARGUMENT_NUMBER, ARGUMENT_TEXT, or NULL: nothing */
    void *result; /* an int, set to the number of the value, to a bit for each number, or to 1; or, of
                     ARGUMENT_TEXT, a const char *, which points into the arguments */
};

struct argument_rules {
    const char *command; /* whose help to point to */
    const struct argument_option *options;
    size_t option_count;
    const char *const *names; /* of the arguments that are no options: all are required */
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
