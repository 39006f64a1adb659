/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
/* Functions that are run on other threads, followed and not, spinning and asleep. */
#define _GNU_SOURCE
#include "libgait/run_on_thread.h"

#include "gait/stalker.h"
#include "support/check.h"
#include "support/followed_call.h"
#include "support/known_registers.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 200
/* Futex words of the assembly in known_registers.c are private to nobody. */
#define WAKE_ALL 1000

static struct gait_stalker *stalker;
static atomic_bool finished;
static atomic_long rounds;
static atomic_int word;

/* What functions saw. */
static atomic_long calls, held, on_thread, dones, lost;
static atomic_int expected_tid;

static void look(const struct gait_cpu_context *cpu, void *data)
{
    volatile double spoil = 1.0;

    (void)data;
    for (int i = 0; i < 20; i++)
        spoil = spoil * 1.5 + (double)i;
    atomic_fetch_add(&held, known_registers_hold(cpu));
    atomic_fetch_add(&on_thread, syscall(SYS_gettid) == atomic_load(&expected_tid));
    atomic_fetch_add(&calls, 1);
}

static void note_done(void *data, int result)
{
    (void)data;
    atomic_fetch_add(result == 0 ? &dones : &lost, 1);
}

static struct gait_thread_run run_of(bool without_waiting)
{
    return (struct gait_thread_run){
        .size_bytes = sizeof(struct gait_thread_run),
        .function = look,
        .without_waiting = without_waiting,
        .done = note_done,
    };
}

static void begin(void)
{
    stalker = followed_call_stalker();
    atomic_store(&finished, false);
    atomic_store(&rounds, 0);
    atomic_store(&word, 0);
    atomic_store(&calls, 0);
    atomic_store(&held, 0);
    atomic_store(&on_thread, 0);
    atomic_store(&dones, 0);
    atomic_store(&lost, 0);
}

static void spin(void *unused)
{
    (void)unused;
    known_registers_spin(&finished, &rounds);
}

static void sleep_long(void *unused)
{
    (void)unused;
    known_registers_wait(&word);
}

static void start(struct subject_thread *thread, void (*function)(void *))
{
    subject_thread_start(thread, function, NULL);
    atomic_store(&expected_tid, thread->tid);
    if (function == spin)
        subject_thread_wait_count(&rounds, 1000);
    else
        subject_thread_wait_in(thread, SYS_futex);
}

static void join(struct subject_thread *thread)
{
    atomic_store(&finished, true);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, WAKE_ALL, NULL, NULL, 0);
    subject_thread_join(thread);
}

static void run_waiting(int tid)
{
    struct gait_thread_run run = run_of(false);
    struct gait_error err = {0};

    for (long i = 1; i <= ROUNDS; i++) {
        CHECK_EQUAL(gait_stalker_run_on_thread(stalker, tid, &run, &err), 0);
        CHECK_TEXT(err.text, "");
        /* It has returned, with all that it did. */
        CHECK_EQUAL(atomic_load(&calls), i);
        CHECK_EQUAL(atomic_load(&dones), i);
    }
    CHECK_EQUAL(atomic_load(&on_thread), ROUNDS);
    CHECK_EQUAL(atomic_load(&held), ROUNDS);
}

static void a_function_runs_on_a_thread_that_spins(void)
{
    struct subject_thread thread;

    begin();
    start(&thread, spin);
    run_waiting(thread.tid);
    join(&thread);
    gait_stalker_destroy(stalker);
}

static void a_function_runs_on_a_thread_that_sleeps(void)
{
    struct subject_thread thread;

    begin();
    start(&thread, sleep_long);
    run_waiting(thread.tid);
    /* It still does. */
    subject_thread_wait_in(&thread, SYS_futex);
    join(&thread);
    gait_stalker_destroy(stalker);
}

/* ---- followed threads -------------------------------------------------------------------------------------------- */

static int ignore_events(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    (void)events;
    (void)count;
    return 0;
}

static const struct gait_event_sink sink = {ignore_events, NULL};

