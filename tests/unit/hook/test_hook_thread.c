/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/hook_thread.h"

#include "hook/hook_arena.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)

static int (*hooked)(int), (*recorded)(int);

static int same(int value)
{
    return value;
}

static uint32_t states(void)
{
    uint32_t count = 0;

    while (hook_thread_at(count) != NULL)
        count++;
    return count;
}

static void *use_hook(void *thread_out)
{
    CHECK(hook_thread_current() == NULL);
    CHECK_EQUAL(hooked(5), 5);
    *(struct hook_thread **)thread_out = hook_thread_current();
    CHECK_EQUAL(hook_thread_current()->tid, (uint32_t)gettid());
    return NULL;
}

static void each_thread_has_a_state_of_its_own(void)
{
    struct hook_thread *others[4] = {0};
    pthread_t threads[4];

    CHECK_EQUAL(hooked(5), 5);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, use_hook, &others[i]), 0);
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        CHECK(others[i] != NULL && others[i] != hook_thread_current());
    }
    CHECK_EQUAL(strlen(hook_lab_told()), 20);
}

static void states_of_dead_threads_are_used_again(void)
{
    struct hook_thread *state;
    pthread_t thread;
    uint32_t before;

    for (unsigned i = 0; i < 300; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, use_hook, &state), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
    }
    before = states();
    CHECK(before < 150);
    hook_threads_collect();
    for (unsigned i = 0; i < 50; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, use_hook, &state), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
    }
    CHECK_EQUAL(states(), before);
    (void)hook_lab_told();
}

static void *churn(void *unused)
{
    for (int i = 0; i < 50; i++)
        if (hooked(i) != i || recorded(i) != i)
            abort();
    return unused;
}

static void *churn_threads(void *unused)
{
    for (unsigned i = 0; i < 100; i++) {
        pthread_t threads[4];

        for (unsigned j = 0; j < 4; j++)
            CHECK_EQUAL(pthread_create(&threads[j], NULL, churn, NULL), 0);
        for (unsigned j = 0; j < 4; j++)
            CHECK_EQUAL(pthread_join(threads[j], NULL), 0);
        if (i % 10 == 0)
            hook_threads_collect();
    }
    return unused;
}

static void threads_may_come_and_go_all_the_time(void)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, churn_threads, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    (void)hook_lab_told();
    (void)hook_lab_recorded();
}

/* The program has a segment base of its own: it stays, and hooks work all the same. */
static void *use_own_base(void *unused)
{
    uint64_t base = 0;

    CHECK_EQUAL(syscall(SYS_arch_prctl, ARCH_SET_GS, 0x12345000ul), 0);
    for (int i = 0; i < 10; i++)
        CHECK(hooked(i) == i && recorded(i) == i);
    CHECK_EQUAL(syscall(SYS_arch_prctl, ARCH_GET_GS, &base), 0);
    CHECK_EQUAL(base, 0x12345000);
    CHECK_EQUAL(hook_thread_current()->tid, (uint32_t)gettid());
    return unused;
}

static void a_segment_base_of_the_programs_stays(void)
{
    pthread_t thread;

    (void)hook_lab_recorded();
    CHECK_EQUAL(pthread_create(&thread, NULL, use_own_base, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(strlen(hook_lab_told()), 40);
    CHECK_EQUAL(strlen(hook_lab_recorded()), 40);
}

/* ---- forks ------------------------------------------------------------------------------------------------------- */

static _Atomic unsigned forks;

static void forked(void)
{
    forks++;
}

static int errno_value;

static int *errno_place(void)
{
    return &errno_value;
}

static int in_child(void)
{
    uint32_t used = 0;
    struct hook_thread *thread;

    if (hooked(3) != 3 || forks != 1 || recorded(3) != 3 || forks != 1)
        return 1;
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        used += thread->tid != 0;
    return used == 1 && hook_thread_current()->tid == (uint32_t)gettid() ? 42 : 2;
}

static void a_forked_child_is_noticed_once(void)
{
    const struct hook_threads_options options = {.forked = forked, .errno_location = errno_place};
    int status;
    pid_t child;

    CHECK_EQUAL(hook_threads_begin(&options), 0);
    CHECK_EQUAL(hooked(3), 3);
    child = fork();
    if (child == 0)
        _exit(in_child());
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 42);
    CHECK_EQUAL(forks, 0);
    (void)hook_lab_told();
}

/* ---- the counter of time ----------------------------------------------------------------------------------------- */

static int counter_mode(void)
{
    int mode = 0;

    CHECK_EQUAL(prctl(PR_GET_TSC, &mode), 0);
    return mode;
}

/* Two calls of each kind: what a gate leaves behind it is what the next one finds. */
static void *call_without_counter(void *unused)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(hooked(1), 1);
        CHECK_EQUAL(recorded(1), 1);
        CHECK_EQUAL(counter_mode(), PR_TSC_SIGSEGV);
    }
    return unused;
}

