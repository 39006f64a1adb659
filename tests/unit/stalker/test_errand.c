/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
#define _GNU_SOURCE
#include "stalker/errand.h"

#include "gait/stalker.h"
#include "libgait/stalker_handle.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/event_log.h"
#include "support/followed_call.h"
#include "support/known_registers.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SENDERS 3
#define ERRANDS 100

static struct gait_stalker *stalker;
static struct event_log event_log;
static const struct gait_event_sink sink = {event_log_process, &event_log};
static atomic_bool finished;
static atomic_long rounds;
static atomic_int word;
static struct subject_thread subject;

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

static void start(void (*function)(void *), uint32_t events, const struct gait_transformer *transformer)
{
    struct gait_follow_options options = followed_options();

    options.events = events;
    options.sink = &sink;
    options.buffer_bytes = 8 << 20;
    options.transformer = transformer;
    stalker = followed_call_stalker();
    event_log_clear(&event_log);
    atomic_store(&finished, false);
    atomic_store(&rounds, 0);
    atomic_store(&word, 0);
    subject_thread_start(&subject, function, NULL);
    if (function == spin)
        subject_thread_wait_count(&rounds, 1);
    else
        subject_thread_wait_in(&subject, SYS_futex);
    CHECK_EQUAL(gait_stalker_follow(stalker, subject.tid, &options, NULL), 0);
}

static void join(void)
{
    atomic_store(&finished, true);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1000, NULL, NULL, 0);
    subject_thread_join(&subject);
    gait_stalker_destroy(stalker);
}

/* ---- errands ----------------------------------------------------------------------------------------------------- */

static long runs, elsewhere, strange; /* changed on one thread only */

static void count_run(struct stalker_thread *thread, void *context)
{
    (void)context;
    runs++;
    elsewhere += syscall(SYS_gettid) != subject.tid;
    strange += !known_registers_hold(&thread->context);
}

static void send_some(void *unused)
{
    (void)unused;
    for (int i = 0; i < ERRANDS; i++) {
        struct stalker_errand errand = {.run = count_run};

        CHECK_EQUAL(errand_send(stalker->engine, subject.tid, &errand), 0);
        CHECK_EQUAL(errand_wait(&errand, subject.tid), 0);
        CHECK_EQUAL(atomic_load(&errand.state), ERRAND_DONE);
    }
}

static void many_can_send_the_same_thread(void)
{
    struct subject_thread senders[SENDERS];

    runs = elsewhere = strange = 0;
    start(spin, 0, NULL);
    for (unsigned i = 0; i < SENDERS; i++)
        subject_thread_start(&senders[i], send_some, NULL);
    for (unsigned i = 0; i < SENDERS; i++)
        subject_thread_join(&senders[i]);
    CHECK_EQUAL(runs, SENDERS * ERRANDS);
    CHECK_EQUAL(elsewhere, 0);
    CHECK_EQUAL(strange, 0);
    join();
}

static atomic_bool is_held, may_go;

static void hold(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    atomic_store(&is_held, true);
    while (!atomic_load(&may_go))
        ;
}

static void hold_once(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    (void)context;
    while (gait_iterator_next(iterator, &instruction)) {
        if (instruction.address >= (uintptr_t)known_registers_start && !atomic_load(&is_held))
            gait_iterator_put_callout(iterator, hold, NULL, GAIT_CALLOUT_ANY);
        gait_iterator_keep(iterator);
    }
}

/* In a callout a thread cannot be taken away; the errand is taken back. */
static void a_thread_that_does_not_come_is_given_up(void)
{
    static const struct gait_transformer transformer = {hold_once, NULL};
    struct stalker_errand errand = {.run = count_run};

    runs = 0;
    atomic_store(&is_held, false);
    atomic_store(&may_go, false);
    start(spin, 0, &transformer);
    while (!atomic_load(&is_held))
        ;
    CHECK_EQUAL(errand_send(stalker->engine, subject.tid, &errand), -ETIMEDOUT);
    atomic_store(&may_go, true);
    /* Another one is run, the first one not. */
    send_some(NULL);
    CHECK_EQUAL(runs, ERRANDS);
    join();
}

