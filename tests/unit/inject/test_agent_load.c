/* SPDX-License-Identifier: MIT */
/* The agent in programs that nobody here wrote: they do what they would, and their events can be read. */
#define _GNU_SOURCE
#include "inject/agent_load.h"

#include "inject/spawn.h"
#include "protocol/agent_call.h"
#include "ring/ring_events.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static struct gait_error err;
static struct tracee tracee;
static struct remote_agent agent;
static struct agent_call call;
static uint64_t calls, returns;

static int count(void *context, const struct gait_event *events, size_t event_count)
{
    (void)context;
    for (size_t i = 0; i < event_count; i++) {
        calls += events[i].kind == GAIT_EVENT_CALL;
        returns += events[i].kind == GAIT_EVENT_RET;
    }
    return 0;
}

static const struct event_receiver receiver = {count, NULL};

/* Takes the ring out of the program's hands. */
static struct ring_events *open_ring(void)
{
    struct ring_events *reader = NULL;
    int process = (int)syscall(SYS_pidfd_open, tracee.pid, 0);
    int fd = (int)syscall(SYS_pidfd_getfd, process, call.ring_fd, 0);

    CHECK_EQUAL(ring_events_open(fd, &reader), 0);
    close(fd);
    close(process);
    return reader;
}

/* Follows the program from its first instruction to its end; its output goes to `output`. Returns its status. */
static int run(char *const arguments[], uint32_t events, char *output, size_t output_bytes)
{
    int saved = dup(STDOUT_FILENO), file = memfd_create("output", MFD_CLOEXEC), status = 0;
    struct ring_events *reader;
    ssize_t got;

    calls = returns = 0;
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    memset(&call, 0, sizeof(call));
    call.operation = AGENT_BEGIN;
    call.options = (struct agent_options){.events = events, .new_threads = 1, .overflow = RING_BLOCK};
    CHECK_EQUAL(remote_agent_call(&tracee, &agent, &call), 0);
    CHECK_EQUAL(call.result, 0);
    CHECK_EQUAL(call.followed_count, 1);
    reader = open_ring();
    tracee_detach(&tracee);
    while (waitpid(tracee.pid, &status, WNOHANG) == 0) {
        CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
        ring_reader_wait(reader->reader, 5);
    }
    CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
    CHECK_EQUAL(ring_reader_lost(reader->reader), 0);
    ring_events_close(reader);
    got = pread(file, output, output_bytes - 1, 0);
    output[got < 0 ? 0 : got] = '\0';
    close(file);
    return status;
}

static void programs_run_as_they_would(void)
{
    char *echo[] = {"/bin/echo", "hello", NULL}, *fail[] = {"/bin/sh", "-c", "exit 9", NULL};
    char *pipe[] = {"/bin/sh", "-c", "seq 1 1000 | sort -n | tail -n 1; kill -TERM $$", NULL};
    char output[64];

    CHECK_EQUAL(run(echo, 0, output, sizeof(output)), 0);
    CHECK_TEXT(output, "hello\n");
    CHECK_EQUAL(WEXITSTATUS(run(fail, GAIT_EVENT_BLOCK, output, sizeof(output))), 9);
    CHECK_EQUAL(WTERMSIG(run(pipe, GAIT_EVENT_CALL | GAIT_EVENT_RET, output, sizeof(output))), SIGTERM);
    CHECK_TEXT(output, "1000\n");
}

static void they_are_seen_from_their_first_instruction_on(void)
{
    char *arguments[] = {"/bin/true", NULL};
    char output[64];

    CHECK_EQUAL(run(arguments, GAIT_EVENT_CALL | GAIT_EVENT_RET, output, sizeof(output)), 0);
    /* The dynamic loader alone calls more than that. */
    CHECK(calls > 500);
    CHECK(returns > 400 && returns <= calls);
}

static void the_same_program_makes_the_same_calls(void)
{
    char *arguments[] = {"/bin/true", NULL};
    char output[64];
    uint64_t first;

    CHECK_EQUAL(run(arguments, GAIT_EVENT_CALL, output, sizeof(output)), 0);
    first = calls;
    CHECK_EQUAL(run(arguments, GAIT_EVENT_CALL, output, sizeof(output)), 0);
    /* But for what depends on the environment's place and on time. */
    CHECK(calls > first - first / 20 && calls < first + first / 20);
}

static void an_agent_that_has_no_session_can_be_taken_out(void)
{
    char *arguments[] = {"/bin/true", NULL};
    char line[256], path[64];
    int status, lines = 0;
    FILE *maps;

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    CHECK_EQUAL(agent_unload(&tracee, &agent, &err), 0);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracee.pid);
    maps = fopen(path, "re");
    while (fgets(line, sizeof(line), maps) != NULL) {
        uint64_t start = strtoull(line, NULL, 16);

        lines++;
        CHECK(start < agent.start || start >= agent.start + agent.size_bytes);
    }
    fclose(maps);
    CHECK(lines > 3);
    tracee_detach(&tracee);
    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    CHECK_EQUAL(status, 0);
}

