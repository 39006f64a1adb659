/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "syscalls/system_call_source.h"

#include "support/heard_calls.h"

static struct gait_error err;

static void calls_of_a_program_begin_with_its_execution(void)
{
    heard_calls_check_beginning("kernel");
}

static void children_are_followed_if_asked_for(void)
{
    (void)heard_calls_check_children("kernel");
}

static void ends_by_signals_are_passed_on(void)
{
    (void)heard_calls_check_signals("kernel");
}

static void calls_cannot_be_changed(void)
{
    char *const program[] = {"/bin/true", NULL};
    struct system_call_set set = {0};
    struct injections injections = {.count = 1};
    int status;
    const struct system_call_request request = {
        .program = program, .set = &set, .injections = &injections, .hear = heard_calls_note};

    CHECK_EQUAL(system_call_source_find("kernel")->run(&request, &status, &err), -EOPNOTSUPP);
    CHECK_EQUAL(strstr(err.text, "--via ptrace") != NULL, 1);
}

static void processes_that_are_not_there_are_refused(void)
{
    heard_calls_check_absent("kernel", &err);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_a_program_begin_with_its_execution),
    CHECK_CASE(children_are_followed_if_asked_for),
    CHECK_CASE(ends_by_signals_are_passed_on),
    CHECK_CASE(calls_cannot_be_changed),
    CHECK_CASE(processes_that_are_not_there_are_refused),
};

CHECK_MAIN(cases)
