/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/tracee.h"

#include "inject/remote.h"
#include "support/check.h"
#include "support/stopped_shell.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct tracee tracee;

static void signals_that_come_meanwhile_are_delivered_afterwards(void)
{
    static const long nothing[6];
    struct remote_place place = {0};
    long answer = 0;

    stopped_shell_start(&tracee, "exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &place), 0);
    kill(tracee.pid, SIGUSR1);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_getpid, nothing, &answer), 0);
    CHECK_EQUAL(answer, tracee.pid);
    tracee_detach(&tracee);
    CHECK_EQUAL(WTERMSIG(stopped_shell_end(&tracee)), SIGUSR1);
}

static char *volatile nowhere = (char *)16;

static void tell_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    _exit(signal == SIGSEGV && info->si_code == SEGV_MAPERR && info->si_addr == nowhere ? 5 : 6);
}

static void fault(void)
{
    (void)*(volatile char *)nowhere;
}

/* A fault that came while the thread was ours is no signal that anybody could send: the thread has it again. */
static void faults_are_what_they_were(void)
{
    struct sigaction action = {.sa_sigaction = tell_fault, .sa_flags = SA_SIGINFO};
    struct thread_registers registers;
    siginfo_t info;
    pid_t child = fork();

    if (child == 0) {
        sigaction(SIGSEGV, &action, NULL);
        raise(SIGSTOP);
        _exit(7);
    }
    CHECK_EQUAL(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_EQUAL(tracee_seize(&tracee, child, child), 0);
    CHECK_EQUAL(tracee_interrupt(&tracee), 0);
    CHECK_EQUAL(kill(child, SIGCONT), 0);
    CHECK_EQUAL(tracee_get_registers(&tracee, &registers), 0);
    thread_registers_take_restart(&registers);
    thread_registers_set_pc(&registers, (uintptr_t)fault);
    CHECK_EQUAL(tracee_set_registers(&tracee, &registers), 0);
    CHECK_EQUAL(tracee_resume(&tracee, TRACEE_EXEC, 0), 0);
    do
        CHECK_EQUAL(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    while (info.si_status != SIGSEGV && tracee_keep_signals(&tracee) == 0);
    CHECK_EQUAL(tracee_keep_signals(&tracee), 0);
    CHECK_EQUAL(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_EQUAL(tracee_keep_signals(&tracee), 0);
    /* Unless that is enough of it. */
    tracee.faults_left = 1;
    CHECK_EQUAL(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_EQUAL(tracee_keep_signals(&tracee), -EFAULT);
    CHECK_EQUAL(tracee_resume(&tracee, TRACEE_EXEC, 0), 0);
    CHECK_EQUAL(tracee_interrupt(&tracee), 0);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 5);
}

static void memory_is_read_and_written_whatever_its_access(void)
{
    const long arguments[6] = {0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0};
    struct remote_place place = {0};
    char text[6] = "";
    long answer = 0;

    stopped_shell_start(&tracee, "exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &place), 0);
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_mmap, arguments, &answer), 0);
    CHECK_EQUAL(process_memory_write(tracee.pid, (uint64_t)answer, "hello", 6), 0);
    CHECK_EQUAL(process_memory_read(tracee.pid, (uint64_t)answer, text, 6), 0);
    CHECK_TEXT(text, "hello");
    CHECK_EQUAL(process_memory_read(tracee.pid, 16, text, 6), -EFAULT);
    CHECK_EQUAL(process_memory_write(tracee.pid, 16, text, 6), -EFAULT);
    tracee_detach(&tracee);
    CHECK_EQUAL(stopped_shell_end(&tracee), 0);
}

static void a_program_that_is_killed_is_gone(void)
{
    static const long nothing[6];
    struct thread_registers registers;
    struct remote_place place = {0};
    long answer;

    stopped_shell_start(&tracee, "exit 0");
    CHECK_EQUAL(remote_find_system_call(tracee.pid, (struct memory_range){0, 0}, &place), 0);
    kill(tracee.pid, SIGKILL);
    while (tracee_get_registers(&tracee, &registers) == 0)
        ;
    CHECK_EQUAL(remote_system_call(&tracee, &place, SYS_getpid, nothing, &answer), -ESRCH);
    tracee_detach(&tracee);
    CHECK_EQUAL(WTERMSIG(stopped_shell_end(&tracee)), SIGKILL);
}

/* The shell gets the others when it is let go. */
static void a_thread_stops_at_the_signal_that_is_awaited(void)
{
    stopped_shell_start(&tracee, "trap 'exit 7' USR1; kill -USR1 $$; kill -URG $$; while :; do :; done");
    CHECK_EQUAL(tracee_resume(&tracee, TRACEE_EXEC, 0), 0);
    CHECK_EQUAL(tracee_await_signal(&tracee, SIGURG), 0);
    CHECK(tracee.is_stopped);
    CHECK_EQUAL(tracee.signal_count, 1);
    tracee_detach(&tracee);
    CHECK_EQUAL(WEXITSTATUS(stopped_shell_end(&tracee)), 7);
    stopped_shell_start(&tracee, "exit 6");
    CHECK_EQUAL(tracee_resume(&tracee, TRACEE_EXEC, 0), 0);
    CHECK_EQUAL(tracee_await_signal(&tracee, SIGURG), -ESRCH);
    CHECK(tracee.has_ended);
}

static void a_thread_that_runs_is_stopped_and_goes_on(void)
{
    struct tracee other;
    struct thread_registers registers;
    uint64_t mask;
    int status;
    pid_t child = fork();

    if (child == 0) {
        const struct timespec pause = {0, 50000000};

        nanosleep(&pause, NULL);
        _exit(5);
    }
    CHECK_EQUAL(tracee_seize(&other, child, child), 0);
    for (int i = 0; i < 10; i++) {
        struct tracee_vectors vectors;

        CHECK_EQUAL(tracee_interrupt(&other), 0);
        CHECK_EQUAL(tracee_get_registers(&other, &registers), 0);
        CHECK_EQUAL(tracee_set_registers(&other, &registers), 0);
        CHECK_EQUAL(tracee_get_vectors(&other, &vectors), 0);
        CHECK(vectors.size_bytes >= 512);
        CHECK_EQUAL(tracee_set_vectors(&other, &vectors), 0);
        CHECK_EQUAL(tracee_get_mask(&other, &mask), 0);
        CHECK_EQUAL(tracee_set_mask(&other, mask), 0);
        tracee_detach(&other);
        CHECK_EQUAL(tracee_seize(&other, child, child), 0);
    }
    tracee_detach(&other);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(WEXITSTATUS(status), 5);
    CHECK_EQUAL(tracee_seize(&other, child, child), -ESRCH);
}

static const struct check_case cases[] = {
    CHECK_CASE(faults_are_what_they_were),
    CHECK_CASE(signals_that_come_meanwhile_are_delivered_afterwards),
    CHECK_CASE(memory_is_read_and_written_whatever_its_access),
    CHECK_CASE(a_program_that_is_killed_is_gone),
    CHECK_CASE(a_thread_stops_at_the_signal_that_is_awaited),
    CHECK_CASE(a_thread_that_runs_is_stopped_and_goes_on),
};

CHECK_MAIN(cases)
