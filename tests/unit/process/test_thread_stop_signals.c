/* SPDX-License-Identifier: MIT */
/* The thread sanitizer delivers signals late, and none to a thread that only computes. */
/* configurations: debug-* asan-* */
/* Stopping a thread loses no signal, doubles none, and does not get in the way of job control. */
#define _GNU_SOURCE
#include "process/thread_stop.h"

#include "arch/thread_registers.h"
#include "support/check.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOPS             1000
#define JOB_CONTROL_STOPS 3

static int leave_alone(void *context, struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    return 1;
}

static int write_back(void *context, struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    return 0;
}

static atomic_long handled, handled_sum;
static atomic_bool enough;

static void count_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_fetch_add(&handled, 1);
    atomic_fetch_add(&handled_sum, info->si_value.sival_int);
}

static void count_queued_signals(void)
{
    struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

    sigaction(SIGRTMIN, &action, NULL);
    atomic_store(&handled, 0);
    atomic_store(&handled_sum, 0);
    atomic_store(&enough, false);
}

struct sender {
    struct subject_thread subject;
    struct subject_thread *target;
    long sent;
    long sum;
};

/* As fast as the queue takes them. */
static void send_signals(void *context)
{
    struct sender *sender = context;

    while (!atomic_load(&enough)) {
        union sigval value = {.sival_int = (int)(sender->sent % 1000)};

        if (pthread_sigqueue(sender->target->thread, SIGRTMIN, value) == 0) {
            sender->sent++;
            sender->sum += value.sival_int;
        } else {
            sched_yield();
        }
        if (sender->sent > atomic_load(&handled) + 100)
            sched_yield();
    }
}

static void compute_and_call(void *context)
{
    (void)context;
    while (!atomic_load(&enough))
        (void)syscall(SYS_getppid);
}

static void read_a_byte(void *context)
{
    int *fd = context;
    char byte;

    CHECK_EQUAL(read(*fd, &byte, 1), 1);
}

static void stop_in_a_storm(struct subject_thread *target, struct sender *sender)
{
    sender->target = target;
    subject_thread_start(&sender->subject, send_signals, sender);
    for (int i = 0; i < STOPS; i++)
        CHECK_EQUAL(thread_modify(target->tid, i % 2 == 0 ? write_back : leave_alone, NULL), 0);
    atomic_store(&enough, true);
    subject_thread_join(&sender->subject);
}

static void expect_all_handled(const struct sender *sender)
{
    subject_thread_wait_count(&handled, sender->sent);
    CHECK_EQUAL(handled, sender->sent);
    CHECK_EQUAL(handled_sum, sender->sum);
    CHECK(sender->sent > 0);
}

static void every_signal_to_a_computing_thread_is_handled_once(void)
{
    struct subject_thread target;
    struct sender sender = {0};

    count_queued_signals();
    subject_thread_start(&target, compute_and_call, NULL);
    stop_in_a_storm(&target, &sender);
    /* Those still pending are handled before the thread ends. */
    subject_thread_join(&target);
    expect_all_handled(&sender);
}

static void every_signal_to_a_waiting_thread_is_handled_once(void)
{
    struct subject_thread target;
    struct sender sender = {0};
    int ends[2];

    count_queued_signals();
    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&target, read_a_byte, &ends[0]);
    subject_thread_wait_in(&target, SYS_read);
    stop_in_a_storm(&target, &sender);
    expect_all_handled(&sender);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&target);
    close(ends[0]);
    close(ends[1]);
}

static atomic_long in_handler, handler_may_return;

static void stay_in_handler(int number)
{
    (void)number;
    atomic_store(&in_handler, 1);
    while (!atomic_load(&handler_may_return))
        continue;
}

static void a_thread_in_a_signal_handler_goes_on_in_it_and_returns(void)
{
    struct sigaction action = {.sa_handler = stay_in_handler, .sa_flags = SA_RESTART};
    struct subject_thread target;
    int ends[2];

    sigaction(SIGUSR2, &action, NULL);
    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&target, read_a_byte, &ends[0]);
    subject_thread_wait_in(&target, SYS_read);
    pthread_kill(target.thread, SIGUSR2);
    subject_thread_wait_count(&in_handler, 1);
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(thread_modify(target.tid, write_back, NULL), 0);
    atomic_store(&handler_may_return, 1);
    subject_thread_wait_in(&target, SYS_read);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&target);
    close(ends[0]);
    close(ends[1]);
}

static void do_nothing(int number)
{
    (void)number;
}

