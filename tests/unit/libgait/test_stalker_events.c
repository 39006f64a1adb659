/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Which events a thread has, exactly, for code that is written so that the address of each instruction is known. */
#define _GNU_SOURCE
#include "gait/stalker.h"

#include "support/check.h"
#include "support/code_page.h"
#include "support/event_list.h"
#include "support/followed_call.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EVENTS_ALL 0x1fu

static struct code_page page;
static struct event_list event_list;

/* An event as the tests expect it: addresses are relative to the page. */
struct expected {
    uint32_t kind;
    uint64_t location;
    uint64_t target;
    int depth;
};

static uint64_t at(uint64_t offset)
{
    return code_page_start(&page) + offset;
}

static struct gait_follow_options options_for(uint32_t events)
{
    struct gait_follow_options options = followed_options();

    event_list_clear(&event_list);
    options.events = events;
    options.sink = &event_list.sink;
    return options;
}

static uint64_t run(struct gait_stalker *stalker, uint32_t events, uint64_t a, uint64_t b)
{
    struct gait_follow_options options = options_for(events);
    uint64_t value = followed_call(stalker, &options, at(0), a, b);

    event_list_filter(&event_list, EVENTS_ALL, at(0), code_page_end(&page));
    return value;
}

/* Runs in a stalker of its own. */
static uint64_t run_fresh(uint32_t events, uint64_t a, uint64_t b)
{
    struct gait_stalker *stalker = followed_call_stalker();
    uint64_t value = run(stalker, events, a, b);

    gait_stalker_destroy(stalker);
    return value;
}

static void check_events(const struct expected *expected, size_t count)
{
    CHECK_EQUAL(event_list.count, count);
    for (size_t i = 0; i < count && i < event_list.count; i++) {
        const struct gait_event *event = &event_list.events[i];

        CHECK_EQUAL(event->kind, expected[i].kind);
        CHECK_EQUAL(event->location - at(0), expected[i].location);
        if (expected[i].target != UINT64_MAX)
            CHECK_EQUAL(event->target - (event->target == 0 ? 0 : at(0)), expected[i].target);
        CHECK_EQUAL(event->depth, expected[i].depth);
        CHECK_EQUAL(event->tid, gettid());
    }
}

#define CHECK_EVENTS(...)                                                                                              \
    do {                                                                                                               \
        const struct expected check_expected[] = {__VA_ARGS__};                                                        \
        check_events(check_expected, sizeof(check_expected) / sizeof(check_expected[0]));                              \
    } while (0)

#define CALL(location, target, depth)                                                                                  \
    {                                                                                                                  \
        GAIT_EVENT_CALL, location, target, depth                                                                       \
    }
#define RET(location, target, depth)                                                                                   \
    {                                                                                                                  \
        GAIT_EVENT_RET, location, target, depth                                                                        \
    }
#define EXEC(location)                                                                                                 \
    {                                                                                                                  \
        GAIT_EVENT_EXEC, location, 0, 0                                                                                \
    }
#define BLOCK(start, end)                                                                                              \
    {                                                                                                                  \
        GAIT_EVENT_BLOCK, start, end, 0                                                                                \
    }
#define COMPILE(start, end)                                                                                            \
    {                                                                                                                  \
        GAIT_EVENT_COMPILE, start, end, 0                                                                              \
    }
#define OUTSIDE UINT64_MAX

/* A function that calls another one, which adds: rax = rdi + rsi. */
static void write_caller(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x55");                 /*  0: push rbp */
    CODE_PAGE_PUT(&page, "\xe8\x0a\x00\x00\x00"); /*  1: call 16 */
    CODE_PAGE_PUT(&page, "\x5d\xc3");             /*  6: pop rbp; 7: ret */
    CODE_PAGE_PUT(&page, "\xcc\xcc\xcc\xcc\xcc\xcc\xcc\xcc");
    CODE_PAGE_PUT(&page, "\x48\x8d\x04\x37\xc3"); /* 16: lea rax, [rdi+rsi]; 20: ret */
}

static void without_events_nobody_hears_anything(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(0, 40, 2), 42);
    CHECK_EQUAL(event_list.total, 0);
    CHECK_EQUAL(event_list.batches, 0);
}