static void an_agent_is_found_where_it_is(void)
{
    char *arguments[] = {"/bin/true", NULL};
    struct remote_agent found = {.start = 0};
    uint64_t changed;

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(agent_load_find(tracee.pid, &found), -ENOENT);
    CHECK_EQUAL(found.start, 0);
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    CHECK_EQUAL(agent_load_find(tracee.pid, &found), 0);
    CHECK_EQUAL(found.start, agent.start);
    CHECK_EQUAL(found.size_bytes, agent.size_bytes);
    CHECK_EQUAL(found.call, agent.call);
    CHECK_EQUAL(found.main, agent.main);
    /* Another build has other code there. */
    CHECK_EQUAL(process_memory_read(tracee.pid, agent.main, &changed, sizeof(changed)), 0);
    changed ^= 1;
    CHECK_EQUAL(process_memory_write(tracee.pid, agent.main, &changed, sizeof(changed)), 0);
    CHECK_EQUAL(agent_load_find(tracee.pid, &found), -ENOENT);
    spawn_abandon(&tracee, 0);
}

static void what_the_agent_does_not_know_is_refused(void)
{
    char *arguments[] = {"/bin/true", NULL};
    int status;

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    memset(&call, 0, sizeof(call));
    call.operation = 77;
    CHECK_EQUAL(remote_agent_call(&tracee, &agent, &call), 0);
    CHECK_EQUAL(call.result, -EINVAL);
    tracee_detach(&tracee);
    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    CHECK_EQUAL(status, 0);
}

/* Starts it in one call. */
static void start(char *const arguments[], uint32_t events)
{
    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK(remote_agent_can_start(&tracee));
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    memset(&call, 0, sizeof(call));
    call.operation = AGENT_START;
    call.has_file_fd = agent.file_fd >= 0;
    call.file_fd = agent.file_fd;
    call.options = (struct agent_options){.events = events, .new_threads = 1, .overflow = RING_BLOCK, .is_whole = 1};
    CHECK_EQUAL(remote_agent_start(&tracee, &agent, &call), 0);
}

/* A shell that tells how many files it has open. */
static char *files_program[] = {"/bin/sh", "-c", "set -- /proc/self/fd/*; exit $#", NULL};

/* With one for the folder that is listed, and those of this test. */
static int files_here(void)
{
    int status = system("set -- /proc/self/fd/*; exit $#");

    return WEXITSTATUS(status);
}

static void a_program_starts_in_one_call(void)
{
    struct ring_events *reader;
    int status;

    calls = 0;
    start(files_program, GAIT_EVENT_CALL);
    CHECK_EQUAL(call.result, 0);
    CHECK_EQUAL(call.followed_count, 1);
    reader = open_ring();
    CHECK_EQUAL(remote_agent_let_start(&tracee, &agent), 0);
    tracee_detach(&tracee);
    while (waitpid(tracee.pid, &status, WNOHANG) == 0) {
        CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
        ring_reader_wait(reader->reader, 5);
    }
    CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
    ring_events_close(reader);
    CHECK(calls > 500);
    CHECK_EQUAL(WEXITSTATUS(status), files_here());
}

/* As it is when the controller dies before it has the ring: nobody would read what the program writes. */
static void a_program_whose_ring_nobody_takes_runs_by_itself(void)
{
    struct ring_events *reader;
    int status;

    calls = 0;
    start(files_program, GAIT_EVENT_CALL);
    reader = open_ring();
    tracee_detach(&tracee);
    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    CHECK_EQUAL(WEXITSTATUS(status), files_here());
    CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
    ring_events_close(reader);
    CHECK(calls < 50);
}

static void a_start_that_fails_leaves_the_thread_where_it_was(void)
{
    char *arguments[] = {"/bin/sh", "-c", "exit 5", NULL};
    struct thread_registers before, after;
    uint64_t mask;
    int status;

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(tracee_get_registers(&tracee, &before), 0);
    CHECK_EQUAL(agent_load(&tracee, &agent, &err), 0);
    memset(&call, 0, sizeof(call));
    call.operation = AGENT_START;
    /* More than there is room for. */
    call.options = (struct agent_options){.buffer_bytes = 1ull << 50, .buffer_count = 64};
    CHECK_EQUAL(remote_agent_start(&tracee, &agent, &call), 0);
    CHECK(call.result < 0);
    CHECK_EQUAL(tracee_get_registers(&tracee, &after), 0);
    CHECK_EQUAL(thread_registers_pc(&after), thread_registers_pc(&before));
    CHECK_EQUAL(thread_registers_sp(&after), thread_registers_sp(&before));
    CHECK_EQUAL(tracee_get_mask(&tracee, &mask), 0);
    CHECK_EQUAL(mask, 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    CHECK_EQUAL(WEXITSTATUS(status), 5);
}

static void a_program_that_blocks_the_signal_is_started_otherwise(void)
{
    char *arguments[] = {"/bin/true", NULL};
    sigset_t blocked, before;

    sigemptyset(&blocked);
    sigaddset(&blocked, AGENT_START_SIGNAL);
    CHECK_EQUAL(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    CHECK_EQUAL(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    CHECK(!remote_agent_can_start(&tracee));
    spawn_abandon(&tracee, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_starts_in_one_call),
    CHECK_CASE(a_program_whose_ring_nobody_takes_runs_by_itself),
    CHECK_CASE(a_start_that_fails_leaves_the_thread_where_it_was),
    CHECK_CASE(a_program_that_blocks_the_signal_is_started_otherwise),
    CHECK_CASE(programs_run_as_they_would),
    CHECK_CASE(they_are_seen_from_their_first_instruction_on),
    CHECK_CASE(the_same_program_makes_the_same_calls),
    CHECK_CASE(an_agent_that_has_no_session_can_be_taken_out),
    CHECK_CASE(an_agent_is_found_where_it_is),
    CHECK_CASE(what_the_agent_does_not_know_is_refused),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the agent follows threads on x86-64 only");
}

#endif
