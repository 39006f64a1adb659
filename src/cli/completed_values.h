/* SPDX-License-Identifier: MIT */
/* What may stand behind an option, or in the place of an argument, for the completion of shells. Nothing is an error.
 */
#ifndef GAIT_CLI_COMPLETED_VALUES_H
#define GAIT_CLI_COMPLETED_VALUES_H

#include <stdbool.h>

struct screen;

/* A command line as far as it is typed. */
struct completed_line {
    const char *command; /* its name */
    int word_count;      /* behind the name, before the last one */
    char *const *words;
    const char *part; /* the beginning of the last word */
};

/* Whether a value follows the option in this command that is known; then prints, a line each, those that go on. */
bool completed_values_put_option(struct screen *screen, const struct completed_line *line, const char *option,
                                 const char *part);

/* The same for what stands where no option is: traces, processes, places, functions of a file. */
void completed_values_put_argument(struct screen *screen, const struct completed_line *line);

#endif
