/* SPDX-License-Identifier: MIT */
/*
 * Functions that --detail means and of which debug information says that they have strings or floats: those have to be
 * kept when they are called, so the agent gets them before. Numbers need not be: the registers are in each
 * record.
 */
#ifndef GAIT_CLI_KNOWN_FUNCTIONS_H
#define GAIT_CLI_KNOWN_FUNCTIONS_H

struct agent_options;
struct program_files;

/* Adds what is found in the files, for the patterns that the options have. Takes two seconds at most, or a bit more. */
void known_functions_gather(const struct program_files *files, struct agent_options *agent);

#endif
