/* SPDX-License-Identifier: MIT */
/*
 * All other threads stand still while something is changed, however many there are and whatever they are doing: also
 * holding locks of tsan's that the one at work waits for.
 * configurations: debug-* asan-*
 */
#define _GNU_SOURCE
#include "process/threads_stop.h"

#include "arch/thread_registers.h"
#include "arch/x86_64/isa/user_registers.h"
#include "process/thread_list.h"
#include "process/thread_stop.h"
#include "support/check.h"
#include "support/forbid.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 16

static atomic_long counts[THREADS];
static atomic_bool ended;

static void count(void *context)
{
    atomic_long *counter = context;

    while (!atomic_load_explicit(&ended, memory_order_relaxed))
        atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static void start_counting(struct subject_thread threads[THREADS])
{
    atomic_store(&ended, false);
    for (int i = 0; i < THREADS; i++)
        subject_thread_start(&threads[i], count, &counts[i]);
}

static void end_counting(struct subject_thread threads[THREADS])
{
    atomic_store(&ended, true);
    for (int i = 0; i < THREADS; i++)
        subject_thread_join(&threads[i]);
}

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

struct standstill {
    size_t seen;
    bool moved;
    bool all_traced;
};

static int look(void *context, struct stopped_thread *threads, size_t number)
{
    struct standstill *standstill = context;
    long before[THREADS];

    standstill->seen = number;
    standstill->all_traced = true;
    for (size_t i = 0; i < number; i++) {
        enum thread_state state = THREAD_STATE_OTHER;

        if (thread_state_read(threads[i].tid, &state) != 0 || state != THREAD_TRACED)
            standstill->all_traced = false;
        CHECK(thread_registers_pc(threads[i].registers) != 0);
    }
    for (int i = 0; i < THREADS; i++)
        before[i] = atomic_load(&counts[i]);
    for (int64_t until = now_ns() + 2000000; now_ns() < until;)
        continue;
    standstill->moved = false;
    for (int i = 0; i < THREADS; i++)
        standstill->moved |= before[i] != atomic_load(&counts[i]);
    return 0;
}

static void all_others_stand_still_and_go_on(void)
{
    struct subject_thread threads[THREADS];
    struct standstill standstill = {0};

    start_counting(threads);
    CHECK_EQUAL(threads_stop(look, &standstill), 0);
    CHECK_EQUAL(standstill.seen, THREADS);
    CHECK(standstill.all_traced);
    CHECK(!standstill.moved);
    for (int i = 0; i < THREADS; i++)
        subject_thread_wait_count(&counts[i], atomic_load(&counts[i]) + 1);
    end_counting(threads);
}

static int remember_count(void *context, struct stopped_thread *threads, size_t number)
{
    (void)threads;
    *(size_t *)context = number;
    return 0;
}

static int return_it(void *context, struct stopped_thread *threads, size_t number)
{
    (void)threads;
    (void)number;
    return *(int *)context;
}

static void what_the_change_says_is_returned(void)
{
    struct subject_thread threads[THREADS];
    const int answers[] = {0, -EBUSY, -ENOSPC, -EIO, 7};
    size_t others = 99;

    CHECK_EQUAL(threads_stop(remember_count, &others), 0);
    CHECK_EQUAL(others, 0);
    start_counting(threads);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        int answer = answers[i];

        CHECK_EQUAL(threads_stop(return_it, &answer), answer);
    }
    end_counting(threads);
}

/* Threads that go round a loop of two instructions until their rax is not 0. */
__asm__("        .text\n"
        "spin_until_rax:\n"
        "        xorl    %eax, %eax\n"
        "spin_until_rax_again:\n"
        "        testq   %rax, %rax\n"
        "        jz      spin_until_rax_again\n"
        "        ret\n"
        "spin_until_rax_end:\n");

long spin_until_rax(void);
extern const char spin_until_rax_again[], spin_until_rax_end[];

static void spin(void *context)
{
    atomic_store((atomic_long *)context, spin_until_rax());
}

/* Each gets a number of its own; 1: not all were in the loop yet. */
static int set_rax_of_all(void *context, struct stopped_thread *threads, size_t number)
{
    (void)context;
    for (size_t i = 0; i < number; i++) {
        uint64_t pc = thread_registers_pc(threads[i].registers);

        if (pc < (uintptr_t)spin_until_rax_again || pc >= (uintptr_t)spin_until_rax_end)
            return 1;
    }
    for (size_t i = 0; i < number; i++) {
        x86_user_registers(threads[i].registers)->rax = (uint64_t)threads[i].tid;
        threads[i].is_changed = true;
    }
    return 0;
}

