/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "stalker/quiet_range.h"

#include "arch/engine.h"
#include "gait/stalker.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"
#include "support/event_list.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#define EVENTS_ALL (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)
#define ROUNDS     300000u

/* Code of the test's is in one of these sections, so that it is known where an event comes from. */
#define QUIET    __attribute__((section("text_quiet"), noinline))
#define OBSERVED __attribute__((section("text_observed"), noinline))
/* Keeps a call before it from becoming a jump. */
#define STAY_HERE() __asm__ volatile("" ::: "memory")

extern const char __start_text_quiet[], __stop_text_quiet[];
extern const char __start_text_observed[], __stop_text_observed[];

static struct gait_stalker *stalker;
static struct event_list list;
static volatile unsigned sum;
static volatile sig_atomic_t signals;
static jmp_buf way_out;

static void begin(void)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options)};

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_silence(stalker, (uintptr_t)__start_text_quiet,
                                     (uintptr_t)(__stop_text_quiet - __start_text_quiet), NULL),
                0);
}

static void end(void)
{
    gait_stalker_destroy(stalker);
    stalker = NULL;
}

/* Runs the function followed, and checks that it does what it does. */
static void run(uint32_t events, unsigned (*function)(unsigned), unsigned argument)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = events, .sink = &list.sink};
    unsigned result, again;

    event_list_clear(&list);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    result = function(argument);
    CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    again = function(argument);
    CHECK_EQUAL(result, again);
}

static size_t count_in(uint32_t kinds, uintptr_t start, uintptr_t limit)
{
    size_t count = 0;

    for (size_t i = 0; i < list.count; i++)
        count += (list.events[i].kind & kinds) && list.events[i].location >= start && list.events[i].location < limit;
    return count;
}

static size_t quiet_events(void)
{
    return count_in(UINT32_MAX, (uintptr_t)__start_text_quiet, (uintptr_t)__stop_text_quiet);
}

static size_t observed_events(uint32_t kinds)
{
    return count_in(kinds, (uintptr_t)__start_text_observed, (uintptr_t)__stop_text_observed);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

OBSERVED static unsigned callback(unsigned value)
{
    sum += value;
    STAY_HERE();
    return value + 1;
}

QUIET static unsigned quiet_leaf(unsigned value)
{
    for (unsigned i = 0; i < 10; i++)
        sum += value ^ i;
    return value + 5;
}

QUIET static unsigned quiet_calling_back(unsigned value)
{
    unsigned result = quiet_leaf(value) + callback(value) + callback(value + 1);

    STAY_HERE();
    return result;
}

OBSERVED static unsigned observed_caller(unsigned value)
{
    unsigned result = quiet_leaf(value);

    result += callback(result);
    result += quiet_calling_back(result);
    result += callback(result);
    STAY_HERE();
    return result;
}

static void only_what_is_in_quiet_code_is_not_told(void)
{
    begin();
    run(EVENTS_ALL, observed_caller, 3);
    CHECK_EQUAL(quiet_events(), 0);
    CHECK(observed_events(GAIT_EVENT_BLOCK) > 0 && observed_events(GAIT_EVENT_EXEC) > 0);
    /* Four calls by the caller; five returns: its own and those of callbacks, whoever called them. */
    CHECK_EQUAL(observed_events(GAIT_EVENT_CALL), 4);
    CHECK_EQUAL(observed_events(GAIT_EVENT_RET), 5);
    end();
}

static void depths_stay_right_though_returns_are_missing(void)
{
    int32_t depth = INT32_MAX;

    begin();
    run(GAIT_EVENT_CALL | GAIT_EVENT_RET, observed_caller, 3);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)__start_text_observed, (uintptr_t)__stop_text_observed);
    for (size_t i = 0; i < list.count; i++) {
        const struct gait_event *event = &list.events[i];

        if (event->kind == GAIT_EVENT_CALL) {
            if (depth == INT32_MAX)
                depth = event->depth;
            CHECK_EQUAL(event->depth, depth);
        }
    }
    /* The last is the caller's own return. */
    CHECK(list.count > 0 && list.events[list.count - 1].kind == GAIT_EVENT_RET);
    CHECK_EQUAL(list.events[list.count - 1].depth, depth);
    end();
}

QUIET static unsigned quiet_jumping_out(unsigned value)
{
    sum += value;
    longjmp(way_out, 1);
}

