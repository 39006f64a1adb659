/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 120 s */
/* Several at once, and threads that begin and end to be followed meanwhile. */
#define _GNU_SOURCE
#include "stalker/thread_visit.h"

#include "gait/stalker.h"
#include "libgait/stalker_handle.h"
#include "support/check.h"
#include "support/followed_call.h"
#include "support/known_registers.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <stdatomic.h>

#define VISITORS 3
#define VISITS   60

static struct gait_stalker *stalker;
static struct subject_thread subject;
static atomic_bool finished;
static atomic_long rounds, strange, inside, nested, visits;

static void spin(void *unused)
{
    (void)unused;
    known_registers_spin(&finished, &rounds);
}

static void start(void)
{
    stalker = followed_call_stalker();
    atomic_store(&finished, false);
    atomic_store(&rounds, 0);
    atomic_store(&strange, 0);
    atomic_store(&nested, 0);
    atomic_store(&visits, 0);
    subject_thread_start(&subject, spin, NULL);
    subject_thread_wait_count(&rounds, 1);
}

static void join(void)
{
    atomic_store(&finished, true);
    subject_thread_join(&subject);
    gait_stalker_destroy(stalker);
}

static void look(const struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    atomic_fetch_add(&nested, atomic_fetch_add(&inside, 1) != 0);
    atomic_fetch_add(&strange, !known_registers_hold(cpu));
    atomic_fetch_add(&visits, 1);
    atomic_fetch_sub(&inside, 1);
}

static void visit_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < VISITS; i++) {
        struct thread_visit visit = {.function = look};

        CHECK_EQUAL(thread_visit_begin(&visit, stalker->engine, subject.tid), 0);
        CHECK_EQUAL(thread_visit_end(&visit), 0);
    }
}

static void visit_from_all_sides(struct subject_thread *visitors)
{
    for (unsigned i = 0; i < VISITORS; i++)
        subject_thread_start(&visitors[i], visit_often, NULL);
}

static void check_visits(struct subject_thread *visitors)
{
    for (unsigned i = 0; i < VISITORS; i++)
        subject_thread_join(&visitors[i]);
    CHECK_EQUAL(atomic_load(&visits), VISITORS * VISITS);
    CHECK_EQUAL(atomic_load(&strange), 0);
    CHECK_EQUAL(atomic_load(&nested), 0);
}

/* One function never interrupts another: each sees the program. */
static void visits_come_one_after_the_other(void)
{
    struct subject_thread visitors[VISITORS];

    start();
    visit_from_all_sides(visitors);
    check_visits(visitors);
    CHECK(stalker->engine->visits == NULL);
    join();
}

static void a_thread_is_followed_and_unfollowed_between_visits(void)
{
    struct subject_thread visitors[VISITORS];

    start();
    visit_from_all_sides(visitors);
    while (atomic_load(&visits) < VISITORS * VISITS) {
        CHECK_EQUAL(gait_stalker_follow(stalker, subject.tid, NULL, NULL), 0);
        CHECK(gait_stalker_is_following(stalker, subject.tid));
        CHECK_EQUAL(gait_stalker_unfollow(stalker, subject.tid, NULL), 0);
    }
    check_visits(visitors);
    join();
}

static void there_is_nobody_to_visit(void)
{
    struct thread_visit visit = {.function = look};

    start();
    CHECK_EQUAL(thread_visit_begin(&visit, stalker->engine, 1), -ESRCH);
    CHECK_EQUAL(thread_visit_flush(stalker->engine, subject.tid), -ESRCH);
    CHECK(stalker->engine->visits == NULL);
    join();
}

static const struct check_case cases[] = {
    CHECK_CASE(visits_come_one_after_the_other),
    CHECK_CASE(a_thread_is_followed_and_unfollowed_between_visits),
    CHECK_CASE(there_is_nobody_to_visit),
};

CHECK_MAIN(cases)