static void read_and_expect_interruption(void *context)
{
    char byte;

    CHECK_EQUAL(read(*(int *)context, &byte, 1), -1);
    CHECK_EQUAL(errno, EINTR);
}

static void a_real_signal_still_interrupts_a_system_call(void)
{
    struct sigaction action = {.sa_handler = do_nothing};
    struct subject_thread target;
    int ends[2];

    sigaction(SIGUSR2, &action, NULL);
    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&target, read_and_expect_interruption, &ends[0]);
    subject_thread_wait_in(&target, SYS_read);
    CHECK_EQUAL(thread_modify(target.tid, write_back, NULL), 0);
    subject_thread_wait_in(&target, SYS_read);
    pthread_kill(target.thread, SIGUSR2);
    subject_thread_join(&target);
    close(ends[0]);
    close(ends[1]);
}

static int send_signal_to_stopped(void *context, struct thread_registers *registers)
{
    struct subject_thread *target = context;

    (void)registers;
    pthread_kill(target->thread, SIGUSR2);
    return 0;
}

static void a_signal_that_comes_during_the_stop_interrupts_too(void)
{
    struct sigaction action = {.sa_handler = do_nothing};
    struct subject_thread target;
    int ends[2];

    sigaction(SIGUSR2, &action, NULL);
    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&target, read_and_expect_interruption, &ends[0]);
    subject_thread_wait_in(&target, SYS_read);
    CHECK_EQUAL(thread_modify(target.tid, send_signal_to_stopped, &target), 0);
    subject_thread_join(&target);
    close(ends[0]);
    close(ends[1]);
}

static int stop_all(void *context, struct thread_registers *registers)
{
    (void)context;
    (void)registers;
    kill(getpid(), SIGSTOP);
    return 0;
}

/* Runs in a child that is stopped by itself, in the worst moment, and continued by its parent. */
static void be_stopped_while_stopping(void)
{
    struct subject_thread target;

    atomic_store(&enough, false);
    subject_thread_start(&target, compute_and_call, NULL);
    if (thread_modify(target.tid, stop_all, NULL) != -ETIMEDOUT)
        _exit(1);
    if (thread_modify(target.tid, write_back, NULL) != 0)
        _exit(2);
    atomic_store(&enough, true);
    subject_thread_join(&target);
    _exit(0);
}

static void a_job_control_stop_in_the_middle_is_complete(void)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0)
        be_stopped_while_stopping();
    CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
    CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
    kill(child, SIGCONT);
    CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
    CHECK_EQUAL(status, 0);
}

/* Runs in a child that its parent stops at any time. */
static void modify_until_input_ends(int fd)
{
    struct subject_thread computing, reading;
    struct subject_thread *targets[] = {&computing, &reading};
    int ends[2];

    atomic_store(&enough, false);
    if (pipe(ends) != 0)
        _exit(3);
    subject_thread_start(&computing, compute_and_call, NULL);
    subject_thread_start(&reading, read_a_byte, &ends[0]);
    for (int i = 0;; i++) {
        int result = thread_modify(targets[i % 2]->tid, write_back, NULL);
        char byte;

        if (result != 0 && result != -ETIMEDOUT)
            _exit(1);
        if (read(fd, &byte, 1) == 0)
            break;
    }
    atomic_store(&enough, true);
    (void)!write(ends[1], "x", 1);
    subject_thread_join(&computing);
    subject_thread_join(&reading);
    _exit(check_failures == 0 ? 0 : 2);
}

static void a_process_can_be_stopped_and_continued_at_any_time(void)
{
    int status = 0, ends[2];
    pid_t child;

    CHECK_EQUAL(pipe2(ends, O_NONBLOCK), 0);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        modify_until_input_ends(ends[0]);
    }
    for (int i = 0; i < JOB_CONTROL_STOPS; i++) {
        kill(child, SIGSTOP);
        CHECK_EQUAL(waitpid(child, &status, WUNTRACED), child);
        CHECK(WIFSTOPPED(status));
        kill(child, SIGCONT);
    }
    close(ends[1]);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    close(ends[0]);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_signal_to_a_computing_thread_is_handled_once),
    CHECK_CASE(every_signal_to_a_waiting_thread_is_handled_once),
    CHECK_CASE(a_thread_in_a_signal_handler_goes_on_in_it_and_returns),
    CHECK_CASE(a_real_signal_still_interrupts_a_system_call),
    CHECK_CASE(a_signal_that_comes_during_the_stop_interrupts_too),
    CHECK_CASE(a_job_control_stop_in_the_middle_is_complete),
    CHECK_CASE(a_process_can_be_stopped_and_continued_at_any_time),
};

CHECK_MAIN(cases)
