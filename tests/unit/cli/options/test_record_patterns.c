/* SPDX-License-Identifier: MIT */
#include "cli/options/record_patterns.h"

#include "cli/options/record_options.h"
#include "gait/stalker.h"
#include "support/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct gait_error err;
static struct record_options options;

static enum command_status parse(char **words)
{
    struct command_call call = {.arguments = words, .error = &err};

    record_options_release(&options);
    while (call.arguments[call.argument_count] != NULL)
        call.argument_count++;
    return record_options_parse(&call, "spawn", &options);
}

#define PARSE(...) parse((char *[]){__VA_ARGS__, NULL})

/* Patterns that the agent gets. */
static struct agent_options agent;

static bool has_pattern(enum agent_pattern_use use, const char *text)
{
    for (uint32_t i = 0; i < agent.pattern_count; i++)
        if (agent.patterns[i].use == use && strcmp(agent.patterns[i].text, text) == 0)
            return true;
    return false;
}

static void the_agent_gets_patterns(void)
{
    CHECK_EQUAL(PARSE("--follow", "call", "--exclude", "libm*", "--detail", "parse", "--trigger", "manual", "--trigger",
                      "slow=query>50ms", "--trigger", "symbol=libc.so*!abort"),
                COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 4);
    CHECK(has_pattern(AGENT_PATTERN_EXCLUDE, "libm*") && has_pattern(AGENT_PATTERN_DETAIL, "parse"));
    CHECK(has_pattern(AGENT_PATTERN_TRIGGER_SLOW, "query") &&
          has_pattern(AGENT_PATTERN_TRIGGER_CALL, "libc.so*!abort"));
    CHECK_EQUAL(agent.patterns[0].number, 1);
    CHECK_EQUAL(agent.patterns[0].value, 50000000);
    CHECK_EQUAL(agent.patterns[1].number, 2);
}

static void declarations_and_stacks_are_patterns_too(void)
{
    const struct agent_pattern *open;

    CHECK_EQUAL(PARSE("--follow", "call", "--arg", "libc*!open:str,hex", "--stack", "parse*", "--detail", "other"),
                COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 3);
    CHECK(has_pattern(AGENT_PATTERN_DETAIL, "other") && has_pattern(AGENT_PATTERN_STACK, "parse*"));
    open = &agent.patterns[1];
    CHECK_TEXT(open->text, "libc*!open");
    CHECK(open->declaration.is_given && open->declaration.count == 2 && !agent.patterns[0].declaration.is_given);
    /* Who wants errno needs to know where it is. */
    CHECK_EQUAL(PARSE("--follow", "call", "--arg", "open:str->int!errno"), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK(has_pattern(AGENT_PATTERN_ERRNO, "libc.so*!__errno_location"));
    CHECK_EQUAL(agent.pattern_count, record_patterns_count(&options));
}

static void threads_are_names_and_numbers(void)
{
    char own[16];

    snprintf(own, sizeof(own), "%d", (int)getpid());
    CHECK_EQUAL(PARSE("--follow", "call", "--follow-thread", "worker*", "--follow-thread", own), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 2);
    CHECK(has_pattern(AGENT_PATTERN_THREAD, "worker*") && has_pattern(AGENT_PATTERN_THREAD, own));
    CHECK_EQUAL(agent.patterns[0].number, 0);
    CHECK_EQUAL(agent.patterns[1].number, getpid());
}

static void hooks_are_another_way_to_record(void)
{
    CHECK_EQUAL(PARSE("--hook", "*", "--hook", "libc.so*!malloc", "--exclude", "!main"), COMMAND_DONE);
    CHECK_EQUAL(options.events, GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);
    CHECK(options.with_times);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 3);
    CHECK(has_pattern(AGENT_PATTERN_HOOK, "*") && has_pattern(AGENT_PATTERN_HOOK, "libc.so*!malloc") &&
          has_pattern(AGENT_PATTERN_EXCLUDE, "!main"));
}

static void all_functions_of_the_program_are_hooked_if_nothing_is_said(void)
{
    CHECK_EQUAL(PARSE("--exclude", "!main", "--trigger", "every=1s"), COMMAND_DONE);
    CHECK_EQUAL(options.events, GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 2);
    CHECK(has_pattern(AGENT_PATTERN_HOOK, "*") && has_pattern(AGENT_PATTERN_EXCLUDE, "!main"));
    CHECK_EQUAL(PARSE("--detail", "main", "--trigger", "symbol=main"), COMMAND_DONE);
    CHECK_EQUAL(options.events, GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE);
    CHECK_EQUAL(options.hooks.count, 1);
    CHECK_EQUAL(PARSE("--trigger", "signal=SIGUSR1"), COMMAND_DONE);
    CHECK_EQUAL(options.events, GAIT_EVENT_CALL | GAIT_EVENT_RET);
    CHECK_EQUAL(options.hooks.count, 0);
}

