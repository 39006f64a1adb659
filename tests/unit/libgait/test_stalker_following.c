/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* When following begins and ends, and what a thread that is followed may ask of the stalker. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "base/counters.h"
#include "support/check.h"
#include "support/code_page.h"
#include "support/event_list.h"
#include "support/followed_call.h"
#include "support/subject_thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct gait_stalker *stalker;
static volatile uint64_t work;

static __attribute__((noinline)) uint64_t compute(uint64_t a, uint64_t b)
{
    for (uint64_t i = 0; i < a; i++)
        work = work * 3 + b;
    return a + b;
}

static void nothing_is_needed_to_be_followed(void)
{
    stalker = followed_call_stalker();
    CHECK_EQUAL(followed_call(stalker, NULL, (uintptr_t)compute, 1000, 1), 1001);
    CHECK(followed_statistics(stalker).blocks > 0);
    gait_stalker_destroy(stalker);
}

#define CALLS 1000

/* `often` is called once, then gives way to `other`, whose address ends alike; then it is all that is called. */
static __attribute__((noinline)) uint64_t call_two(uint64_t often, uint64_t other)
{
    volatile uint64_t target = often;
    uint64_t sum = native_call(target, 1, 2);

    target = other;
    sum += native_call(target, 1, 2);
    target = often;
    for (int i = 0; i < CALLS; i++)
        sum += native_call(target, 1, 2);
    return sum;
}

static void targets_that_end_alike_do_not_disturb_each_other_for_long(void)
{
    /* lea (%rdi,%rsi), %rax; ret */
    static const uint8_t add[] = {0x48, 0x8d, 0x04, 0x37, 0xc3};
    uint8_t *code = mmap(NULL, 2 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t before;

    CHECK(code != MAP_FAILED);
    memcpy(code, add, sizeof(add));
    memcpy(code + (1 << 16), add, sizeof(add));
    stalker = followed_call_stalker();
    before = counter_read(COUNTER_indirect_places_renewed);
    CHECK_EQUAL(followed_call(stalker, NULL, (uintptr_t)call_two, (uintptr_t)code, (uintptr_t)code + (1 << 16)),
                3 * (CALLS + 2));
    CHECK(counter_read(COUNTER_indirect_places_renewed) > before);
    /* It is not given back and forth. */
    CHECK(counter_read(COUNTER_indirect_places_renewed) < before + CALLS / 100);
    gait_stalker_destroy(stalker);
    munmap(code, 2 << 16);
}

static void a_sink_is_not_needed_for_events(void)
{
    struct gait_follow_options options = followed_options();

    stalker = followed_call_stalker();
    options.events = 0x1f;
    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)compute, 100000, 1), 100001);
    gait_stalker_destroy(stalker);
}

static void a_thread_that_is_followed_cannot_be_followed_again(void)
{
    struct gait_error err = {0};
    char text[200];
    int first, second, unfollowed, again, last;

    stalker = followed_call_stalker();
    first = gait_stalker_follow_me(stalker, NULL, NULL);
    second = gait_stalker_follow_me(stalker, NULL, &err);
    unfollowed = gait_stalker_unfollow_me(stalker, NULL);
    again = gait_stalker_unfollow_me(stalker, NULL);
    last = gait_stalker_is_following_me(stalker);
    CHECK_EQUAL(first, 0);
    CHECK_EQUAL(second, -EALREADY);
    snprintf(text, sizeof(text), "cannot follow thread %d: it is followed already; unfollow it first", gettid());
    CHECK_TEXT(err.text, text);
    CHECK_EQUAL(unfollowed, 0);
    CHECK_EQUAL(again, -ESRCH);
    CHECK_EQUAL(last, 0);
    gait_stalker_destroy(stalker);
}

static int tid_to_ask;
static bool answer_of_other;

static void ask_for_other(void *context)
{
    (void)context;
    answer_of_other = gait_stalker_is_following(stalker, tid_to_ask);
}

static bool ask_on_another_thread(void)
{
    struct subject_thread thread;

    subject_thread_start(&thread, ask_for_other, NULL);
    subject_thread_join(&thread);
    return answer_of_other;
}

