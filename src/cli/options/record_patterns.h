/* SPDX-License-Identifier: MIT */
/* The patterns that options have for the agent: what is excluded, details, triggers and threads. */
#ifndef GAIT_CLI_OPTIONS_RECORD_PATTERNS_H
#define GAIT_CLI_OPTIONS_RECORD_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

struct agent_options;
struct agent_pattern;
struct record_options;

/* How many there are; at most AGENT_PATTERNS_MAX in options that were parsed. */
size_t record_patterns_count(const struct record_options *options);

/* Gives the agent all of them. The number of a trigger's is its index in the list of triggers. */
void record_patterns_get(const struct record_options *options, struct agent_options *agent);

/* The option that such a pattern was given by. */
const char *record_pattern_option(const struct agent_pattern *pattern);

/* Those that ask for something to be recorded, by the agent's order: a bit for each. */
uint64_t record_patterns_asked(const struct record_options *options);

/*
 * Tells, a sentence each, which of them nothing has matched: those that the user gave and whose bit, by the agent's
 * order, is not set.
 */
void record_patterns_report_unmatched(const struct record_options *options, uint64_t matched,
                                      void (*report)(void *context, const char *text), void *context);

/* Tells which of them mean functions that are chosen when a program starts, and that were not seen being chosen. */
void record_patterns_report_unresolved(const struct record_options *options, uint64_t unresolved,
                                       void (*report)(void *context, const char *text), void *context);

#endif