static void what_is_looked_at_closely_is_all_that_is_hooked(void)
{
    CHECK_EQUAL(PARSE("--arg", "main:int", "--stack", "f", "--detail", "g"), COMMAND_DONE);
    CHECK(options.is_hooked);
    CHECK_EQUAL(options.hooks.count, 0);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 3);
    for (uint32_t i = 0; i < agent.pattern_count; i++)
        CHECK(agent.patterns[i].is_recorded);
    CHECK_EQUAL(PARSE("--arg", "main:int", "--hook", "f"), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 2);
    CHECK(!agent.patterns[0].is_recorded);
    CHECK_EQUAL(PARSE("--arg", "main:int", "--follow", "call"), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK(!agent.patterns[0].is_recorded);
}

static void what_asks_for_nothing_to_be_recorded_is_not_waited_for(void)
{
    CHECK_EQUAL(PARSE("--arg", "main:int->int!errno", "--hook", "f", "--exclude", "!g", "--trigger", "symbol=t"),
                COMMAND_DONE);
    /* The trigger, what is told of main, and f. */
    CHECK_EQUAL(record_patterns_asked(&options), 7);
    CHECK_EQUAL(PARSE("--follow", "call", "--follow-thread", "x"), COMMAND_DONE);
    CHECK_EQUAL(record_patterns_asked(&options), 0);
}

static void libc_is_left_out_unless_somebody_says_what_to_follow(void)
{
    CHECK_EQUAL(PARSE("--exclude", "libm*", "--follow-thread", "main"), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK(has_pattern(AGENT_PATTERN_EXCLUDE, "libc.so*") && has_pattern(AGENT_PATTERN_EXCLUDE, "ld-linux*") &&
          has_pattern(AGENT_PATTERN_EXCLUDE, "ld-musl*") && has_pattern(AGENT_PATTERN_EXCLUDE, "libm*"));
    CHECK_EQUAL(PARSE("--follow", "call,ret"), COMMAND_DONE);
    record_patterns_get(&options, &agent);
    CHECK_EQUAL(agent.pattern_count, 0);
}

/* ---- what matched nothing ---------------------------------------------------------------------------------------- */

static char told[1000];

static void tell(void *context, const char *text)
{
    size_t used = strlen(told);

    CHECK(context == &options);
    snprintf(told + used, sizeof(told) - used, "%s\n", text);
}

static void what_the_user_gave_and_nothing_matched_is_told(void)
{
    CHECK_EQUAL(PARSE("--exclude", "libx*", "--detail", "prase*", "--detail", "libz*!inflate", "--trigger",
                      "symbol=abort", "--follow-thread", "work*"),
                COMMAND_DONE);
    record_patterns_report_unmatched(&options, 0, tell, &options);
    CHECK_TEXT(told, "nothing was found that --trigger abort means\n"
                     "nothing was found that --detail prase* means\n"
                     "nothing was found that --detail libz*!inflate means\n"
                     "nothing was found that --follow-thread work* means\n"
                     "nothing was found that --exclude libx* means: modules are MODULE, functions MODULE!FUNCTION\n");
    told[0] = '\0';
    record_patterns_report_unmatched(&options, 0x1f, tell, &options);
    CHECK_TEXT(told, "");
    record_patterns_report_unmatched(&options, 0x1b, tell, &options);
    CHECK_TEXT(told, "nothing was found that --detail libz*!inflate means\n");
}

static void indirect_functions_are_called_so(void)
{
    CHECK_EQUAL(PARSE("--detail", "libc*!memcpy"), COMMAND_DONE);
    told[0] = '\0';
    record_patterns_report_unresolved(&options, 1, tell, &options);
    CHECK_TEXT(told, "--detail libc*!memcpy means an indirect function: which of several it is was not chosen, or not "
                     "known, while the recording lasted\n");
    CHECK_EQUAL(PARSE("--follow", "none", "--detail", "libc*!memcpy", "--detail", "f"), COMMAND_DONE);
    told[0] = '\0';
    record_patterns_report_unresolved(&options, 0, tell, &options);
    CHECK_TEXT(told, "");
    record_patterns_report_unresolved(&options, 1, tell, &options);
    CHECK_TEXT(told, "--detail libc*!memcpy means an indirect function: which of several it is was chosen before the "
                     "recording began, or not at all; gait spawn sees it when it is\n");
    /* Whatever a process says. */
    told[0] = '\0';
    record_patterns_report_unresolved(&options, 1ull << 63, tell, &options);
    CHECK_TEXT(told, "");
}

static const struct check_case cases[] = {
    CHECK_CASE(the_agent_gets_patterns),
    CHECK_CASE(declarations_and_stacks_are_patterns_too),
    CHECK_CASE(threads_are_names_and_numbers),
    CHECK_CASE(hooks_are_another_way_to_record),
    CHECK_CASE(all_functions_of_the_program_are_hooked_if_nothing_is_said),
    CHECK_CASE(what_is_looked_at_closely_is_all_that_is_hooked),
    CHECK_CASE(what_asks_for_nothing_to_be_recorded_is_not_waited_for),
    CHECK_CASE(libc_is_left_out_unless_somebody_says_what_to_follow),
    CHECK_CASE(indirect_functions_are_called_so),
    CHECK_CASE(what_the_user_gave_and_nothing_matched_is_told),
};

int main(void)
{
    int status = check_run(cases, sizeof(cases) / sizeof(cases[0]));

    record_options_release(&options);
    return status;
}