static void everybody_can_ask_who_is_followed(void)
{
    bool me, other, by_tid, others_answer;
    uint64_t threads;

    stalker = followed_call_stalker();
    tid_to_ask = gettid();
    CHECK(!ask_on_another_thread());
    if (gait_stalker_follow_me(stalker, NULL, NULL) != 0)
        return;
    me = gait_stalker_is_following_me(stalker);
    by_tid = gait_stalker_is_following(stalker, tid_to_ask);
    other = gait_stalker_is_following(stalker, 1);
    others_answer = ask_on_another_thread();
    threads = followed_statistics(stalker).threads;
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(me && by_tid && others_answer && !other);
    CHECK_EQUAL(threads, 1);
    CHECK_EQUAL(followed_statistics(stalker).threads, 0);
    CHECK(!ask_on_another_thread());
    gait_stalker_destroy(stalker);
}

/* Figures mean something. */
static void figures_grow_with_what_is_followed(void)
{
    struct gait_stalker_statistics before, after;

    stalker = followed_call_stalker();
    followed_call(stalker, NULL, (uintptr_t)compute, 10, 1);
    before = followed_statistics(stalker);
    followed_call(stalker, NULL, (uintptr_t)strverscmp, (uintptr_t) "a12", (uintptr_t) "a7");
    after = followed_statistics(stalker);
    CHECK(before.blocks > 0 && before.code_bytes > 0);
    CHECK(after.blocks > before.blocks);
    CHECK(after.code_bytes > before.code_bytes);
    CHECK(after.memory_bytes > before.memory_bytes);
    CHECK(after.memory_bytes >= after.code_bytes);
    CHECK_EQUAL(after.event_bytes_lost, 0);
    gait_stalker_destroy(stalker);
}

static __attribute__((noinline)) int unfollow_deep(int levels)
{
    if (levels == 0)
        return gait_stalker_unfollow_me(stalker, NULL);
    return unfollow_deep(levels - 1) + (int)(work & 0);
}

static void a_thread_can_be_unfollowed_deep_down(void)
{
    static struct event_list events;
    struct gait_follow_options options = followed_options();
    size_t count;
    int result;

    event_list_init(&events, 1 << 16);
    options.events = GAIT_EVENT_EXEC;
    options.sink = &events.sink;
    for (int levels = 0; levels < 8; levels++) {
        stalker = followed_call_stalker();
        result = gait_stalker_follow_me(stalker, &options, NULL);
        CHECK_EQUAL(result, 0);
        result = unfollow_deep(levels);
        count = events.count;
        CHECK_EQUAL(result, 0);
        CHECK(!gait_stalker_is_following_me(stalker));
        compute(100, 1);
        CHECK_EQUAL(events.count, count);
        CHECK(count > 0);
        gait_stalker_destroy(stalker);
        event_list_clear(&events);
    }
    event_list_deinit(&events);
}

/* Following ends and begins in functions at different depths, again and again. */
static void following_begins_and_ends_ten_thousand_times(void)
{
    uint64_t memory;

    stalker = followed_call_stalker();
    for (uint64_t i = 0; i < 100; i++)
        followed_call(stalker, NULL, (uintptr_t)compute, 3, i);
    memory = followed_statistics(stalker).memory_bytes;
    for (uint64_t i = 0; i < 10000; i++)
        if (followed_call(stalker, NULL, (uintptr_t)compute, 3, i) != i + 3)
            CHECK(false);
    CHECK_EQUAL(followed_statistics(stalker).memory_bytes, memory);
    gait_stalker_destroy(stalker);
}

/* Ways of following that differ, one after the other on one thread. */
static void a_thread_can_be_followed_in_other_ways_later(void)
{
    static struct event_list events;
    struct gait_follow_options options = followed_options();

    event_list_init(&events, 1 << 16);
    stalker = followed_call_stalker();
    for (uint32_t round = 0; round < 60; round++) {
        options.events = round % 3 == 0 ? 0 : round % 3 == 1 ? GAIT_EVENT_CALL : GAIT_EVENT_BLOCK | GAIT_EVENT_EXEC;
        options.sink = round % 2 == 0 ? &events.sink : NULL;
        options.buffer_bytes = round % 5 * 4096;
        event_list_clear(&events);
        CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)compute, 3, round), round + 3);
        CHECK_EQUAL(events.count != 0, options.events != 0 && options.sink != NULL);
    }
    gait_stalker_destroy(stalker);
    event_list_deinit(&events);
}