static void calls_tell_where_and_whom(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(GAIT_EVENT_CALL, 40, 2), 42);
    CHECK_EVENTS(CALL(1, 16, 1));
}

static void returns_tell_where_from_and_to(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(GAIT_EVENT_RET, 40, 2), 42);
    CHECK_EVENTS(RET(20, 6, 2), RET(7, OUTSIDE, 1));
}

static void each_instruction_is_told_once(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(GAIT_EVENT_EXEC, 40, 2), 42);
    CHECK_EVENTS(EXEC(0), EXEC(1), EXEC(16), EXEC(20), EXEC(6), EXEC(7));
}

static void blocks_tell_where_they_begin_and_end(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(GAIT_EVENT_BLOCK, 40, 2), 42);
    CHECK_EVENTS(BLOCK(0, 6), BLOCK(16, 21), BLOCK(6, 8));
}

static void translations_are_told_once(void)
{
    struct gait_stalker *stalker = followed_call_stalker();

    write_caller();
    CHECK_EQUAL(run(stalker, GAIT_EVENT_COMPILE, 40, 2), 42);
    CHECK_EVENTS(COMPILE(0, 6), COMPILE(16, 21), COMPILE(6, 8));
    CHECK_EQUAL(run(stalker, GAIT_EVENT_COMPILE, 40, 3), 43);
    CHECK_EQUAL(event_list.count, 0);
    gait_stalker_destroy(stalker);
}

static void code_that_is_invalidated_is_told_again(void)
{
    struct gait_stalker *stalker = followed_call_stalker();

    write_caller();
    run(stalker, GAIT_EVENT_COMPILE, 40, 2);
    CHECK_EQUAL(gait_stalker_invalidate(stalker, at(18), 1, NULL), 0);
    CHECK_EQUAL(run(stalker, GAIT_EVENT_COMPILE, 40, 2), 42);
    CHECK_EVENTS(COMPILE(16, 21));
    gait_stalker_destroy(stalker);
}

static void all_kinds_come_in_the_order_of_what_happens(void)
{
    write_caller();
    CHECK_EQUAL(run_fresh(EVENTS_ALL & ~(uint32_t)GAIT_EVENT_COMPILE, 40, 2), 42);
    CHECK_EVENTS(BLOCK(0, 6), EXEC(0), EXEC(1), CALL(1, 16, 1), BLOCK(16, 21), EXEC(16), EXEC(20), RET(20, 6, 2),
                 BLOCK(6, 8), EXEC(6), EXEC(7), RET(7, OUTSIDE, 1));
}

static void a_block_is_translated_before_it_runs(void)
{
    uint64_t compiled[8] = {0};
    size_t count = 0;

    write_caller();
    CHECK_EQUAL(run_fresh(EVENTS_ALL, 40, 2), 42);
    CHECK_EQUAL(event_list_count(&event_list, GAIT_EVENT_COMPILE), 3);
    for (size_t i = 0; i < event_list.count; i++) {
        const struct gait_event *event = &event_list.events[i];
        bool found = false;

        if (event->kind == GAIT_EVENT_COMPILE && count < 8)
            compiled[count++] = event->location;
        for (size_t j = 0; j < count; j++)
            found |= compiled[j] == event->location;
        CHECK(event->kind != GAIT_EVENT_BLOCK || found);
    }
}

/* Calls itself rdi times. */
static void write_recursion(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x48\x85\xff\x74\x08");         /* 0: test rdi, rdi; 3: jz 13 */
    CODE_PAGE_PUT(&page, "\x48\xff\xcf");                 /* 5: dec rdi */
    CODE_PAGE_PUT(&page, "\xe8\xf3\xff\xff\xff\x90\xc3"); /* 8: call 0; 13: nop; 14: ret */
}

static void depth_follows_recursion(void)
{
    write_recursion();
    run_fresh(GAIT_EVENT_CALL | GAIT_EVENT_RET, 6, 0);
    CHECK_EQUAL(event_list.count, 13);
    for (size_t i = 0; i < 6 && event_list.count == 13; i++) {
        CHECK_EQUAL(event_list.events[i].kind, GAIT_EVENT_CALL);
        CHECK_EQUAL(event_list.events[i].location, at(8));
        CHECK_EQUAL(event_list.events[i].target, at(0));
        CHECK_EQUAL(event_list.events[i].depth, 1 + i);
    }
    for (size_t i = 0; i < 7 && event_list.count == 13; i++) {
        CHECK_EQUAL(event_list.events[6 + i].kind, GAIT_EVENT_RET);
        CHECK_EQUAL(event_list.events[6 + i].location, at(14));
        CHECK_EQUAL(event_list.events[6 + i].depth, 7 - i);
    }
}

