/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/quiescence.h"

#include "hook/hook_stub.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <pthread.h>
#include <semaphore.h>

#if defined(__x86_64__)

static sem_t is_inside, may_leave;
static int (*hooked)(int);

static void wait_in_listener(struct gait_invocation *invocation)
{
    (void)invocation;
    sem_post(&is_inside);
    sem_wait(&may_leave);
}

static int same(int value)
{
    return value;
}

static void *call_hooked(void *unused)
{
    CHECK_EQUAL(hooked(7), 7);
    return unused;
}

static void it_is_reached_when_listeners_have_returned_that_ran(void)
{
    const struct hook_listener listener = {.enter = wait_in_listener};
    struct hook_quiescence before, during, after;
    pthread_t thread;

    sem_init(&is_inside, 0, 0);
    sem_init(&may_leave, 0, 0);
    hooked = (int (*)(int))hook_lab_hook_with((void *)same, HOOK_STUB_LISTEN | HOOK_STUB_RETURNS, &listener, 1);
    hook_quiescence_begin(&before);
    CHECK(hook_quiescence_reached(&before));
    CHECK_EQUAL(pthread_create(&thread, NULL, call_hooked, NULL), 0);
    sem_wait(&is_inside);
    /* Who came later found what is there now. */
    CHECK(hook_quiescence_reached(&before));
    hook_quiescence_begin(&during);
    CHECK(!hook_quiescence_reached(&during));
    sem_post(&may_leave);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(hook_quiescence_reached(&during));
    hook_quiescence_begin(&after);
    CHECK(hook_quiescence_reached(&after));
}

static bool was_reached;

static void look_from_inside(struct gait_invocation *invocation)
{
    struct hook_quiescence quiescence;

    (void)invocation;
    hook_quiescence_begin(&quiescence);
    was_reached = hook_quiescence_reached(&quiescence);
}

static void a_listener_does_not_wait_for_itself(void)
{
    const struct hook_listener listener = {.enter = look_from_inside};

    hooked = (int (*)(int))hook_lab_hook_with((void *)same, HOOK_STUB_LISTEN | HOOK_STUB_RETURNS, &listener, 1);
    CHECK_EQUAL(hooked(3), 3);
    CHECK(was_reached);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(it_is_reached_when_listeners_have_returned_that_ran),
    CHECK_CASE(a_listener_does_not_wait_for_itself),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