static void more_ways_than_an_engine_has_room_for_are_refused(void)
{
    struct gait_error err = {0};
    int refused = 0;

    stalker = followed_call_stalker();
    for (uint32_t events = 0; events <= 0x1f; events++) {
        struct gait_follow_options options = followed_options();
        int result;

        options.events = events;
        result = gait_stalker_prefetch(stalker, &options, (uintptr_t)compute, &err);
        CHECK(result == 0 || result == -ENOSPC);
        refused += result != 0;
    }
    CHECK(refused <= 16);
    gait_stalker_destroy(stalker);
}

/* ---- unfollowing around translations ----------------------------------------------------------------------------- */

static int unfollow_at; /* the number of the translation, or of the callout, at which it is asked for */
static int translations, callouts;

static void unfollow_in_callout(struct gait_cpu_context *cpu, void *data)
{
    (void)cpu;
    (void)data;
    if (++callouts == unfollow_at && gait_stalker_unfollow_me(stalker, NULL) != 0)
        unfollow_at = -1;
}

static void transform(void *context, struct gait_iterator *iterator)
{
    (void)context;
    translations++;
    while (gait_iterator_next(iterator, NULL)) {
        gait_iterator_put_callout(iterator, unfollow_in_callout, NULL, GAIT_CALLOUT_ANY);
        gait_iterator_keep(iterator);
    }
}

static const struct gait_transformer transformer = {transform, NULL};

/* Asked for between any two of the first instructions, it happens, and the program goes on right. */
static void unfollowing_is_possible_at_each_instruction(void)
{
    struct gait_follow_options options = followed_options();

    options.transformer = &transformer;
    for (int i = 1; i < 150; i++) {
        uint64_t value;

        stalker = followed_call_stalker();
        callouts = translations = 0;
        unfollow_at = i;
        if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
            CHECK(false);
        value = compute(20, (uint64_t)i);
        gait_stalker_flush(stalker, NULL);
        value += compute(20, 1);
        CHECK_EQUAL(value, 20 + i + 21);
        CHECK(!gait_stalker_is_following_me(stalker));
        CHECK_EQUAL(unfollow_at, i);
        gait_stalker_destroy(stalker);
    }
}

static struct code_page page;

/* A loop that never comes to the engine by itself leaves it right behind the callout that asked for that. */
static void a_thread_in_a_linked_loop_is_unfollowed_from_a_callout(void)
{
    struct gait_follow_options options = followed_options();

    code_page_init(&page, 4096);
    CODE_PAGE_PUT(&page, "\x89\xf8\xff\xcf\x75\xfc\xc3"); /* mov eax, edi; 2: dec edi; jnz 2; ret */
    options.transformer = &transformer;
    stalker = followed_call_stalker();
    callouts = 0;
    unfollow_at = 1000;
    if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
        CHECK(false);
    CHECK_EQUAL(native_call(code_page_start(&page), 1000000, 0), 1000000);
    CHECK_EQUAL(callouts, 1000);
    CHECK(!gait_stalker_is_following_me(stalker));
    gait_stalker_destroy(stalker);
    code_page_deinit(&page);
}

/* ---- sinks that use the stalker ---------------------------------------------------------------------------------- */

static uint64_t taken;

static int unfollow_in_sink(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    (void)events;
    taken += count;
    if (gait_stalker_is_following_me(stalker))
        (void)gait_stalker_unfollow_me(stalker, NULL);
    return 0;
}

