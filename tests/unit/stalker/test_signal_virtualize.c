/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Handlers are followed like all other code, whatever the thread does, and whoever ends it meanwhile. */
#include "base/counters.h"
#include "gait/stalker.h"
#include "support/check.h"
#include "support/code_page.h"
#include "support/followed_call.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static struct gait_stalker *stalker;
static struct gait_error err;
static atomic_int calls, followed_calls, waiting, tid;
static atomic_bool go_on;

static void on_signal(int number)
{
    (void)number;
    followed_calls += gait_stalker_is_following_me(stalker);
    calls++;
}

static void on_signal_unfollow(int number)
{
    (void)number;
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
    calls++;
}

static void on_signal_wait(int number)
{
    (void)number;
    waiting = 1;
    while (!go_on)
        ;
    calls++;
}

static void begin(void (*handler)(int))
{
    calls = followed_calls = waiting = 0;
    go_on = false;
    signal(SIGUSR1, handler);
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, &err), 0);
}

static bool is_native(void (*handler)(int))
{
    struct sigaction action;

    sigaction(SIGUSR1, NULL, &action);
    return action.sa_handler == handler;
}

static void end(void)
{
    gait_stalker_destroy(stalker);
    stalker = NULL;
}

static void handlers_are_followed_and_given_back(void)
{
    uint64_t before = counter_read(COUNTER_signals_delivered);

    begin(on_signal);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &err), 0);
    CHECK(is_native(on_signal));
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
    CHECK_EQUAL(calls, 10);
    CHECK_EQUAL(followed_calls, 10);
    CHECK_EQUAL(counter_read(COUNTER_signals_delivered) - before, 10);
    raise(SIGUSR1);
    CHECK_EQUAL(calls, 11);
    CHECK_EQUAL(followed_calls, 10);
    end();
    CHECK(is_native(on_signal));
    stalker = NULL;
}

static void a_handler_may_end_following(void)
{
    begin(on_signal_unfollow);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &err), 0);
    raise(SIGUSR1);
    CHECK_EQUAL(calls, 1);
    CHECK(!gait_stalker_is_following_me(stalker));
    end();
}

static void *be_followed(void *unused)
{
    sigset_t set;

    (void)unused;
    tid = (int)syscall(SYS_gettid);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, NULL, &err), 0);
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &set);
    CHECK(!sigismember(&set, SIGUSR1));
    return NULL;
}

static void others_may_end_following_in_a_handler(void)
{
    pthread_t thread;

    begin(on_signal_wait);
    if (pthread_create(&thread, NULL, be_followed, NULL) != 0)
        check_skip("no thread to be had");
    while (!waiting)
        ;
    CHECK_EQUAL(gait_stalker_unfollow(stalker, tid, &err), 0);
    go_on = true;
    pthread_join(thread, NULL);
    CHECK_EQUAL(calls, 1);
    end();
}

static void raise_once(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    if (!atomic_exchange((atomic_bool *)data, true))
        raise(SIGUSR1);
}

static atomic_bool is_raised;

static void transform(void *data, struct gait_iterator *iterator)
{
    (void)data;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, raise_once, &is_raised, 0);
        gait_iterator_keep(iterator);
    }
}

static void what_comes_in_a_callout_waits_for_its_end(void)
{
    static const struct gait_transformer transformer = {.transform = transform};
    struct gait_follow_options options = {.size_bytes = sizeof(options), .transformer = &transformer};
    uint64_t before = counter_read(COUNTER_signals_deferred);

    begin(on_signal);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, &err), 0);
    while (calls == 0)
        ;
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
    CHECK_EQUAL(followed_calls, 1);
    CHECK_EQUAL(counter_read(COUNTER_signals_deferred) - before, 1);
    end();
}

/* ---- callouts that signals interrupt ------------------------------------------------------------------------------
 */

#define LOOPS 200000

static struct code_page page; /* dec rdi; jnz; ret */

#define LOOP_INSNS 2
#define LOOP_BYTES 5

static uint64_t callouts, second_callouts;

static void count_in_loop(struct gait_cpu_context *cpu, void *data)
{
    if (cpu->pc - code_page_start(&page) < LOOP_BYTES)
        ++*(uint64_t *)data;
}

static void transform_twice(void *data, struct gait_iterator *iterator)
{
    (void)data;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, count_in_loop, &callouts, 0);
        gait_iterator_put_callout(iterator, count_in_loop, &second_callouts, 0);
        gait_iterator_keep(iterator);
    }
}

static void on_tick(int number)
{
    (void)number;
    calls++;
}

static void callouts_that_signals_interrupt_are_made_once(void)
{
    static const struct gait_transformer transformer = {.transform = transform_twice};
    static const uint32_t events[] = {0, GAIT_EVENT_BLOCK};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};

    code_page_init(&page, 4096);
    CODE_PAGE_PUT(&page, "\x48\xff\xcf\x75\xfb\xc3");
    signal(SIGALRM, on_tick);
    for (unsigned i = 0; i < 2; i++) {
        struct gait_follow_options options = {
            .size_bytes = sizeof(options), .events = events[i], .transformer = &transformer};

        begin(on_signal);
        callouts = second_callouts = 0;
        CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, &err), 0);
        setitimer(ITIMER_REAL, &often, NULL);
        native_call(code_page_start(&page), LOOPS, 0);
        setitimer(ITIMER_REAL, &never, NULL);
        CHECK_EQUAL(gait_stalker_unfollow_me(stalker, &err), 0);
        CHECK(calls > 10);
        CHECK_EQUAL(callouts, LOOP_INSNS * LOOPS);
        CHECK_EQUAL(second_callouts, LOOP_INSNS * LOOPS);
        end();
    }
    code_page_deinit(&page);
}

static const struct check_case cases[] = {
    CHECK_CASE(handlers_are_followed_and_given_back),          CHECK_CASE(a_handler_may_end_following),
    CHECK_CASE(others_may_end_following_in_a_handler),         CHECK_CASE(what_comes_in_a_callout_waits_for_its_end),
    CHECK_CASE(callouts_that_signals_interrupt_are_made_once),
};

CHECK_MAIN(cases)
