/* SPDX-License-Identifier: MIT */
/*
 * The patterns stand in the order triggers, details, declared ones, stacks, threads, hooks, probes, what is excluded;
 * then those that are implied: where errno is, if a call needs it, and libc by default.
 */
#define _GNU_SOURCE
#include "cli/options/record_patterns.h"

#include "cli/options/arg_spec.h"
#include "cli/options/option_values.h"
#include "cli/options/probe_option.h"
#include "cli/options/record_options.h"
#include "protocol/agent_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is libc: the C library, and the loader that comes with it; those of older systems have their version's number.
 */
static const char *const libc_modules[] = {"libc.so*",  "libc-2.*", "libpthread-2.*", "libc.musl*",
                                           "ld-linux*", "ld-2.*",   "ld-musl*"};

#define LIBC_MODULE_COUNT (sizeof(libc_modules) / sizeof(libc_modules[0]))

/* What tells where errno is: in each libc, or in a program that has its own. */
static const char *const errno_functions[] = {"libc.so*!__errno_location", "libc-2.*!__errno_location",
                                              "libc.musl*!__errno_location", "ld-musl*!__errno_location",
                                              "__errno_location"};

#define ERRNO_FUNCTION_COUNT (sizeof(errno_functions) / sizeof(errno_functions[0]))

/* Of one that options were parsed with. */
static struct arg_spec spec_of(const char *text)
{
    struct arg_spec_error error;
    struct arg_spec spec = {.pattern = ""};

    (void)arg_spec_parse(text, &spec, &error);
    return spec;
}

static bool wants_errno(const struct record_options *options)
{
    for (size_t i = 0; i < options->args.count; i++)
        if (spec_of(options->args.texts[i]).declaration.has_errno)
            return true;
    return false;
}

/* Whoever says what to record means it. */
static size_t libc_count(const struct record_options *options)
{
    return options->has_events || options->hooks.count != 0 || options->is_hooked ? 0 : LIBC_MODULE_COUNT;
}

/* Of those that nobody gave. */
static size_t count_own(const struct record_options *options)
{
    return (wants_errno(options) ? ERRNO_FUNCTION_COUNT : 0) + libc_count(options);
}

size_t record_patterns_count(const struct record_options *options)
{
    size_t count = options->excludes.count + options->details.count + options->args.count + options->stacks.count +
                   options->threads.count + options->hooks.count + options->probes.count + count_own(options);

    for (size_t i = 0; i < options->trigger_count; i++)
        count += options->triggers[i].pattern[0] != '\0';
    return count;
}

static struct agent_pattern *add_pattern(struct agent_options *agent, enum agent_pattern_use use, const char *text)
{
    struct agent_pattern *pattern = &agent->patterns[agent->pattern_count++];

    *pattern = (struct agent_pattern){.use = use};
    memcpy(pattern->text, text, strlen(text));
    return pattern;
}

/* What a thread is called by its own process, which may be in another pid namespace; else the same. */
static uint32_t inner_tid(unsigned long tid)
{
    char path[64], line[256];
    unsigned long inner = tid;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%lu/status", tid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        const char *last = strrchr(line, '\t');

        if (strncmp(line, "NSpid:", 6) == 0 && last != NULL)
            inner = strtoul(last, NULL, 10);
    }
    if (file != NULL)
        fclose(file);
    return (uint32_t)inner;
}

static void add_threads(const struct option_list *threads, struct agent_options *agent)
{
    unsigned long tid;

    for (size_t i = 0; i < threads->count; i++) {
        struct agent_pattern *pattern = add_pattern(agent, AGENT_PATTERN_THREAD, threads->texts[i]);

        if (option_read_number(threads->texts[i], INT32_MAX, &tid))
            pattern->number = inner_tid(tid);
    }
}

static void add_args(const struct option_list *args, struct agent_options *agent)
{
    for (size_t i = 0; i < args->count; i++) {
        const struct arg_spec spec = spec_of(args->texts[i]);

        add_pattern(agent, AGENT_PATTERN_DETAIL, spec.pattern)->declaration = spec.declaration;
    }
}

static void add_probes(const struct option_list *probes, struct agent_options *agent)
{
    for (size_t i = 0; i < probes->count; i++) {
        struct probe_option option;
        struct gait_error err;

        if (probe_option_read(probes->texts[i], &option, &err) != 0)
            continue;
        add_pattern(agent, AGENT_PATTERN_PROBE, option.pattern)->declaration = option.declaration;
        probe_option_deinit(&option);
    }
}

/* Where nobody says what to hook, functions that are looked at closely are recorded as well. */
static void mark_recorded(const struct record_options *options, struct agent_options *agent)
{
    if (!options->is_hooked || options->hooks.count != 0)
        return;
    for (uint32_t i = 0; i < agent->pattern_count; i++)
        agent->patterns[i].is_recorded =
            agent->patterns[i].use == AGENT_PATTERN_DETAIL || agent->patterns[i].use == AGENT_PATTERN_STACK;
}