static void nobody_is_sent_who_is_not_followed(void)
{
    struct stalker_errand errand = {.run = count_run};

    start(spin, 0, NULL);
    CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), 0);
    CHECK_EQUAL(errand_send(stalker->engine, subject.tid, &errand), -ESRCH);
    CHECK_EQUAL(errand_send(stalker->engine, 0, &errand), -ESRCH);
    join();
}

/* ---- flushing ---------------------------------------------------------------------------------------------------- */

static void flush(void)
{
    struct gait_error err = {0};

    CHECK_EQUAL(gait_stalker_flush_thread(stalker, subject.tid, &err), 0);
    CHECK_TEXT(err.text, "");
}

/* Its buffer would be full only after some two million blocks. */
static void a_thread_that_spins_hands_over_its_events(void)
{
    size_t before = 0;

    start(spin, GAIT_EVENT_BLOCK, NULL);
    for (int i = 0; i < 50; i++) {
        subject_thread_wait_count(&rounds, atomic_load(&rounds) + 10);
        flush();
        CHECK(atomic_load(&event_log.count) >= before + 10);
        before = atomic_load(&event_log.count);
    }
    CHECK(event_log_is_of(&event_log, subject.tid));
    join();
}

static void a_thread_that_sleeps_hands_over_its_events(void)
{
    start(sleep_long, GAIT_EVENT_BLOCK, NULL);
    subject_thread_wait_in(&subject, SYS_futex);
    flush();
    /* The block with the system call that it is in again. */
    CHECK(event_log_count_in(&event_log, (uintptr_t)known_registers_start, (uintptr_t)known_registers_end) > 0);
    subject_thread_wait_in(&subject, SYS_futex);
    join();
}

/* How many events there were of this thread, which has the process's number. */
static int count_events(void *own_count, const struct gait_event *events, size_t count)
{
    (void)events;
    atomic_fetch_add((atomic_size_t *)own_count, count);
    return 0;
}

static void all_threads_hand_over_their_events(void)
{
    struct gait_follow_options options = followed_options();
    atomic_size_t own_count = 0;
    const struct gait_event_sink own_sink = {count_events, &own_count};
    size_t own, others, before;

    start(spin, GAIT_EVENT_BLOCK, NULL);
    options.events = GAIT_EVENT_BLOCK;
    options.sink = &own_sink;
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    before = atomic_load(&event_log.count);
    subject_thread_wait_count(&rounds, atomic_load(&rounds) + 10);
    CHECK_EQUAL(gait_stalker_flush_all(stalker, NULL), 0);
    own = atomic_load(&own_count);
    others = atomic_load(&event_log.count) - before;
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(own > 0 && others > 0);
    join();
}

static void events_of_who_is_not_followed_cannot_be_handed_over(void)
{
    struct gait_error err = {0};

    start(spin, GAIT_EVENT_BLOCK, NULL);
    CHECK_EQUAL(gait_stalker_flush_thread(stalker, 1, &err), -ESRCH);
    CHECK_TEXT(err.text, "cannot hand over the events of thread 1: it is not followed");
    CHECK_EQUAL(gait_stalker_flush_thread(stalker, getpid(), NULL), -ESRCH);
    CHECK_EQUAL(gait_stalker_flush_thread(NULL, 1, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot hand over events: there is no stalker, it is NULL");
    CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), 0);
    CHECK_EQUAL(gait_stalker_flush_thread(stalker, subject.tid, NULL), -ESRCH);
    CHECK_EQUAL(gait_stalker_flush_all(stalker, NULL), 0);
    join();
}

static const struct check_case cases[] = {
    CHECK_CASE(many_can_send_the_same_thread),
    CHECK_CASE(a_thread_that_does_not_come_is_given_up),
    CHECK_CASE(nobody_is_sent_who_is_not_followed),
    CHECK_CASE(a_thread_that_spins_hands_over_its_events),
    CHECK_CASE(a_thread_that_sleeps_hands_over_its_events),
    CHECK_CASE(all_threads_hand_over_their_events),
    CHECK_CASE(events_of_who_is_not_followed_cannot_be_handed_over),
};

CHECK_MAIN(cases)