static void depth_is_right_a_hundred_thousand_calls_down(void)
{
    enum { DEEP = 100000 };

    write_recursion();
    run_fresh(GAIT_EVENT_CALL | GAIT_EVENT_RET, DEEP, 0);
    CHECK_EQUAL(event_list.count, 2 * DEEP + 1);
    CHECK_EQUAL(event_list.events[DEEP - 1].depth, DEEP);
    CHECK_EQUAL(event_list.events[DEEP].depth, DEEP + 1);
    CHECK_EQUAL(event_list.events[2 * DEEP].depth, 1);
}

/* A function that returns to its caller's caller. */
static void a_return_past_frames_leaves_all_of_them(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xe8\x0b\x00\x00\x00"); /*  0: call 16 */
    CODE_PAGE_PUT(&page, "\xe8\x36\x00\x00\x00"); /*  5: call 64 */
    CODE_PAGE_PUT(&page, "\xc3\xcc\xcc\xcc\xcc\xcc");
    CODE_PAGE_PUT(&page, "\xe8\x1b\x00\x00\x00\xcc"); /* 16: call 48; never back */
    memset(page.bytes + 22, 0xcc, 64 - 22);
    memcpy(page.bytes + 48, "\x48\x83\xc4\x08\xc3", 5); /* 48: add rsp, 8; 52: ret */
    memcpy(page.bytes + 64, "\x31\xc0\xc3", 3);         /* 64: xor eax, eax; 66: ret */
    CHECK_EQUAL(run_fresh(GAIT_EVENT_CALL | GAIT_EVENT_RET, 0, 0), 0);
    CHECK_EVENTS(CALL(0, 16, 1), CALL(16, 48, 2), RET(52, 5, 2), CALL(5, 64, 1), RET(66, 10, 2), RET(10, OUTSIDE, 1));
}

/* A call that pushes data, whose address is popped: the return after it belongs to the function. */
static void a_call_that_never_returns_is_no_level(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xe8\x04\x00\x00\x00\xff\xff\xff\xff"); /* 0: call 9, over data */
    CODE_PAGE_PUT(&page, "\x58\x8b\x00\xc3");                     /* 9: pop rax; mov eax, [rax]; 12: ret */
    CHECK_EQUAL(run_fresh(GAIT_EVENT_CALL | GAIT_EVENT_RET, 0, 0), 0xffffffff);
    CHECK_EVENTS(CALL(0, 9, 1), RET(12, OUTSIDE, 1));
}

static void indirect_calls_tell_where_they_went(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x48\x8d\x05\x19\x00\x00\x00"); /*  0: lea rax, [32] */
    CODE_PAGE_PUT(&page, "\xff\xd0");                     /*  7: call rax */
    CODE_PAGE_PUT(&page, "\x50\xff\x14\x24\x58");         /*  9: push rax; 10: call [rsp]; 13: pop rax */
    CODE_PAGE_PUT(&page, "\x49\x89\xc3\x41\xff\xd3\xc3"); /* 14: mov r11, rax; 17: call r11; 20: ret */
    memcpy(page.bytes + 32, "\xff\xc6\xc3", 3);           /* 32: inc esi; 34: ret */
    run_fresh(GAIT_EVENT_CALL | GAIT_EVENT_RET, 0, 0);
    CHECK_EVENTS(CALL(7, 32, 1), RET(34, 9, 2), CALL(10, 32, 1), RET(34, 13, 2), CALL(17, 32, 1), RET(34, 20, 2),
                 RET(20, OUTSIDE, 1));
}

static jmp_buf jump_out;
static volatile int sink_of_work;

static __attribute__((noinline)) void leaf(void)
{
    sink_of_work++;
}