void record_patterns_get(const struct record_options *options, struct agent_options *agent)
{
    agent->pattern_count = 0;
    for (size_t i = 0; i < options->trigger_count; i++) {
        const struct trigger_spec *trigger = &options->triggers[i];
        struct agent_pattern *pattern;

        if (trigger->pattern[0] == '\0')
            continue;
        pattern = add_pattern(
            agent, trigger->kind == TRIGGER_SPEC_SLOW ? AGENT_PATTERN_TRIGGER_SLOW : AGENT_PATTERN_TRIGGER_CALL,
            trigger->pattern);
        pattern->number = (uint32_t)i;
        pattern->value = trigger->nanoseconds;
    }
    for (size_t i = 0; i < options->details.count; i++)
        add_pattern(agent, AGENT_PATTERN_DETAIL, options->details.texts[i])->number = (uint32_t)i;
    add_args(&options->args, agent);
    for (size_t i = 0; i < options->stacks.count; i++)
        add_pattern(agent, AGENT_PATTERN_STACK, options->stacks.texts[i]);
    add_threads(&options->threads, agent);
    for (size_t i = 0; i < options->hooks.count; i++)
        add_pattern(agent, AGENT_PATTERN_HOOK, options->hooks.texts[i]);
    add_probes(&options->probes, agent);
    for (size_t i = 0; i < options->excludes.count; i++)
        add_pattern(agent, AGENT_PATTERN_EXCLUDE, options->excludes.texts[i]);
    for (size_t i = 0; wants_errno(options) && i < ERRNO_FUNCTION_COUNT; i++)
        add_pattern(agent, AGENT_PATTERN_ERRNO, errno_functions[i]);
    for (size_t i = 0; i < libc_count(options); i++)
        add_pattern(agent, AGENT_PATTERN_EXCLUDE, libc_modules[i]);
    mark_recorded(options, agent);
}

/* All of them, until they are asked for again. */
static const struct agent_options *patterns_of(const struct record_options *options)
{
    static struct agent_options agent; /* large */

    record_patterns_get(options, &agent);
    return &agent;
}

uint64_t record_patterns_asked(const struct record_options *options)
{
    const struct agent_options *agent = patterns_of(options);
    uint64_t asked = 0;

    for (uint32_t i = 0; i < agent->pattern_count; i++) {
        uint32_t use = agent->patterns[i].use;

        if (use != AGENT_PATTERN_EXCLUDE && use != AGENT_PATTERN_THREAD && use != AGENT_PATTERN_ERRNO)
            asked |= 1ull << i;
    }
    return asked;
}

const char *record_pattern_option(const struct agent_pattern *pattern)
{
    switch (pattern->use) {
    case AGENT_PATTERN_EXCLUDE:
        return "--exclude";
    case AGENT_PATTERN_DETAIL:
        return pattern->declaration.is_given ? "--arg" : "--detail";
    case AGENT_PATTERN_STACK:
        return "--stack";
    case AGENT_PATTERN_THREAD:
        return "--follow-thread";
    case AGENT_PATTERN_HOOK:
        return "--hook";
    case AGENT_PATTERN_PROBE:
        return "--probe";
    default:
        return "--trigger";
    }
}

void record_patterns_report_unmatched(const struct record_options *options, uint64_t matched,
                                      void (*report)(void *context, const char *text), void *context)
{
    size_t count = record_patterns_count(options) - count_own(options);
    const struct agent_options *agent = patterns_of(options);
    char text[300];

    for (size_t i = 0; i < count; i++) {
        const struct agent_pattern *pattern = &agent->patterns[i];

        if (matched & 1ull << i)
            continue;
        if (pattern->use == AGENT_PATTERN_HOOK && options->hooks_all) {
            report(context,
                   "no functions were found in the program to hook; --follow call,ret records calls of any code");
            continue;
        }
        snprintf(text, sizeof(text), "nothing was found that %s %s means%s", record_pattern_option(pattern),
                 pattern->text,
                 pattern->use == AGENT_PATTERN_THREAD    ? ""
                 : pattern->use == AGENT_PATTERN_EXCLUDE ? ": modules are MODULE, functions MODULE!FUNCTION"
                                                         : "");
        report(context, text);
    }
}

void record_patterns_report_unresolved(const struct record_options *options, uint64_t unresolved,
                                       void (*report)(void *context, const char *text), void *context)
{
    const struct agent_options *agent = patterns_of(options);
    char text[400];

    for (; unresolved != 0; unresolved &= unresolved - 1) {
        unsigned which = (unsigned)__builtin_ctzll(unresolved);
        const struct agent_pattern *pattern = &agent->patterns[which];

        if (which >= agent->pattern_count)
            return;
        snprintf(text, sizeof(text), "%s %s means an indirect function: %s", record_pattern_option(pattern),
                 pattern->text,
                 options->is_hooked
                     ? "which of several it is was not chosen, or not known, while the recording lasted"
                     : "which of several it is was chosen before the recording began, or not at all; gait spawn sees "
                       "it when it is");
        report(context, text);
    }
}