OBSERVED static unsigned observed_jumped_to(unsigned value)
{
    volatile unsigned kept = value;

    if (setjmp(way_out) == 0)
        kept = quiet_jumping_out(value);
    return callback(kept);
}

static void long_jumps_out_of_it_are_followed(void)
{
    begin();
    run(EVENTS_ALL, observed_jumped_to, 3);
    CHECK_EQUAL(quiet_events(), 0);
    CHECK_EQUAL(count_in(GAIT_EVENT_BLOCK, (uintptr_t)callback, (uintptr_t)callback + 1), 1);
    end();
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

unsigned loop_over_a_border(unsigned rounds);
extern const char border_begin[], border_end[], border_loop_end[];

/* Only the quiet part of the loop goes back. */
__asm__(".pushsection text_observed, \"ax\", @progbits\n"
        ".balign 4096\n"
        "loop_over_a_border: xor %eax, %eax\n"
        "1: add $3, %eax\n"
        "add $2, %eax\n"
        "border_begin: sub $1, %eax\n"
        "dec %edi\n"
        "jnz 1b\n"
        "add $7, %eax\n"
        "border_end: add $11, %eax\n"
        "ret\n"
        "border_loop_end: nop\n"
        ".popsection\n");

static void a_straight_run_is_cut_at_the_border(void)
{
    begin();
    CHECK_EQUAL(gait_stalker_silence(stalker, (uintptr_t)border_begin, (uintptr_t)(border_end - border_begin), NULL),
                0);
    run(EVENTS_ALL, loop_over_a_border, 3);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)loop_over_a_border, (uintptr_t)border_loop_end);
    CHECK_EQUAL(count_in(UINT32_MAX, (uintptr_t)border_begin, (uintptr_t)border_end), 0);
    /* xor, three times two of the loop, and two behind it. */
    CHECK_EQUAL(event_list_count(&list, GAIT_EVENT_EXEC), 1 + 3 * 2 + 2);
    CHECK_EQUAL(event_list_count(&list, GAIT_EVENT_BLOCK), 1 + 2 + 1);
    for (size_t i = 0; i < list.count; i++)
        if (list.events[i].kind == GAIT_EVENT_BLOCK)
            CHECK(list.events[i].target <= (uintptr_t)border_begin || list.events[i].location >= (uintptr_t)border_end);
    end();
}

static void buffers_are_emptied_on_the_way_through_quiet_code(void)
{
    begin();
    CHECK_EQUAL(gait_stalker_silence(stalker, (uintptr_t)border_begin, (uintptr_t)(border_end - border_begin), NULL),
                0);
    run(GAIT_EVENT_BLOCK, loop_over_a_border, ROUNDS);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)loop_over_a_border, (uintptr_t)border_loop_end);
    CHECK_EQUAL(list.count, 1 + (ROUNDS - 1) + 1);
    end();
}

static void code_that_ran_before_is_silenced(void)
{
    size_t before;

    begin();
    run(GAIT_EVENT_BLOCK, loop_over_a_border, ROUNDS);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)border_begin, (uintptr_t)border_end);
    before = list.count;
    CHECK(before > 0);
    CHECK_EQUAL(gait_stalker_silence(stalker, (uintptr_t)border_begin, (uintptr_t)(border_end - border_begin), NULL),
                0);
    run(GAIT_EVENT_BLOCK, loop_over_a_border, ROUNDS);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)loop_over_a_border, (uintptr_t)border_loop_end);
    CHECK_EQUAL(count_in(UINT32_MAX, (uintptr_t)border_begin, (uintptr_t)border_end), 0);
    CHECK_EQUAL(list.count, 1 + (ROUNDS - 1) + 1);
    CHECK_EQUAL(gait_stalker_unsilence(stalker, (uintptr_t)border_begin, (uintptr_t)(border_end - border_begin), NULL),
                0);
    run(GAIT_EVENT_BLOCK, loop_over_a_border, ROUNDS);
    event_list_filter(&list, UINT32_MAX, (uintptr_t)border_begin, (uintptr_t)border_end);
    CHECK_EQUAL(list.count, before);
    end();
}

/* ---- interruptions ----------------------------------------------------------------------------------------------- */

static void count_signal(int signal)
{
    (void)signal;
    signals++;
}

QUIET static unsigned quiet_until_signals(unsigned count)
{
    unsigned first = (unsigned)signals;

    while ((unsigned)signals - first < count)
        sum++;
    return count;
}