static int forbid_and_fork(void)
{
    pthread_t thread;
    int status;
    pid_t child;

    hook_thread_forbid_counter(true);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        return 77;
    call_without_counter(NULL);
    CHECK_EQUAL(pthread_create(&thread, NULL, call_without_counter, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    child = fork();
    if (child == 0) {
        call_without_counter(NULL);
        _exit(42);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 42);
    hook_thread_forbid_counter(false);
    CHECK_EQUAL(prctl(PR_SET_TSC, PR_TSC_ENABLE), 0);
    CHECK_EQUAL(hooked(1), 1);
    CHECK_EQUAL(counter_mode(), PR_TSC_ENABLE);
    return 0;
}

static void who_forbids_itself_the_counter_is_told_of_all_the_same(void)
{
    if (forbid_and_fork() != 0)
        return;
    CHECK_TEXT(hook_lab_told(), "+s-s+s-s+s-s+s-s+s-s");
    CHECK_EQUAL(strlen(hook_lab_recorded()), 16);
}

/* ---- ignoring ---------------------------------------------------------------------------------------------------- */

static sem_t step, stepped;

static void *call_in_steps(void *unused)
{
    for (unsigned i = 0; i < 3; i++) {
        sem_wait(&step);
        CHECK_EQUAL(hooked(1), 1);
        CHECK_EQUAL(i == 1 ? hook_thread_ignore_others() : -EBUSY, -EBUSY);
        sem_post(&stepped);
    }
    return unused;
}

static void take_step(void)
{
    sem_post(&step);
    sem_wait(&stepped);
}

static void other_threads_can_be_ignored(void)
{
    pthread_t thread;

    sem_init(&step, 0, 0);
    sem_init(&stepped, 0, 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, call_in_steps, NULL), 0);
    take_step();
    CHECK_TEXT(hook_lab_told(), "+s-s");
    CHECK_EQUAL(hook_thread_ignore_others(), 0);
    take_step();
    CHECK_TEXT(hook_lab_told(), "");
    CHECK_EQUAL(hooked(1), 1);
    CHECK_TEXT(hook_lab_told(), "+s-s");
    hook_thread_listen_to_others();
    take_step();
    CHECK_TEXT(hook_lab_told(), "+s-s");
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void *call_once(void *unused)
{
    CHECK_EQUAL(hooked(1), 1);
    return unused;
}

static void threads_that_begin_meanwhile_are_ignored_too(void)
{
    pthread_t thread;

    CHECK_EQUAL(hook_thread_ignore_others(), 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, call_once, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_TEXT(hook_lab_told(), "");
    hook_thread_listen_to_others();
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(each_thread_has_a_state_of_its_own),
    CHECK_CASE(states_of_dead_threads_are_used_again),
    CHECK_CASE(threads_may_come_and_go_all_the_time),
    CHECK_CASE(a_segment_base_of_the_programs_stays),
    CHECK_CASE(other_threads_can_be_ignored),
    CHECK_CASE(threads_that_begin_meanwhile_are_ignored_too),
    CHECK_CASE(a_forked_child_is_noticed_once),
    CHECK_CASE(who_forbids_itself_the_counter_is_told_of_all_the_same),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
    hooked = (int (*)(int))hook_lab_hook((void *)same, 's', LISTENED);
    recorded = (int (*)(int))hook_lab_hook((void *)same, 'r', RECORDED);
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