static void check_followed(void (*function)(void *), uint32_t events)
{
    struct gait_follow_options options = followed_options();
    struct subject_thread thread;

    options.events = events;
    options.sink = &sink;
    begin();
    start(&thread, function);
    CHECK_EQUAL(gait_stalker_follow(stalker, thread.tid, &options, NULL), 0);
    run_waiting(thread.tid);
    CHECK(gait_stalker_is_following(stalker, thread.tid));
    CHECK_EQUAL(gait_stalker_unfollow(stalker, thread.tid, NULL), 0);
    atomic_store(&calls, 0);
    atomic_store(&dones, 0);
    atomic_store(&held, 0);
    atomic_store(&on_thread, 0);
    run_waiting(thread.tid);
    join(&thread);
    gait_stalker_destroy(stalker);
}

/* Never an address of the cache, never a register of the engine's. */
static void it_sees_the_programs_registers_where_a_thread_is_followed(void)
{
    check_followed(spin, 0);
    check_followed(spin, GAIT_EVENT_BLOCK);
    check_followed(spin, GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC);
}

static void it_sees_the_programs_registers_where_a_followed_thread_sleeps(void)
{
    check_followed(sleep_long, 0);
    check_followed(sleep_long, GAIT_EVENT_BLOCK);
}

/* Followed and unfollowed all the time, by itself and by another thread. */
static void follow_in_turns(void *unused)
{
    (void)unused;
    while (!atomic_load(&finished)) {
        if (gait_stalker_follow_me(stalker, NULL, NULL) == 0)
            (void)gait_stalker_unfollow_me(stalker, NULL);
        atomic_fetch_add(&rounds, 1);
    }
}

static void threads_may_come_and_go_meanwhile(void)
{
    struct gait_thread_run run = run_of(false);
    struct subject_thread thread;

    begin();
    subject_thread_start(&thread, follow_in_turns, NULL);
    atomic_store(&expected_tid, thread.tid);
    subject_thread_wait_count(&rounds, 10);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), 0);
    CHECK_EQUAL(atomic_load(&calls), ROUNDS);
    CHECK_EQUAL(atomic_load(&on_thread), ROUNDS);
    atomic_store(&finished, true);
    subject_thread_join(&thread);
    gait_stalker_destroy(stalker);
}

/* ---- without waiting --------------------------------------------------------------------------------------------- */

static atomic_bool may_return;

static void hold_up(const struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    atomic_fetch_add(&calls, 1);
    while (!atomic_load(&may_return))
        ;
}

static void check_not_waiting(bool is_followed)
{
    struct gait_thread_run run = run_of(true);
    struct subject_thread thread;

    begin();
    start(&thread, spin);
    if (is_followed)
        CHECK_EQUAL(gait_stalker_follow(stalker, thread.tid, NULL, NULL), 0);
    run.function = hold_up;
    for (long i = 1; i <= 20; i++) {
        atomic_store(&may_return, false);
        CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), 0);
        subject_thread_wait_count(&calls, i);
        CHECK_EQUAL(atomic_load(&dones), i - 1);
        atomic_store(&may_return, true);
        subject_thread_wait_count(&dones, i);
    }
    join(&thread);
    gait_stalker_destroy(stalker);
    CHECK_EQUAL(atomic_load(&dones), 20);
    CHECK_EQUAL(atomic_load(&lost), 0);
}

static void nobody_has_to_wait_for_it(void)
{
    check_not_waiting(false);
    check_not_waiting(true);
}

static size_t mapped_pages(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        check_skip("there is no /proc");
    fclose(file);
    return pages;
}

/* Each takes a stack. */
static void runs_that_nobody_waits_for_are_given_back(void)
{
    struct gait_thread_run run = run_of(true);
    struct subject_thread thread;
    size_t before = 0;

    begin();
    start(&thread, spin);
    for (long i = 1; i <= 500; i++) {
        CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), 0);
        subject_thread_wait_count(&dones, i);
        if (i == 20)
            before = mapped_pages();
    }
    CHECK(mapped_pages() < before + 200);
    join(&thread);
    gait_stalker_destroy(stalker);
}

/* It ends in the middle of the function, which nobody should do. */
static void end_thread(const struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    syscall(SYS_exit, 0);
}

static void wait_for_nothing(void *unused)
{
    (void)unused;
    known_registers_wait(&word);
}

