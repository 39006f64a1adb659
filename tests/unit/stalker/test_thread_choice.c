/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE

#include "arch/engine.h"
#include "gait/stalker.h"
#include "libgait/stalker_handle.h"
#include "stalker/exclusion.h"
#include "support/check.h"
#include "support/event_log.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct gait_stalker *stalker;
static struct event_log event_log;
static const struct gait_event_sink sink = {event_log_process, &event_log};
static volatile unsigned sum;
static _Atomic unsigned asked;
static int wanted_tid;

/* Threads with this name, or number. */
static bool wants(void *context, int tid, const char *name)
{
    (void)context;
    asked++;
    return tid == wanted_tid || strcmp(name, "chosen") == 0;
}

static const struct thread_chooser chooser = {.wants = wants};

static void begin(void)
{
    event_log_clear(&event_log);
    asked = 0;
    wanted_tid = 0;
    prctl(PR_SET_NAME, "main");
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(thread_choice_begin(stalker->engine, &chooser), 0);
}

static void end(void)
{
    gait_stalker_destroy(stalker);
}

static void follow(bool new_threads)
{
    struct gait_follow_options options = {
        .size_bytes = sizeof(options), .events = GAIT_EVENT_CALL, .sink = &sink, .new_threads = new_threads};

    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
}

__attribute__((noinline)) static void step(unsigned value)
{
    sum += value;
}

__attribute__((noinline)) static void walk(unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        step(i);
}

/* Calls of step that were told. */
static size_t steps_told(void)
{
    size_t count = 0, kept = event_log.count < EVENT_LOG_ROOM ? event_log.count : EVENT_LOG_ROOM;

    for (size_t i = 0; i < kept; i++)
        count += event_log.events[i].kind == GAIT_EVENT_CALL && event_log.events[i].target == (uintptr_t)step;
    return count;
}

static void a_thread_is_observed_while_it_has_the_name(void)
{
    begin();
    follow(false);
    walk(10);
    prctl(PR_SET_NAME, "chosen");
    walk(7);
    prctl(PR_SET_NAME, "other");
    walk(20);
    prctl(PR_SET_NAME, "chosen");
    walk(5);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(steps_told(), 12);
    CHECK_EQUAL(asked, 4);
    CHECK_EQUAL(sum, 0 + 45 + 21 + 190 + 10);
    sum = 0;
    end();
}

static void numbers_count_too(void)
{
    begin();
    wanted_tid = gettid();
    follow(false);
    walk(10);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(steps_told(), 10);
    end();
}

static void *name_and_walk(void *context)
{
    walk(3);
    if (context != NULL)
        prctl(PR_SET_NAME, context);
    walk(4);
    return NULL;
}

static void new_threads_are_asked_for_and_so_are_theirs(void)
{
    static char name[] = "chosen";
    pthread_t thread;

    begin();
    follow(true);
    CHECK_EQUAL(pthread_create(&thread, NULL, name_and_walk, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(steps_told(), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, name_and_walk, name), 0);
    pthread_join(thread, NULL);
    /* Its name is its child's. */
    prctl(PR_SET_NAME, "chosen");
    CHECK_EQUAL(pthread_create(&thread, NULL, name_and_walk, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(steps_told(), 4 + 7);
    end();
}

static void without_anybody_who_chooses_all_are_observed(void)
{
    event_log_clear(&event_log);
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    follow(false);
    walk(3);
    prctl(PR_SET_NAME, "another");
    walk(3);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(steps_told(), 6);
    end();
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_thread_is_observed_while_it_has_the_name),
        CHECK_CASE(numbers_count_too),
        CHECK_CASE(new_threads_are_asked_for_and_so_are_theirs),
        CHECK_CASE(without_anybody_who_chooses_all_are_observed),
    };

    if (engine_host() == NULL)
        check_skip("gait does not follow threads on this machine yet");
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