static void interrupted_quiet_code_tells_nothing(void)
{
    struct sigaction action = {.sa_handler = count_signal};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

    begin();
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    run(EVENTS_ALL, quiet_until_signals, 30);
    setitimer(ITIMER_REAL, &never, NULL);
    CHECK_EQUAL(quiet_events(), 0);
    /* The handler is observed, though nobody who is calls it. */
    CHECK(count_in(GAIT_EVENT_RET, (uintptr_t)count_signal, (uintptr_t)count_signal + 256) >= 30);
    end();
}

/* A quiet block that is interrupted has nothing to do with the instructions of the block that was told before it. */
static void interruptions_of_quiet_code_cut_no_other_code(void)
{
    struct sigaction action = {.sa_handler = count_signal};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

    begin();
    CHECK_EQUAL(gait_stalker_silence(stalker, (uintptr_t)border_begin, (uintptr_t)(border_end - border_begin), NULL),
                0);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 10; i++) {
        setitimer(ITIMER_REAL, &often, NULL);
        run(GAIT_EVENT_EXEC, loop_over_a_border, ROUNDS);
        setitimer(ITIMER_REAL, &never, NULL);
        event_list_filter(&list, UINT32_MAX, (uintptr_t)loop_over_a_border, (uintptr_t)border_loop_end);
        CHECK_EQUAL(list.count, 1 + ROUNDS * 2 + 2);
    }
    end();
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static uint64_t border_at(struct stalker_engine *engine, uint64_t address, bool is_quiet)
{
    struct app_pc border = {0};

    CHECK_EQUAL(quiet_range_find(engine, app_pc_of(address), &border), is_quiet);
    return border.value;
}

static void ranges_may_overlap(void)
{
    static const struct stalker_engine_options defaults;
    struct stalker_engine *engine;

    CHECK_EQUAL(stalker_engine_create(&defaults, &engine), 0);
    CHECK_EQUAL(border_at(engine, 0x1000, false), UINT64_MAX);
    CHECK_EQUAL(quiet_range_add(engine, 0x1000, 0x1000), -EINVAL);
    CHECK_EQUAL(quiet_range_add(engine, 0x2000, 0x1000), -EINVAL);
    CHECK_EQUAL(quiet_range_add(engine, 0x1000, 0x2000), 0);
    CHECK_EQUAL(quiet_range_add(engine, 0x1800, 0x2800), 0);
    CHECK_EQUAL(quiet_range_add(engine, 0x1900, 0x1a00), 0);
    CHECK_EQUAL(quiet_range_add(engine, 0x4000, 0x5000), 0);
    CHECK_EQUAL(border_at(engine, 0xfff, false), 0x1000);
    CHECK_EQUAL(border_at(engine, 0x1000, true), 0x2800);
    CHECK_EQUAL(border_at(engine, 0x27ff, true), 0x2800);
    CHECK_EQUAL(border_at(engine, 0x2800, false), 0x4000);
    CHECK_EQUAL(border_at(engine, 0x5000, false), UINT64_MAX);
    CHECK_EQUAL(quiet_range_remove(engine, 0x1400, 0x4800), 0);
    CHECK_EQUAL(border_at(engine, 0x1000, true), 0x1400);
    CHECK_EQUAL(border_at(engine, 0x1400, false), 0x4800);
    CHECK_EQUAL(border_at(engine, 0x4800, true), 0x5000);
    CHECK_EQUAL(quiet_range_remove(engine, 0x9000, 0xa000), 0);
    CHECK_EQUAL(quiet_range_remove(engine, 0x9000, 0x9000), -EINVAL);
    stalker_engine_destroy(engine);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(only_what_is_in_quiet_code_is_not_told),
        CHECK_CASE(depths_stay_right_though_returns_are_missing),
        CHECK_CASE(long_jumps_out_of_it_are_followed),
        CHECK_CASE(a_straight_run_is_cut_at_the_border),
        CHECK_CASE(buffers_are_emptied_on_the_way_through_quiet_code),
        CHECK_CASE(code_that_ran_before_is_silenced),
        CHECK_CASE(interrupted_quiet_code_tells_nothing),
        CHECK_CASE(interruptions_of_quiet_code_cut_no_other_code),
        CHECK_CASE(ranges_may_overlap),
    };
    int status;

    if (engine_host() == NULL)
        check_skip("gait does not follow threads on this machine yet");
    event_list_init(&list, 4 * ROUNDS);
    status = check_run(cases, sizeof(cases) / sizeof(cases[0]));
    event_list_deinit(&list);
    return status;
}