static void a_thread_that_ends_is_told(void)
{
    struct gait_thread_run run = run_of(true);
    struct subject_thread thread;

    begin();
    run.function = end_thread;
    subject_thread_start(&thread, wait_for_nothing, NULL);
    subject_thread_wait_in(&thread, SYS_futex);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), 0);
    subject_thread_join(&thread);
    /* Who joins a thread may be a little faster than its end. */
    while (atomic_load(&lost) == 0)
        gait_stalker_collect(stalker);
    CHECK_EQUAL(atomic_load(&lost), 1);
    CHECK_EQUAL(atomic_load(&dones), 0);
    gait_stalker_collect(stalker);
    CHECK_EQUAL(atomic_load(&lost), 1);
    /* And to who waits. */
    run.without_waiting = false;
    subject_thread_start(&thread, wait_for_nothing, NULL);
    subject_thread_wait_in(&thread, SYS_futex);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), -ESRCH);
    subject_thread_join(&thread);
    gait_stalker_destroy(stalker);
}

/* ---- oneself, and nobody ----------------------------------------------------------------------------------------- */

static uint64_t own_sp, own_pc;

static void look_at_own(const struct gait_cpu_context *cpu, void *data)
{
    *(int *)data += 1;
    own_sp = gait_cpu_stack_pointer(cpu);
    own_pc = cpu->pc;
}

static void the_calling_thread_runs_it_at_once(void)
{
    struct gait_thread_run run = run_of(true);
    int count = 0;

    begin();
    run.function = look_at_own;
    run.data = &count;
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, getpid(), &run, NULL), 0);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(atomic_load(&dones), 1);
    CHECK(own_sp < (uintptr_t)&count && own_sp > (uintptr_t)&count - 4096);
    CHECK(own_pc != 0);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, NULL), 0);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, getpid(), &run, NULL), 0);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(count, 2);
    gait_stalker_destroy(stalker);
}

static void nothing_runs_on_threads_that_are_not_ours(void)
{
    struct gait_thread_run run = run_of(false);
    struct gait_error err = {0};
    struct subject_thread thread;
    char text[200];
    pid_t child = fork();

    if (child == 0) {
        pause();
        _exit(0);
    }
    begin();
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, child, &run, &err), -ESRCH);
    snprintf(text, sizeof(text), "cannot run a function on thread %d: this process has no such thread, or it ended",
             (int)child);
    CHECK_TEXT(err.text, text);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    start(&thread, spin);
    join(&thread);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, thread.tid, &run, NULL), -ESRCH);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, 0, &run, NULL), -ESRCH);
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, -1, &run, NULL), -ESRCH);
    CHECK_EQUAL(atomic_load(&calls), 0);
    gait_stalker_destroy(stalker);
}

static void what_makes_no_sense_is_refused(void)
{
    struct gait_thread_run run = run_of(false);
    struct gait_error err = {0};

    begin();
    CHECK_EQUAL(gait_stalker_run_on_thread(NULL, getpid(), &run, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot run a function on a thread: there is no stalker, it is NULL");
    run.function = NULL;
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, getpid(), &run, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot run a function on a thread: there is none, function is NULL");
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, getpid(), NULL, &err), -EINVAL);
    run.size_bytes = 0;
    CHECK_EQUAL(gait_stalker_run_on_thread(stalker, getpid(), &run, &err), -EINVAL);
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_function_runs_on_a_thread_that_spins),
    CHECK_CASE(a_function_runs_on_a_thread_that_sleeps),
    CHECK_CASE(it_sees_the_programs_registers_where_a_thread_is_followed),
    CHECK_CASE(it_sees_the_programs_registers_where_a_followed_thread_sleeps),
    CHECK_CASE(threads_may_come_and_go_meanwhile),
    CHECK_CASE(nobody_has_to_wait_for_it),
    CHECK_CASE(runs_that_nobody_waits_for_are_given_back),
    CHECK_CASE(a_thread_that_ends_is_told),
    CHECK_CASE(the_calling_thread_runs_it_at_once),
    CHECK_CASE(nothing_runs_on_threads_that_are_not_ours),
    CHECK_CASE(what_makes_no_sense_is_refused),
};

CHECK_MAIN(cases)