static void changed_registers_are_what_threads_go_on_with(void)
{
    struct subject_thread threads[THREADS];
    atomic_long results[THREADS] = {0};
    int result;

    for (int i = 0; i < THREADS; i++)
        subject_thread_start(&threads[i], spin, &results[i]);
    do
        result = threads_stop(set_rax_of_all, NULL);
    while (result == 1);
    CHECK_EQUAL(result, 0);
    for (int i = 0; i < THREADS; i++) {
        subject_thread_join(&threads[i]);
        CHECK_EQUAL(results[i], threads[i].tid);
    }
}

static void unmarked_registers_are_not_written(void)
{
    struct subject_thread threads[THREADS];

    start_counting(threads);
    for (int i = 0; i < 20; i++) {
        int spoil = 0;

        CHECK_EQUAL(threads_stop(return_it, &spoil), 0);
    }
    end_counting(threads);
}

/* Threads that start others and end, all the time: whoever is not stopped would be seen to move. */
static atomic_long started;

static void *start_next(void *context)
{
    atomic_long *counter = context;
    pthread_attr_t detached;
    pthread_t next;

    atomic_fetch_add(counter, 1);
    atomic_fetch_add(&started, 1);
    /* From the beginning: glibc's pthread_detach looks once more at a thread that may have ended, and be gone, by then.
     */
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (!atomic_load(&ended))
        (void)!pthread_create(&next, &detached, start_next, context);
    pthread_attr_destroy(&detached);
    return NULL;
}

static void threads_that_start_meanwhile_are_stopped_too(void)
{
    atomic_store(&ended, false);
    for (int i = 0; i < 8; i++)
        start_next(&counts[i]);
    for (int i = 0; i < 200; i++) {
        struct standstill standstill = {0};

        CHECK_EQUAL(threads_stop(look, &standstill), 0);
        CHECK(!standstill.moved);
        CHECK(standstill.all_traced);
    }
    atomic_store(&ended, true);
    for (size_t others = 1; others > 0;)
        if (threads_stop(remember_count, &others) != 0)
            break;
    CHECK(atomic_load(&started) > 8);
}

static void read_one(void *context)
{
    int *result_and_fd = context;
    char byte;

    result_and_fd[0] = (int)read(result_and_fd[1], &byte, 1);
}

static void a_thread_that_waits_for_input_goes_on_waiting(void)
{
    struct subject_thread reader;
    int ends[2], result_and_fd[2] = {-1, -1};

    CHECK_EQUAL(pipe(ends), 0);
    result_and_fd[1] = ends[0];
    subject_thread_start(&reader, read_one, result_and_fd);
    subject_thread_wait_in(&reader, SYS_read);
    for (int i = 0; i < 50; i++) {
        int nothing = 0;

        CHECK_EQUAL(threads_stop(return_it, &nothing), 0);
    }
    CHECK_EQUAL(result_and_fd[0], -1);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&reader);
    CHECK_EQUAL(result_and_fd[0], 1);
    close(ends[0]);
    close(ends[1]);
}

static int stop_again(void *context, struct stopped_thread *threads, size_t number)
{
    (void)threads;
    (void)number;
    *(int *)context = threads_stop(remember_count, context);
    return 0;
}

static void stopping_while_stopped_is_refused(void)
{
    int inner = 0;

    CHECK_EQUAL(threads_stop(stop_again, &inner), 0);
    CHECK_EQUAL(inner, -EDEADLK);
}

static void *stop_many_times(void *context)
{
    for (int i = 0; i < 15; i++) {
        size_t others = 0;

        if (threads_stop(remember_count, &others) != 0 || others == 0)
            atomic_fetch_add((atomic_long *)context, 1);
    }
    return NULL;
}

static void threads_may_stop_each_other(void)
{
    struct subject_thread threads[THREADS];
    atomic_long failures = 0;
    pthread_t stoppers[4];

    start_counting(threads);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&stoppers[i], NULL, stop_many_times, &failures), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(stoppers[i], NULL);
    CHECK_EQUAL(failures, 0);
    end_counting(threads);
}

static int note_time(void *context, struct stopped_thread *threads, size_t number)
{
    (void)threads;
    *(int64_t *)context = now_ns();
    return number == THREADS ? 0 : -EINVAL;
}

