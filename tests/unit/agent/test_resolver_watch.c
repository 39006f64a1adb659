/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Sanitized code is not followed. Followed code of the test calls functions that find others. */
#include "agent/resolver_watch.h"

#include "support/agent_lab.h"
#include "support/check_apart.h"

#include <pthread.h>
#include <setjmp.h>

#if defined(__x86_64__)

typedef void *resolver(void);

static struct stalker_engine *engine;
static const struct agent_pattern *found_by[8];
static uint64_t found[8];
static _Atomic unsigned found_count;

static void note(const struct agent_pattern *pattern, uint64_t address)
{
    unsigned which = found_count++;

    if (which < 8) {
        found_by[which] = pattern;
        found[which] = address;
    }
}

static AGENT_LAB_FUNCTION void *find_malloc(void)
{
    __asm__ volatile("");
    return (void *)malloc;
}

static AGENT_LAB_FUNCTION void *find_free(void)
{
    __asm__ volatile("");
    return (void *)free;
}

static AGENT_LAB_FUNCTION void *find_nothing(void)
{
    __asm__ volatile("");
    return NULL;
}

static AGENT_LAB_FUNCTION void *find_garbage(void)
{
    __asm__ volatile("");
    return (void *)0xdead0000;
}

static resolver *volatile called;

static void call(void)
{
    (void)called();
}

static void begin(void)
{
    agent_lab_begin(0, RING_DROP);
    engine = agent_lab_engine();
    resolver_watch_begin(engine, note);
}

static void run(resolver *function)
{
    called = function;
    agent_lab_follow(engine, 0, call);
}

static const struct agent_pattern first, second;

static void what_a_resolver_returns_is_told_for_each_pattern_once(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    CHECK(resolver_watch_add(&second, (uintptr_t)find_malloc));
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    run(find_malloc);
    CHECK_EQUAL(found_count, 2);
    CHECK_EQUAL(found[0], (uintptr_t)malloc);
    CHECK_EQUAL(found[1], (uintptr_t)malloc);
    CHECK(found_by[0] != found_by[1]);
}

static void several_resolvers_are_told_apart(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    CHECK(resolver_watch_add(&second, (uintptr_t)find_free));
    run(find_free);
    CHECK_EQUAL(found_count, 1);
    CHECK(found[0] == (uintptr_t)free && found_by[0] == &second);
    run(find_malloc);
    CHECK_EQUAL(found_count, 2);
    CHECK(found[1] == (uintptr_t)malloc && found_by[1] == &first);
}

/* The place behind the call is watched by now; others return there, too. */
static void what_others_return_to_the_same_place_is_not_told(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    run(find_malloc);
    run(find_free);
    CHECK_EQUAL(found_count, 1);
}

static void what_cannot_be_code_is_not_told(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_nothing));
    CHECK(resolver_watch_add(&first, (uintptr_t)find_garbage));
    run(find_nothing);
    run(find_garbage);
    CHECK_EQUAL(found_count, 0);
}

static jmp_buf behind;

static AGENT_LAB_FUNCTION void *jump_out(void)
{
    longjmp(behind, 1);
}

static void jump_and_call(void)
{
    if (setjmp(behind) == 0)
        (void)jump_out();
    call();
}

static void a_resolver_that_was_left_otherwise_does_not_count(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)jump_out));
    CHECK(resolver_watch_add(&second, (uintptr_t)find_free));
    called = find_free;
    agent_lab_follow(engine, 0, jump_and_call);
    CHECK_EQUAL(found_count, 1);
    CHECK(found_by[0] == &second);
}

static void *call_in_thread(void *unused)
{
    (void)unused;
    return called();
}

static void call_in_threads(void)
{
    pthread_t threads[4];

    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, call_in_thread, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void threads_do_not_get_into_each_others_way(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    called = find_malloc;
    agent_lab_follow(engine, 0, call_in_threads);
    CHECK_EQUAL(found_count, 4);
}

static void after_its_end_nothing_can_be_added(void)
{
    begin();
    CHECK(resolver_watch_add(&first, (uintptr_t)find_malloc));
    resolver_watch_end();
    CHECK(!resolver_watch_add(&first, (uintptr_t)find_free));
    resolver_watch_end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_a_resolver_returns_is_told_for_each_pattern_once),
    CHECK_CASE(several_resolvers_are_told_apart),
    CHECK_CASE(what_others_return_to_the_same_place_is_not_told),
    CHECK_CASE(what_cannot_be_code_is_not_told),
    CHECK_CASE(a_resolver_that_was_left_otherwise_does_not_count),
    CHECK_CASE(threads_do_not_get_into_each_others_way),
    CHECK_CASE(after_its_end_nothing_can_be_added),
};

CHECK_APART_MAIN(cases)

#else

int main(void)
{
    check_skip("threads are not followed on this CPU yet");
}

#endif
