/* SPDX-License-Identifier: MIT */
/*
 * What options of gait syscalls are followed by: the expressions of -e, which long options have too, precisions of
 * times, and words out of lists. All return COMMAND_MISUSED with the error filled in; `option` is what the text was
 * given to: "-e trace=". Stateless.
 */
#ifndef GAIT_CLI_OPTIONS_SYSCALLS_EXPRESSIONS_H
#define GAIT_CLI_OPTIONS_SYSCALLS_EXPRESSIONS_H

#include "cli/options/syscalls_options.h"

/* A value that an option cannot have, and why. Always COMMAND_MISUSED. */
enum command_status syscalls_value_refuse(const struct command_call *call, const char *option, const char *value,
                                          const char *why);

/* "trace=SET" and the like, or a set alone. */
enum command_status syscalls_expression_read(const struct command_call *call, struct syscalls_options *options,
                                             const char *text);

/* The same where the word before the = is a long option of that name. */
enum command_status syscalls_qualifier_read(const struct command_call *call, struct syscalls_options *options,
                                            const char *name, const char *text);

/* "[format:]time|unix|none,[precision:]s|ms|us|ns", in any order. */
enum command_status syscalls_timestamps_read(const struct command_call *call, struct syscalls_options *options,
                                             const char *text);

/* Digits behind the point, by "s", "ms", "us" or "ns". */
enum command_status syscalls_precision_read(const struct command_call *call, const char *option, const char *text,
                                            unsigned *digits_out);

/* A number from 0 to most. */
enum command_status syscalls_number_read(const struct command_call *call, const char *option, const char *text,
                                         unsigned most, unsigned *value_out);

/* Its place in "a|b|c"; 0 for the first. */
enum command_status syscalls_word_read(const struct command_call *call, const char *option, const char *text,
                                       const char *words, unsigned *place_out);

/* -q, -qq and -qqq. */
void syscalls_quiet_more(struct syscalls_options *options, unsigned count);

#endif