static __attribute__((noinline)) void go_down_and_jump(int levels)
{
    if (levels > 0)
        go_down_and_jump(levels - 1);
    else if (sink_of_work >= 0)
        longjmp(jump_out, 1);
    sink_of_work++;
}

static __attribute__((noinline)) uint64_t jump_between_leaves(uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    leaf();
    if (setjmp(jump_out) == 0)
        go_down_and_jump(20);
    leaf();
    return 5;
}

static void depth_is_right_after_a_long_jump(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    struct gait_stalker *stalker = followed_call_stalker();
    int depths[4], count = 0, entered = -1;

    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)jump_between_leaves, 0, 0), 5);
    for (size_t i = 0; i < event_list.count; i++) {
        const struct gait_event *event = &event_list.events[i];

        if (event->kind == GAIT_EVENT_CALL && event->target == (uintptr_t)jump_between_leaves)
            entered = event->depth;
        if (event->kind == GAIT_EVENT_CALL && event->target == (uintptr_t)leaf && count < 4)
            depths[count++] = event->depth;
    }
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(entered, 0);
    CHECK_EQUAL(depths[0], 1);
    CHECK_EQUAL(depths[1], 1);
    gait_stalker_destroy(stalker);
}

static __attribute__((noinline)) uint64_t jump_and_return(uint64_t a, uint64_t b)
{
    (void)a;
    (void)b;
    if (setjmp(jump_out) == 0)
        go_down_and_jump(20);
    return 6;
}

/* Nothing is called between the long jump and the return, which is still that of a function one level down. */
static void a_return_right_after_a_long_jump_has_its_own_depth(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    struct gait_stalker *stalker = followed_call_stalker();
    const struct gait_event *last = NULL;

    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)jump_and_return, 0, 0), 6);
    for (size_t i = 0; i < event_list.count; i++)
        if (event_list.events[i].kind == GAIT_EVENT_RET)
            last = &event_list.events[i];
    CHECK(last != NULL && last->depth == 1);
    gait_stalker_destroy(stalker);
}

static struct gait_stalker *stalker_of_callee;

static __attribute__((noinline)) void follow_in_callee(const struct gait_follow_options *options)
{
    struct gait_error err = {0};
    int failed = gait_stalker_follow_me(stalker_of_callee, options, &err);

    followed_call_require(failed, &err);
    leaf();
}

/* Following begins in a function that then returns: its callers are above where depth is counted from. */
static void following_goes_on_in_callers(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL | GAIT_EVENT_RET);
    int depths[4], count = 0;
    bool followed;

    stalker_of_callee = followed_call_stalker();
    follow_in_callee(&options);
    followed = gait_stalker_is_following_me(stalker_of_callee);
    leaf();
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker_of_callee, NULL), 0);
    CHECK(followed);
    for (size_t i = 0; i < event_list.count; i++)
        if (event_list.events[i].kind == GAIT_EVENT_CALL && event_list.events[i].target == (uintptr_t)leaf && count < 4)
            depths[count++] = event_list.events[i].depth;
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(depths[0], 0);
    CHECK_EQUAL(depths[1], -1);
    gait_stalker_destroy(stalker_of_callee);
}

/* Counts rdi down in a loop with calls. */
static void write_loop(void)
{
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\xe8\x0b\x00\x00\x00");     /*  0: call 16 */
    CODE_PAGE_PUT(&page, "\x48\xff\xcf\x75\xf6\xc3"); /*  5: dec rdi; 8: jnz 0; 10: ret */
    memset(page.bytes + 11, 0xcc, 5);
    memcpy(page.bytes + 16, "\xff\xc6\x89\xf0\xc3", 5); /* 16: inc esi; mov eax, esi; 20: ret */
}

static void check_loop(size_t rounds)
{
    static const struct expected round[] = {CALL(0, 16, 1), RET(20, 5, 2)};

    CHECK_EQUAL(event_list.count, 2 * rounds + 1);
    for (size_t i = 0; i + 1 < event_list.count; i++)
        if (event_list.events[i].location != at(round[i % 2].location) ||
            event_list.events[i].depth != round[i % 2].depth ||
            event_list.events[i].target != at(round[i % 2].target)) {
            CHECK_EQUAL(i, SIZE_MAX);
            return;
        }
}

