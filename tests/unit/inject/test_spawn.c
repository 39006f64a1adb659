/* SPDX-License-Identifier: MIT */
/* Programs that are stopped before their first instruction, asked for system calls, and let go. */
#define _GNU_SOURCE
#include "inject/spawn.h"

#include "inject/remote.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

/* Starts a shell with a script. */
static void start(char *script)
{
    char *arguments[] = {"/bin/sh", "-c", script, NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
}

static int status_at_end(void)
{
    int status = -1;

    CHECK_EQUAL(waitpid(tracee.pid, &status, 0), tracee.pid);
    return status;
}

static void a_program_that_is_let_go_runs_as_it_would(void)
{
    start("exit 7");
    CHECK(tracee.is_stopped);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(status_at_end()), 7);
}

static void programs_are_found_in_the_path(void)
{
    char *arguments[] = {"true", NULL};

    CHECK_EQUAL(spawn_stopped(arguments, &tracee, &err), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(status_at_end(), 0);
}

static void what_cannot_be_executed_is_told(void)
{
    char *missing[] = {"/no/such/program", NULL}, *nowhere[] = {"no-such-program", NULL}, *folder[] = {"/", NULL};

    CHECK_EQUAL(spawn_stopped(missing, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start /no/such/program: there is no such program");
    CHECK_EQUAL(spawn_stopped(nowhere, &tracee, &err), -ENOENT);
    CHECK_TEXT(err.text, "cannot start no-such-program: there is no such program in PATH");
    CHECK_EQUAL(spawn_stopped(folder, &tracee, &err), -EACCES);
    /* No child is left. */
    CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static void system_calls_are_made_by_the_program(void)
{
    static const long nothing[6], strange[6] = {-1, -1, -1, -1, -1, -1};
    struct thread_registers before, after;
    uint64_t place = 0;
    long answer = 0;

    start("exit 3");
    CHECK_EQUAL(tracee_get_registers(&tracee, &before), 0);
    CHECK_EQUAL(remote_find_system_call(tracee.pid, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, place, SYS_getpid, nothing, &answer), 0);
    CHECK_EQUAL(answer, tracee.pid);
    CHECK_EQUAL(remote_system_call(&tracee, place, SYS_close, strange, &answer), 0);
    CHECK_EQUAL(answer, -EBADF);
    CHECK_EQUAL(tracee_get_registers(&tracee, &after), 0);
    CHECK(memcmp(&before, &after, thread_registers_size_bytes()) == 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(status_at_end()), 3);
}

static void signals_that_come_meanwhile_are_delivered_afterwards(void)
{
    static const long nothing[6];
    uint64_t place = 0;
    long answer = 0;

    start("exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, &place), 0);
    kill(tracee.pid, SIGUSR1);
    CHECK_EQUAL(remote_system_call(&tracee, place, SYS_getpid, nothing, &answer), 0);
    CHECK_EQUAL(answer, tracee.pid);
    tracee_detach(&tracee);
    CHECK_EQUAL(WTERMSIG(status_at_end()), SIGUSR1);
}

static void memory_is_read_and_written_whatever_its_access(void)
{
    const long arguments[6] = {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
    uint64_t place = 0;
    char text[6] = "";
    long answer = 0;

    start("exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, place, SYS_mmap, arguments, &answer), 0);
    CHECK_EQUAL(process_memory_write(tracee.pid, (uint64_t)answer, "hello", 6), 0);
    CHECK_EQUAL(process_memory_read(tracee.pid, (uint64_t)answer, text, 6), 0);
    CHECK_TEXT(text, "hello");
    CHECK_EQUAL(process_memory_read(tracee.pid, 16, text, 6), -EFAULT);
    CHECK_EQUAL(process_memory_write(tracee.pid, 16, text, 6), -EFAULT);
    tracee_detach(&tracee);
    CHECK_EQUAL(status_at_end(), 0);
}

static void a_program_that_is_killed_is_gone(void)
{
    static const long nothing[6];
    struct thread_registers registers;
    uint64_t place = 0;
    long answer;

    start("exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, &place), 0);
    kill(tracee.pid, SIGKILL);
    while (tracee_get_registers(&tracee, &registers) == 0)
        ;
    CHECK_EQUAL(remote_system_call(&tracee, place, SYS_getpid, nothing, &answer), -ESRCH);
    tracee_detach(&tracee);
    CHECK_EQUAL(WTERMSIG(status_at_end()), SIGKILL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_program_that_is_let_go_runs_as_it_would),
    CHECK_CASE(programs_are_found_in_the_path),
    CHECK_CASE(what_cannot_be_executed_is_told),
    CHECK_CASE(system_calls_are_made_by_the_program),
    CHECK_CASE(signals_that_come_meanwhile_are_delivered_afterwards),
    CHECK_CASE(memory_is_read_and_written_whatever_its_access),
    CHECK_CASE(a_program_that_is_killed_is_gone),
};

CHECK_MAIN(cases)