static void a_thread_is_unfollowed_in_its_sink(void)
{
    static const struct gait_event_sink sink = {unfollow_in_sink, NULL};
    struct gait_follow_options options = followed_options();
    uint64_t value;

    stalker = followed_call_stalker();
    taken = 0;
    options.events = GAIT_EVENT_EXEC;
    options.sink = &sink;
    options.buffer_bytes = 4096;
    if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
        CHECK(false);
    value = compute(100000, 1);
    gait_stalker_flush(stalker, NULL);
    CHECK_EQUAL(value, 100001);
    CHECK(taken > 0);
    CHECK(!gait_stalker_is_following_me(stalker));
    gait_stalker_destroy(stalker);
}

/* Nor does it need to come to the engine for anything else than its events. */
static void a_thread_in_a_linked_loop_is_unfollowed_in_its_sink(void)
{
    static const struct gait_event_sink sink = {unfollow_in_sink, NULL};
    static const uint32_t kinds[] = {GAIT_EVENT_BLOCK, GAIT_EVENT_EXEC, 0x1f};
    struct gait_follow_options options = followed_options();
    uint64_t value;

    code_page_init(&page, 4096);
    CODE_PAGE_PUT(&page, "\x89\xf8\xff\xcf\x75\xfc\xc3"); /* mov eax, edi; 2: dec edi; jnz 2; ret */
    options.sink = &sink;
    options.buffer_bytes = 4096;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        stalker = followed_call_stalker();
        taken = 0;
        options.events = kinds[i];
        if (gait_stalker_follow_me(stalker, &options, NULL) != 0)
            CHECK(false);
        value = native_call(code_page_start(&page), 1000000, 0);
        CHECK_EQUAL(value, 1000000);
        /* What fits into a buffer or two. */
        CHECK(taken > 0 && taken < 20000);
        CHECK(!gait_stalker_is_following_me(stalker));
        gait_stalker_destroy(stalker);
    }
    code_page_deinit(&page);
}

static void a_stalker_of_its_own_does_not_know_what_another_follows(void)
{
    struct gait_stalker *other = followed_call_stalker();
    bool by_other;
    int result;

    stalker = followed_call_stalker();
    if (gait_stalker_follow_me(stalker, NULL, NULL) != 0)
        CHECK(false);
    by_other = gait_stalker_is_following_me(other);
    result = gait_stalker_unfollow_me(other, NULL);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK(!by_other);
    CHECK_EQUAL(result, -ESRCH);
    gait_stalker_destroy(stalker);
    gait_stalker_destroy(other);
}

static void a_thread_cannot_be_followed_by_two_stalkers_at_once(void)
{
    struct gait_stalker *other = followed_call_stalker();
    struct gait_error err = {0};
    int result;

    stalker = followed_call_stalker();
    if (gait_stalker_follow_me(stalker, NULL, NULL) != 0)
        CHECK(false);
    result = gait_stalker_follow_me(other, NULL, &err);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(result, -EALREADY);
    CHECK(!gait_stalker_is_following_me(other));
    gait_stalker_destroy(stalker);
    gait_stalker_destroy(other);
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_is_needed_to_be_followed),
    CHECK_CASE(targets_that_end_alike_do_not_disturb_each_other_for_long),
    CHECK_CASE(a_sink_is_not_needed_for_events),
    CHECK_CASE(a_thread_that_is_followed_cannot_be_followed_again),
    CHECK_CASE(everybody_can_ask_who_is_followed),
    CHECK_CASE(figures_grow_with_what_is_followed),
    CHECK_CASE(a_thread_can_be_unfollowed_deep_down),
    CHECK_CASE(following_begins_and_ends_ten_thousand_times),
    CHECK_CASE(a_thread_can_be_followed_in_other_ways_later),
    CHECK_CASE(more_ways_than_an_engine_has_room_for_are_refused),
    CHECK_CASE(unfollowing_is_possible_at_each_instruction),
    CHECK_CASE(a_thread_in_a_linked_loop_is_unfollowed_from_a_callout),
    CHECK_CASE(a_thread_is_unfollowed_in_its_sink),
    CHECK_CASE(a_thread_in_a_linked_loop_is_unfollowed_in_its_sink),
    CHECK_CASE(a_stalker_of_its_own_does_not_know_what_another_follows),
    CHECK_CASE(a_thread_cannot_be_followed_by_two_stalkers_at_once),
};

CHECK_MAIN(cases)