static void buffers_of_every_size_hand_everything_over_in_order(void)
{
    static const size_t sizes[] = {1, 4096, 8192, 100000, 0, 1 << 20, 8 << 20};

    write_loop();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct gait_follow_options options = options_for(GAIT_EVENT_CALL | GAIT_EVENT_RET);
        struct gait_stalker *stalker = followed_call_stalker();

        options.buffer_bytes = sizes[i];
        followed_call(stalker, &options, at(0), 50000, 0);
        CHECK(event_list.batches > 1);
        CHECK(event_list.batch_most > 1);
        CHECK_EQUAL(followed_statistics(stalker).event_bytes_lost, 0);
        event_list_filter(&event_list, EVENTS_ALL, at(0), code_page_end(&page));
        check_loop(50000);
        gait_stalker_destroy(stalker);
    }
}

static void a_buffer_that_is_too_large_is_refused(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL);
    struct gait_stalker *stalker = followed_call_stalker();
    struct gait_error err = {0};

    options.buffer_bytes = (8 << 20) + 1;
    CHECK(gait_stalker_follow_me(stalker, &options, &err) < 0);
    CHECK_TEXT(err.text, "cannot follow a thread: buffer_bytes is 8388609; at most 8388608 are possible");
    options.buffer_bytes = SIZE_MAX;
    CHECK(gait_stalker_follow_me(stalker, &options, &err) < 0);
    CHECK(!gait_stalker_is_following_me(stalker));
    gait_stalker_destroy(stalker);
}

static uint64_t records_lost(size_t fails_at, size_t buffer_bytes, uint64_t *taken_out)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_BLOCK);
    struct gait_stalker *stalker = followed_call_stalker();
    uint64_t lost;

    options.buffer_bytes = buffer_bytes;
    event_list.fails_at = fails_at;
    followed_call(stalker, &options, at(0), 20000, 0);
    event_list.fails_at = 0;
    lost = followed_statistics(stalker).event_bytes_lost;
    CHECK_EQUAL(lost % 4, 0);
    *taken_out = event_list.total;
    if (fails_at != 0)
        CHECK_EQUAL(event_list.batches, fails_at);
    gait_stalker_destroy(stalker);
    return lost / 4;
}

/* A record of a block has 4 bytes when there are blocks only. */
static void events_after_an_error_of_the_sink_are_counted_as_lost(void)
{
    uint64_t all, taken, lost;

    write_loop();
    CHECK_EQUAL(records_lost(0, 0, &all), 0);
    CHECK(all > 60000);
    for (size_t fails_at = 1; fails_at < 40; fails_at += 3) {
        lost = records_lost(fails_at, 4096, &taken);
        CHECK_EQUAL(taken + lost, all);
        lost = records_lost(fails_at, 0, &taken);
        CHECK_EQUAL(taken + lost, all);
    }
}

static void events_without_a_sink_are_counted_when_they_are_dropped(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_BLOCK);
    struct gait_stalker *stalker = followed_call_stalker();

    write_loop();
    options.sink = NULL;
    options.buffer_bytes = 4096;
    CHECK_EQUAL(followed_call(stalker, &options, at(0), 20000, 7), 20007);
    CHECK(followed_statistics(stalker).event_bytes_lost > 50000 * 4);
    gait_stalker_destroy(stalker);
}

/* One of a sink for each thread that fails does not matter to the next time that it is followed. */
static void following_again_hears_the_sink_again(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL);
    struct gait_stalker *stalker = followed_call_stalker();

    write_caller();
    event_list.fails_at = 1;
    followed_call(stalker, &options, at(0), 1, 2);
    event_list.fails_at = 0;
    CHECK_EQUAL(run(stalker, GAIT_EVENT_CALL, 1, 2), 3);
    CHECK_EVENTS(CALL(1, 16, 1));
    gait_stalker_destroy(stalker);
}

static struct gait_event all_events[100000];

/* The next event of a kind that is wanted, or the count. */
static size_t next_wanted(size_t from, size_t count, uint32_t wanted)
{
    while (from < count && !(all_events[from].kind & wanted))
        from++;
    return from;
}