static void sixteen_busy_threads_stand_still(void)
{
    struct subject_thread threads[THREADS];
    int64_t best = INT64_MAX;

    start_counting(threads);
    for (int i = 0; i < 50; i++) {
        int64_t begin = now_ns(), stopped = 0;

        CHECK_EQUAL(threads_stop(note_time, &stopped), 0);
        if (stopped - begin < best)
            best = stopped - begin;
    }
    end_counting(threads);
    printf("16 busy threads: all stopped after %lld us\n", (long long)best / 1000);
}

/* A program whose main thread has ended goes on with the others; that one stays on the list for good. */
static void *stop_without_main(void *context)
{
    size_t others = 99;
    int result;

    while (thread_exists(getpid()))
        usleep(1000);
    result = threads_stop(remember_count, &others);
    (void)context;
    _exit(result == 0 && others == 0 ? 0 : 1);
}

static void a_main_thread_that_has_ended_is_no_obstacle(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, stop_without_main, NULL) != 0)
            _exit(2);
        pthread_exit(NULL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

static void stop_while_protected(void)
{
    struct subject_thread threads[THREADS];
    size_t others = 0;
    int result;

    prctl(PR_SET_DUMPABLE, 0);
    start_counting(threads);
    result = threads_stop(remember_count, &others);
    end_counting(threads);
    if (result != 0 || others != THREADS || prctl(PR_GET_DUMPABLE) != 0)
        _exit(1);
}

static void a_process_that_nobody_may_trace_stays_so(void)
{
    CHECK_EQUAL(forbid_in_child(stop_while_protected), 0);
}

/* Somebody else traces the thread. */
static void a_thread_that_a_debugger_holds_cannot_be_stopped(void)
{
    struct subject_thread threads[THREADS];
    size_t others = 99;
    int ready[2], done[2];
    char byte;

    CHECK(pipe(ready) == 0 && pipe(done) == 0);
    start_counting(threads);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    pid_t child = fork();
    if (child == 0) {
        long result = ptrace(PTRACE_SEIZE, threads[3].tid, 0, 0);

        if (write(ready[1], result == 0 ? "y" : "n", 1) != 1 || read(done[0], &byte, 1) != 1)
            _exit(1);
        _exit(0);
    }
    CHECK_EQUAL(read(ready[0], &byte, 1), 1);
    if (byte == 'y') {
        CHECK_EQUAL(threads_stop(remember_count, &others), -EPERM);
        CHECK_EQUAL(others, 99);
    }
    CHECK_EQUAL(write(done[1], "x", 1), 1);
    waitpid(child, NULL, 0);
    CHECK_EQUAL(threads_stop(remember_count, &others), 0);
    CHECK_EQUAL(others, THREADS);
    end_counting(threads);
}

/* The child ends when it is told so. */
static void vfork_and_wait(void *context)
{
    int *ends = context;
    pid_t child = vfork();

    if (child == 0) {
        char byte;

        _exit(syscall(SYS_read, ends[0], &byte, 1) == 1 ? 0 : 1);
    }
    waitpid(child, NULL, 0);
}

static void a_thread_in_vfork_keeps_everybody_running(void)
{
    enum thread_state state = THREAD_STATE_OTHER;
    struct subject_thread subject;
    size_t others = 99;
    int ends[2];

    CHECK_EQUAL(pipe(ends), 0);
    subject_thread_start(&subject, vfork_and_wait, ends);
    while (state != THREAD_UNINTERRUPTIBLE)
        CHECK_EQUAL(thread_state_read(subject.tid, &state), 0);
    CHECK_EQUAL(threads_stop(remember_count, &others), -ETIMEDOUT);
    CHECK_EQUAL(others, 99);
    CHECK_EQUAL(write(ends[1], "x", 1), 1);
    subject_thread_join(&subject);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(all_others_stand_still_and_go_on),
        CHECK_CASE(what_the_change_says_is_returned),
        CHECK_CASE(changed_registers_are_what_threads_go_on_with),
        CHECK_CASE(unmarked_registers_are_not_written),
        CHECK_CASE(threads_that_start_meanwhile_are_stopped_too),
        CHECK_CASE(a_thread_that_waits_for_input_goes_on_waiting),
        CHECK_CASE(stopping_while_stopped_is_refused),
        CHECK_CASE(threads_may_stop_each_other),
        CHECK_CASE(sixteen_busy_threads_stand_still),
        CHECK_CASE(a_main_thread_that_has_ended_is_no_obstacle),
        CHECK_CASE(a_process_that_nobody_may_trace_stays_so),
        CHECK_CASE(a_thread_that_a_debugger_holds_cannot_be_stopped),
        CHECK_CASE(a_thread_in_vfork_keeps_everybody_running),
    };

#if !defined(__x86_64__)
    check_skip("threads are stopped on x86_64 only");
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
