/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "source/system_call_set.h"
#include "source/system_call_source.h"

#include "support/check.h"

#include <errno.h>
#include <sys/wait.h>

static unsigned calls, exits;
static int last_status;
static uint64_t last_time_ns;
static char opened[64];

static void hear(void *context, const struct system_call_event *event)
{
    const struct system_call *known = system_call_by_number(event->number);

    (void)context;
    if (event->kind == SYSTEM_CALL_EXITED) {
        exits++;
        last_status = event->status;
        return;
    }
    CHECK_EQUAL(event->kind, SYSTEM_CALL_LEFT);
    CHECK(event->pid == event->tid && event->pid > 0);
    /* In the order of time. */
    CHECK(event->time_ns >= last_time_ns && event->entered_ns <= event->time_ns);
    last_time_ns = event->time_ns;
    if (strcmp(known->name, "openat") == 0)
        (void)event->memory->read(event->memory->context, event->arguments[1], opened, sizeof(opened) - 1);
    calls++;
}

static struct system_call_request request_of(char *const *program, const struct system_call_set *set)
{
    return (struct system_call_request){.program = program, .follows = true, .set = set, .hear = hear};
}

static void a_program_is_told_to_its_end(void)
{
    char *const program[] = {"/bin/cat", "/etc/passwd", NULL};
    const struct system_call_source *source = system_call_source_find("inside");
    struct system_call_set_fault fault;
    struct system_call_set set;
    struct system_call_request request = request_of(program, &set);
    struct gait_error err;
    int status = -1;

    CHECK(source != NULL && source == system_call_source_at(0));
    CHECK_EQUAL(system_call_set_parse("openat,close", &set, &fault), 0);
    CHECK_EQUAL(source->run(&request, &status, &err), 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQUAL(exits, 1);
    CHECK_EQUAL(last_status, status);
    CHECK(calls >= 4);
    CHECK_TEXT(opened, "/etc/passwd");
}

static void what_cannot_be_done_is_refused(void)
{
    static const struct injections one = {.count = 1};
    char *const program[] = {"/nowhere/at all", NULL};
    const struct system_call_source *source = system_call_source_find("inside");
    struct system_call_set set;
    struct system_call_request request = request_of(program, &set);
    struct gait_error err;
    const int pids[] = {1, 2};
    int status;

    system_call_set_fill(&set);
    CHECK(source->run(&request, &status, &err) != 0);
    request.injections = &one;
    CHECK_EQUAL(source->run(&request, &status, &err), -EOPNOTSUPP);
    CHECK(strstr(err.text, "--via ptrace") != NULL);
    request.injections = NULL;
    request.program = NULL;
    request.pids = pids;
    request.pid_count = 2;
    CHECK_EQUAL(source->run(&request, &status, &err), -EOPNOTSUPP);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_is_told_to_its_end),
    CHECK_CASE(what_cannot_be_done_is_refused),
};

CHECK_MAIN(cases)