static void check_subset(size_t all_count, uint32_t mask)
{
    size_t all = next_wanted(0, all_count, mask);

    for (size_t i = 0; i < event_list.count; i++) {
        struct gait_event *event = &event_list.events[i];

        if (all == all_count || memcmp(event, &all_events[all], sizeof(*event)) != 0) {
            printf("events 0x%x: event %zu of kind %u at 0x%llx differs\n", mask, i, event->kind,
                   (unsigned long long)event->location);
            CHECK(false);
            return;
        }
        all = next_wanted(all + 1, all_count, mask);
    }
    CHECK_EQUAL(all, all_count);
}

/* What is wanted besides changes nothing about an event. COMPILE comes when the engine gets to it, so its order is its
 * own. */
static void every_combination_of_kinds_is_a_part_of_all(void)
{
    const uint32_t ordered = EVENTS_ALL & ~(uint32_t)GAIT_EVENT_COMPILE;
    size_t all_count, compiled;

    write_loop();
    run_fresh(EVENTS_ALL, 500, 0);
    compiled = event_list_count(&event_list, GAIT_EVENT_COMPILE);
    event_list_filter(&event_list, ordered, 0, UINT64_MAX);
    all_count = event_list.count;
    CHECK(all_count > 3000 && all_count < sizeof(all_events) / sizeof(all_events[0]));
    CHECK_EQUAL(compiled, 4);
    memcpy(all_events, event_list.events, all_count * sizeof(all_events[0]));
    for (uint32_t mask = 0; mask <= EVENTS_ALL; mask++) {
        CHECK_EQUAL(run_fresh(mask, 500, 7), 507);
        CHECK_EQUAL(event_list_count(&event_list, GAIT_EVENT_COMPILE), mask & GAIT_EVENT_COMPILE ? compiled : 0);
        event_list_filter(&event_list, ordered, 0, UINT64_MAX);
        check_subset(all_count, mask & ordered);
    }
}

static struct gait_stalker *flushing_stalker;
static size_t count_before_flush, count_after_flush;

static __attribute__((noinline)) uint64_t flush_in_between(uint64_t a, uint64_t b)
{
    (void)b;
    leaf();
    count_before_flush = event_list.count;
    gait_stalker_flush(flushing_stalker, NULL);
    count_after_flush = event_list.count;
    leaf();
    return a;
}

static size_t calls_of_leaf(size_t first, size_t end)
{
    size_t count = 0;

    for (size_t i = first; i < end; i++)
        count += event_list.events[i].kind == GAIT_EVENT_CALL && event_list.events[i].target == (uintptr_t)leaf;
    return count;
}

static void flushing_hands_over_what_happened_so_far(void)
{
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL);

    flushing_stalker = followed_call_stalker();
    CHECK_EQUAL(followed_call(flushing_stalker, &options, (uintptr_t)flush_in_between, 9, 0), 9);
    CHECK_EQUAL(count_before_flush, 0);
    CHECK(count_after_flush > 0);
    CHECK_EQUAL(calls_of_leaf(0, count_after_flush), 1);
    CHECK_EQUAL(calls_of_leaf(0, event_list.count), 2);
    gait_stalker_destroy(flushing_stalker);
}

static int flush_and_take(void *context, const struct gait_event *events, size_t count)
{
    int result = event_list.sink.process(event_list.sink.context, events, count);

    (void)context;
    if (event_list.batches < 1000)
        CHECK_EQUAL(gait_stalker_flush(flushing_stalker, NULL), 0);
    return result;
}

static void a_sink_that_flushes_gets_nothing_twice(void)
{
    static const struct gait_event_sink sink = {flush_and_take, NULL};
    struct gait_follow_options options = options_for(GAIT_EVENT_CALL | GAIT_EVENT_RET);

    flushing_stalker = followed_call_stalker();
    options.sink = &sink;
    options.buffer_bytes = 4096;
    write_loop();
    followed_call(flushing_stalker, &options, at(0), 5000, 0);
    event_list_filter(&event_list, EVENTS_ALL, at(0), code_page_end(&page));
    check_loop(5000);
    gait_stalker_destroy(flushing_stalker);
}

static __attribute__((noinline)) uint64_t use_the_heap(uint64_t rounds, uint64_t seed)
{
    void *volatile kept[16] = {0};
    uint64_t sum = seed;

    for (uint64_t i = 0; i < rounds; i++) {
        free(kept[i % 16]);
        kept[i % 16] = malloc(16 + i * 37 % 5000);
        memset(kept[i % 16], (int)i, 16);
        sum += *(unsigned char *)kept[i % 16];
    }
    for (size_t i = 0; i < 16; i++)
        free(kept[i]);
    return sum;
}

