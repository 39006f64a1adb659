/* SPDX-License-Identifier: MIT */
/*
 * What is said of a word that looks like an option and is none: the same words for all commands, with the option that is
 * nearest. Stateless; callable from anywhere.
 */
#ifndef GAIT_CLI_OPTIONS_UNKNOWN_OPTION_H
#define GAIT_CLI_OPTIONS_UNKNOWN_OPTION_H

#include "gait/error.h"

struct nearest_names;
struct option; /* of getopt.h */

/* Begins a search for what `word` should have been: "--hok", "--hok=value". */
void unknown_option_begin(struct nearest_names *nearest, const char *word);

/* Says what is wrong, and what was found. Returns -EINVAL. */
int unknown_option_refuse(const struct nearest_names *nearest, const char *command, const char *word,
                          struct gait_error *err);

/* All of it where the options are those of getopt_long, ended by one without a name. Behind getopt_long, optind - 1 is the
 * number of the word. */
int unknown_option_of(const struct option *options, const char *command, const char *word, struct gait_error *err);

#endif
