/* SPDX-License-Identifier: MIT */
/*
 * A thread of another process, in the hands of a tracer: stopped, seen, changed and let go, with its signals, which
 * tsan would hold back.
 *
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "process/thread_tracing.h"

#include "arch/x86_64/isa/user_registers.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__("        .text\n"
        "spin_for_tracer:\n"
        "        xorl    %eax, %eax\n"
        "spin_for_tracer_again:\n"
        "        testq   %rax, %rax\n"
        "        jz      spin_for_tracer_again\n"
        "        ret\n"
        "spin_for_tracer_end:\n");

int spin_for_tracer(void);
extern const char spin_for_tracer_again[], spin_for_tracer_end[];

static volatile sig_atomic_t signals_seen;

static void count_signal(int number)
{
    (void)number;
    signals_seen++;
}

/* Ends with the number that the tracer puts into rax, and 100 for each signal. */
static pid_t start_spinning(void)
{
    pid_t child = fork();

    if (child == 0) {
        int result;

        signal(SIGUSR1, count_signal);
        result = spin_for_tracer();
        _exit(result + 100 * signals_seen);
    }
    return child;
}

static bool stop(struct traced_thread *thread)
{
    return thread_tracing_interrupt(thread) == 0 && thread_tracing_wait(thread) == 0 &&
           thread_tracing_read(thread) == 0;
}

/* It may not have come to the loop yet. */
static void stop_in_loop(struct traced_thread *thread)
{
    for (;;) {
        uint64_t pc;

        CHECK(stop(thread));
        pc = thread_registers_pc(&thread->registers);
        if (pc >= (uintptr_t)spin_for_tracer_again && pc < (uintptr_t)spin_for_tracer_end)
            return;
        thread_tracing_release(thread);
        usleep(1000);
        CHECK_EQUAL(thread_tracing_seize(thread, thread->tid), 0);
    }
}

static void let_go_with(struct traced_thread *thread, uint64_t value)
{
    x86_user_registers(&thread->registers)->rax = value;
    CHECK_EQUAL(thread_tracing_write(thread), 0);
    thread_tracing_release(thread);
}

static int exit_status(pid_t child)
{
    int status = -1;

    CHECK_EQUAL(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_stopped_thread_goes_on_with_what_was_written(void)
{
    pid_t child = start_spinning();
    struct traced_thread thread;

    thread_tracing_init(&thread, child);
    CHECK_EQUAL(thread_tracing_seize(&thread, child), 0);
    stop_in_loop(&thread);
    let_go_with(&thread, 42);
    CHECK_EQUAL(exit_status(child), 42);
}

static void signals_reach_the_thread_while_it_is_traced(void)
{
    pid_t child = start_spinning();
    struct traced_thread thread;

    thread_tracing_init(&thread, child);
    CHECK_EQUAL(thread_tracing_seize(&thread, child), 0);
    stop_in_loop(&thread);
    thread_tracing_release(&thread);
    CHECK_EQUAL(thread_tracing_seize(&thread, child), 0);
    CHECK_EQUAL(kill(child, SIGUSR1), 0);
    stop_in_loop(&thread);
    let_go_with(&thread, 7);
    CHECK_EQUAL(exit_status(child), 107);
}

static void a_thread_of_another_process_than_said_is_refused(void)
{
    pid_t child = start_spinning();
    struct traced_thread thread;

    thread_tracing_init(&thread, child);
    CHECK_EQUAL(thread_tracing_seize(&thread, getpid()), -ESRCH);
    kill(child, SIGKILL);
    CHECK_EQUAL(exit_status(child), -1);
}

static void the_end_of_a_thread_is_noticed(void)
{
    pid_t child = start_spinning();
    struct traced_thread thread;

    thread_tracing_init(&thread, child);
    CHECK_EQUAL(thread_tracing_seize(&thread, child), 0);
    kill(child, SIGKILL);
    CHECK_EQUAL(thread_tracing_wait(&thread), -ESRCH);
    thread_tracing_bury(&thread);
    CHECK_EQUAL(waitpid(child, NULL, 0), -1);
    CHECK_EQUAL(errno, ECHILD);
    CHECK_EQUAL(thread_tracing_seize(&thread, child), -ESRCH);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_stopped_thread_goes_on_with_what_was_written),
        CHECK_CASE(signals_reach_the_thread_while_it_is_traced),
        CHECK_CASE(a_thread_of_another_process_than_said_is_refused),
        CHECK_CASE(the_end_of_a_thread_is_noticed),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