static void the_heap_works_while_everything_is_told(void)
{
    struct gait_follow_options options = options_for(EVENTS_ALL);
    struct gait_stalker *stalker = followed_call_stalker();

    CHECK_EQUAL(followed_call(stalker, &options, (uintptr_t)use_the_heap, 2000, 7), use_the_heap(2000, 7));
    CHECK(event_list.total > 2000 * 20);
    gait_stalker_destroy(stalker);
}

/* A call of time() in the vsyscall page, which cannot be read, and one of ours behind it. */
static void following_goes_on_behind_code_that_cannot_be_read(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    bool is_there = false;

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        is_there |= strstr(line, "[vsyscall]") != NULL;
    CHECK(maps != NULL && fclose(maps) == 0);
    if (!is_there) {
        puts("no vsyscall page: not tried");
        return;
    }
    code_page_rewind(&page);
    CODE_PAGE_PUT(&page, "\x48\x83\xec\x08"             /* 0: sub rsp, 8 */
                         "\x31\xff"                     /* 4: xor edi, edi */
                         "\x48\xc7\xc0\x00\x04\x60\xff" /* 6: mov rax, 0xffffffffff600400 */
                         "\xff\xd0"                     /* 13: call rax */
                         "\xe8\x05\x00\x00\x00"         /* 15: call 25 */
                         "\x48\x83\xc4\x08\xc3"         /* 20: add rsp, 8; ret */
                         "\xc3");                       /* 25: ret */
    CHECK(run_fresh(GAIT_EVENT_CALL, 0, 0) > 1000000000);
    CHECK_EQUAL(event_list.count, 2);
    CHECK_EQUAL(event_list.events[0].target, 0xffffffffff600400);
    CHECK_EQUAL(event_list.events[1].target, at(25));
    CHECK_EQUAL(event_list.events[0].depth, event_list.events[1].depth);
}

static const struct check_case cases[] = {
    CHECK_CASE(without_events_nobody_hears_anything),
    CHECK_CASE(calls_tell_where_and_whom),
    CHECK_CASE(returns_tell_where_from_and_to),
    CHECK_CASE(each_instruction_is_told_once),
    CHECK_CASE(blocks_tell_where_they_begin_and_end),
    CHECK_CASE(translations_are_told_once),
    CHECK_CASE(code_that_is_invalidated_is_told_again),
    CHECK_CASE(all_kinds_come_in_the_order_of_what_happens),
    CHECK_CASE(a_block_is_translated_before_it_runs),
    CHECK_CASE(depth_follows_recursion),
    CHECK_CASE(depth_is_right_a_hundred_thousand_calls_down),
    CHECK_CASE(a_return_past_frames_leaves_all_of_them),
    CHECK_CASE(a_call_that_never_returns_is_no_level),
    CHECK_CASE(indirect_calls_tell_where_they_went),
    CHECK_CASE(depth_is_right_after_a_long_jump),
    CHECK_CASE(a_return_right_after_a_long_jump_has_its_own_depth),
    CHECK_CASE(following_goes_on_in_callers),
    CHECK_CASE(buffers_of_every_size_hand_everything_over_in_order),
    CHECK_CASE(a_buffer_that_is_too_large_is_refused),
    CHECK_CASE(events_after_an_error_of_the_sink_are_counted_as_lost),
    CHECK_CASE(events_without_a_sink_are_counted_when_they_are_dropped),
    CHECK_CASE(following_again_hears_the_sink_again),
    CHECK_CASE(every_combination_of_kinds_is_a_part_of_all),
    CHECK_CASE(flushing_hands_over_what_happened_so_far),
    CHECK_CASE(a_sink_that_flushes_gets_nothing_twice),
    CHECK_CASE(the_heap_works_while_everything_is_told),
    CHECK_CASE(following_goes_on_behind_code_that_cannot_be_read),
};

int main(void)
{
    code_page_init(&page, 1 << 16);
    event_list_init(&event_list, 4 << 20);
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
