/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is not followed. The test follows itself, and makes system calls. */
#define _GNU_SOURCE
#include "agent/system_call_following.h"

#include "agent/function_watch.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#if defined(__x86_64__)

static struct stalker_engine *engine;

static void want(unsigned number)
{
    agent_lab.options.system_calls[number / 64] |= 1ull << number % 64;
}

static void begin(void)
{
    agent_lab_begin(0, RING_DROP);
    engine = agent_lab_engine();
    agent_lab.options.tells_system_calls = 1;
    agent_lab.options.system_call_bytes = 32;
}

static void run(void (*function)(void))
{
    CHECK_EQUAL(function_watch_begin(engine, agent_lab.ring, &agent_lab.options), 0);
    system_call_following_begin(engine, &agent_lab.options);
    agent_lab_follow(engine, 0, function);
    agent_lab_take();
    CHECK_EQUAL(agent_lab.bad_bytes, 0);
}

static void make_calls(void)
{
    CHECK_EQUAL(syscall(SYS_getppid), getppid());
    CHECK_EQUAL(syscall(SYS_close, -1), -1);
    CHECK_EQUAL(syscall(SYS_getpid), getpid());
}

static void calls_of_the_set_are_told_with_their_results(void)
{
    const struct detail_system_call *call;

    begin();
    want(SYS_getppid);
    want(SYS_close);
    run(make_calls);
    /* The C library makes one, too. */
    CHECK_EQUAL(agent_lab_count(DETAIL_SYSTEM_CALL, SYS_getppid), 2);
    CHECK_EQUAL(agent_lab_count(DETAIL_SYSTEM_CALL, SYS_getpid), 0);
    CHECK_EQUAL(agent_lab.record_count, 3);
    call = agent_lab_record(0, DETAIL_SYSTEM_CALL);
    CHECK_EQUAL(call->result, getppid());
    CHECK(call->entered_time != 0 && call->record.time >= call->entered_time);
    call = agent_lab_record(2, DETAIL_SYSTEM_CALL);
    CHECK_EQUAL(call->record.function, SYS_close);
    CHECK_EQUAL(call->result, -EBADF);
    CHECK_EQUAL((int)call->arguments[0], -1);
}

static void without_being_asked_for_none_are_told(void)
{
    begin();
    want(SYS_getppid);
    agent_lab.options.tells_system_calls = 0;
    run(make_calls);
    CHECK_EQUAL(agent_lab.record_count, 0);
}

static const char text[] = "written by a followed thread, more than is kept of it";

static void write_text(void)
{
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    CHECK_EQUAL(write(ends[1], text, sizeof(text)), sizeof(text));
}

static void memory_is_kept_with_a_call(void)
{
    struct detail_value value;
    const uint8_t *data;

    begin();
    want(SYS_write);
    run(write_text);
    CHECK_EQUAL(agent_lab.record_count, 1);
    CHECK(agent_lab_value(agent_lab_record(0, DETAIL_SYSTEM_CALL), 1, &value, &data));
    CHECK_EQUAL(value.flags, DETAIL_VALUE_CLIPPED);
    CHECK(value.data_bytes == 32 && memcmp(data, text, 32) == 0);
}

/* ---- calls that do not return as they were made --------------------------------------------------------------------
 */

static void *end_thread(void *unused)
{
    (void)unused;
    syscall(SYS_exit, 3);
    return NULL;
}

static void end_a_thread(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, end_thread, NULL), 0);
    pthread_join(thread, NULL);
}

static void calls_that_never_return_are_told_before(void)
{
    const struct detail_system_call *call;

    begin();
    want(SYS_exit);
    run(end_a_thread);
    CHECK_EQUAL(agent_lab.record_count, 1);
    call = agent_lab_record(0, DETAIL_SYSTEM_CALL);
    CHECK_EQUAL(call->flags, DETAIL_SYSTEM_CALL_NEVER_RETURNED);
    CHECK_EQUAL(call->arguments[0], 3);
    CHECK_EQUAL(call->record.time, call->entered_time);
    CHECK(agent_lab.tid != 0 && agent_lab.tid != (uint32_t)gettid());
}

static void execute_what_is_not_there(void)
{
    char *const none[] = {NULL};

    CHECK_EQUAL(syscall(SYS_execve, "/bin/no-such-program", none, none), -1);
}

static void calls_that_may_not_return_are_told_twice(void)
{
    begin();
    want(SYS_execve);
    run(execute_what_is_not_there);
    CHECK_EQUAL(agent_lab.record_count, 2);
    agent_lab_record(0, DETAIL_SYSTEM_CALL_ENTER);
    CHECK_EQUAL(((const struct detail_system_call *)agent_lab_record(1, DETAIL_SYSTEM_CALL))->result, -ENOENT);
}

static volatile sig_atomic_t handled;
static int ends[2];

/* Makes a call of its own in the middle of another one. */
static void write_in_handler(int signal)
{
    (void)signal;
    handled++;
    syscall(SYS_getppid);
    if (write(ends[1], "x", 1) != 1)
        _exit(5);
}

static void be_interrupted(void)
{
    struct sigaction action = {.sa_handler = write_in_handler, .sa_flags = SA_RESTART};
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    char byte = 0;

    CHECK_EQUAL(pipe(ends), 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_EQUAL(syscall(SYS_read, ends[0], &byte, 1), 1);
    CHECK_EQUAL(byte, 'x');
}

/* It began when it was made first, and is told once, when it is over. */
static void a_call_that_is_made_again_is_one(void)
{
    const struct detail_system_call *call, *inner;

    begin();
    want(SYS_read);
    want(SYS_getppid);
    run(be_interrupted);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(agent_lab.record_count, 2);
    inner = agent_lab_record(0, DETAIL_SYSTEM_CALL);
    call = agent_lab_record(1, DETAIL_SYSTEM_CALL);
    CHECK_EQUAL(inner->record.function, SYS_getppid);
    CHECK_EQUAL(call->record.function, SYS_read);
    CHECK_EQUAL(call->result, 1);
    CHECK(call->entered_time < inner->entered_time);
}

static void fail_by_a_signal(void)
{
    struct sigaction action = {.sa_handler = write_in_handler};
    const struct itimerval soon = {{0, 0}, {0, 20000}};
    const struct timespec long_time = {10, 0};

    CHECK_EQUAL(pipe(ends), 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    CHECK_EQUAL(syscall(SYS_nanosleep, &long_time, NULL), -1);
    CHECK_EQUAL(errno, EINTR);
}

static void a_call_that_a_signal_ends_says_so(void)
{
    begin();
    want(SYS_nanosleep);
    run(fail_by_a_signal);
    CHECK_EQUAL(agent_lab.record_count, 1);
    CHECK_EQUAL(((const struct detail_system_call *)agent_lab_record(0, DETAIL_SYSTEM_CALL))->result, -EINTR);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_of_the_set_are_told_with_their_results),
    CHECK_CASE(without_being_asked_for_none_are_told),
    CHECK_CASE(memory_is_kept_with_a_call),
    CHECK_CASE(calls_that_never_return_are_told_before),
    CHECK_CASE(calls_that_may_not_return_are_told_twice),
    CHECK_CASE(a_call_that_is_made_again_is_one),
    CHECK_CASE(a_call_that_a_signal_ends_says_so),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
