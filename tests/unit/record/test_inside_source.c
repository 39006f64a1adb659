/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "syscalls/system_call_set.h"
#include "syscalls/system_call_source.h"

#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned calls, exits;
static int last_status;
static uint64_t last_time_ns;
static char opened[64];

static void hear(void *context, const struct system_call_event *event)
{
    const struct system_call_signature *known = system_call_by_number(event->number);

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
    static const struct injections signal_only = {.count = 1, .all = {{.signal = SIGUSR1}}};
    char *const program[] = {"/nowhere/at all", NULL};
    const struct system_call_source *source = system_call_source_find("inside");
    struct system_call_set set;
    struct system_call_request request = request_of(program, &set);
    struct gait_error err;
    int status;

    system_call_set_fill(&set);
    CHECK(source->run(&request, &status, &err) != 0);
    request.injections = &signal_only;
    CHECK_EQUAL(source->run(&request, &status, &err), -EOPNOTSUPP);
    CHECK(strstr(err.text, "--via ptrace") != NULL);
}

/* The one that is there is left as it was. */
static void of_several_processes_each_has_to_be_there(void)
{
    const struct system_call_source *source = system_call_source_find("inside");
    struct system_call_set set;
    struct system_call_request request = request_of(NULL, &set);
    int pids[] = {fork(), 0x3ffffff}, status;
    struct gait_error err;

    if (pids[0] == 0)
        for (;;)
            pause();
    system_call_set_fill(&set);
    request.pids = pids;
    request.pid_count = 2;
    CHECK_EQUAL(source->run(&request, &status, &err), -ESRCH);
    CHECK_EQUAL(kill(pids[0], SIGKILL), 0);
    CHECK_EQUAL(waitpid(pids[0], &status, 0), pids[0]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void calls_can_be_answered(void)
{
    static struct injections injections = {
        .count = 1, .all = {{.has_result = true, .result = -EACCES, .first = 1, .last = 1, .step = 1}}};
    char *const program[] = {"/bin/sh", "-c", "cd / || cd / && exit 5", NULL};
    struct system_call_set set = {.has_others = false};
    struct system_call_request request = request_of(program, &set);
    struct gait_error err;
    int status;

    injections.all[0].set.bits[SYS_chdir / 64] = 1ull << SYS_chdir % 64;
    request.injections = &injections;
    CHECK_EQUAL(system_call_source_find("inside")->run(&request, &status, &err), 0);
    CHECK_EQUAL(WEXITSTATUS(status), 5);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_is_told_to_its_end),
    CHECK_CASE(what_cannot_be_done_is_refused),
    CHECK_CASE(of_several_processes_each_has_to_be_there),
    CHECK_CASE(calls_can_be_answered),
};

CHECK_MAIN(cases)
