/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "stalker/exclusion.h"

#include "gait/stalker.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/event_log.h"

#include <errno.h>
#include <execinfo.h>
#include <setjmp.h>
#include <unwind.h>

#define EVENTS (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)

/* Code of the test's is in one of these sections, so that it is known where an event comes from. */
#define EXCLUDED __attribute__((section("text_excluded"), noinline))
#define CALLBACK __attribute__((section("text_callback"), noinline))
#define OBSERVED __attribute__((section("text_observed"), noinline))
/* Keeps a call before it from becoming a jump. */
#define STAY_HERE() __asm__ volatile("" ::: "memory")

extern const char __start_text_excluded[], __stop_text_excluded[];
extern const char __start_text_callback[], __stop_text_callback[];
extern const char __start_text_observed[], __stop_text_observed[];

static struct gait_stalker *stalker;
static struct event_log event_log;
static const struct gait_event_sink sink = {event_log_process, &event_log};
static volatile unsigned sum;
static jmp_buf way_out;
static unsigned (*volatile excluded_pointer)(unsigned);

static size_t events_in(const char *start, const char *end)
{
    return event_log_count_in(&event_log, (uintptr_t)start, (uintptr_t)end);
}

static size_t excluded_events(void)
{
    return events_in(__start_text_excluded, __stop_text_excluded);
}

static size_t callback_events(void)
{
    return events_in(__start_text_callback, __stop_text_callback);
}

static void begin(bool callbacks_followed)
{
    struct gait_stalker_options options = {.size_bytes = sizeof(options), .callbacks_followed = callbacks_followed};

    CHECK_EQUAL(gait_stalker_create(&options, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, (uintptr_t)__start_text_excluded,
                                     (uintptr_t)(__stop_text_excluded - __start_text_excluded), NULL),
                0);
}

/* What is observed each time, behind the excluded code: its events prove that the thread is observed again. */
OBSERVED static unsigned observed_after(unsigned value)
{
    sum += value;
    STAY_HERE();
    return value * 3 + 1;
}

/* Runs the function followed, observed_after behind it, and returns what it did. */
static unsigned run(unsigned (*function)(unsigned), unsigned argument)
{
    struct gait_follow_options options = {.size_bytes = sizeof(options), .events = EVENTS, .sink = &sink};
    unsigned result, after;
    bool followed;

    event_log_clear(&event_log);
    CHECK_EQUAL(gait_stalker_follow_me(stalker, &options, NULL), 0);
    result = function(argument);
    followed = gait_stalker_is_following_me(stalker);
    after = observed_after(result);
    if (followed)
        CHECK_EQUAL(gait_stalker_unfollow_me(stalker, NULL), 0);
    CHECK_EQUAL(after, result * 3 + 1);
    CHECK_EQUAL(result, function(argument));
    return result;
}

/* The same, and checks that nothing was seen of excluded code, and everything behind it. */
static void check_quiet(unsigned (*function)(unsigned), unsigned argument)
{
    run(function, argument);
    CHECK_EQUAL(excluded_events(), 0);
    CHECK(event_log_count_in(&event_log, (uintptr_t)observed_after, (uintptr_t)observed_after + 1) >= 1);
}

/* ---- ways in ----------------------------------------------------------------------------------------------------- */

EXCLUDED static unsigned excluded_leaf(unsigned value)
{
    for (unsigned i = 0; i < 10; i++)
        sum += value ^ i;
    return value + 5;
}

EXCLUDED static unsigned excluded_calling_excluded(unsigned value)
{
    unsigned result = excluded_leaf(value) + excluded_leaf(value + 1);

    STAY_HERE();
    return result;
}

OBSERVED static unsigned calls_directly(unsigned value)
{
    unsigned result = excluded_leaf(value) + excluded_calling_excluded(value);

    return result + excluded_leaf(result);
}

OBSERVED static unsigned calls_through_a_pointer(unsigned value)
{
    unsigned result = 0;

    for (unsigned i = 0; i < 5; i++) {
        excluded_pointer = i % 2 == 0 ? excluded_leaf : excluded_calling_excluded;
        result += excluded_pointer(value + i);
    }
    return result;
}

unsigned ends_in_a_jump(unsigned value);
unsigned ends_in_an_indirect_jump(unsigned value);
unsigned calls_a_linkage_stub(unsigned value);
unsigned jumps_on_a_condition(unsigned value);
unsigned excluded_leaf_for_jumps(unsigned value);
extern unsigned (*pointer_for_jumps)(unsigned);
unsigned (*pointer_for_jumps)(unsigned) = excluded_leaf;

__asm__(".pushsection text_observed, \"ax\", @progbits\n"
        "ends_in_a_jump: add $1, %edi; jmp excluded_leaf_for_jumps\n"
        "ends_in_an_indirect_jump: add $2, %edi; mov pointer_for_jumps(%rip), %rax; jmp *%rax\n"
        "linkage_stub: jmp *pointer_for_jumps(%rip)\n"
        "calls_a_linkage_stub: push %rbx; lea 3(%rdi), %ebx; call linkage_stub; mov %ebx, %edi; mov %eax, %ebx\n"
        "    call linkage_stub; add %ebx, %eax; pop %rbx; ret\n"
        "jumps_on_a_condition: test $1, %dil; jz excluded_leaf_for_jumps; mov $7, %eax; ret\n"
        ".popsection\n"
        ".pushsection text_excluded, \"ax\", @progbits\n"
        "excluded_leaf_for_jumps: lea 9(%rdi), %eax; test %eax, %eax; jz 1f; inc %eax; 1: ret\n"
        ".popsection\n");

OBSERVED static unsigned jumps(unsigned value)
{
    unsigned result = 0;

    for (unsigned i = 0; i < 4; i++)
        result += ends_in_a_jump(value + i) + ends_in_an_indirect_jump(value) + calls_a_linkage_stub(value) +
                  jumps_on_a_condition(value + i);
    return result;
}

static void calls_into_the_range_are_not_observed(void)
{
    begin(false);
    check_quiet(calls_directly, 1);
    check_quiet(calls_through_a_pointer, 2);
    check_quiet(excluded_leaf, 3);
    gait_stalker_destroy(stalker);
}

static void jumps_into_the_range_are_not_observed(void)
{
    begin(false);
    check_quiet(jumps, 4);
    gait_stalker_destroy(stalker);
    begin(true);
    check_quiet(jumps, 5);
    gait_stalker_destroy(stalker);
}

static void a_range_can_be_excluded_while_its_code_is_known(void)
{
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    run(calls_directly, 1);
    CHECK(excluded_events() > 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, (uintptr_t)__start_text_excluded,
                                     (uintptr_t)(__stop_text_excluded - __start_text_excluded), NULL),
                0);
    check_quiet(calls_directly, 1);
    check_quiet(jumps, 1);
    gait_stalker_destroy(stalker);
}

/* ---- callbacks --------------------------------------------------------------------------------------------------- */

CALLBACK static unsigned callback_leaf(unsigned value)
{
    sum += value;
    return value * 2;
}

EXCLUDED static unsigned excluded_with_callback(unsigned value)
{
    unsigned (*volatile callback)(unsigned) = callback_leaf;
    unsigned result = callback(value) + callback_leaf(value + 1);

    STAY_HERE();
    return result + callback(result);
}

OBSERVED static unsigned calls_with_callback(unsigned value)
{
    return excluded_with_callback(value) + callback_leaf(value) + excluded_with_callback(value + 2);
}

CALLBACK static unsigned callback_calling_excluded(unsigned value)
{
    unsigned result = excluded_with_callback(value) + callback_leaf(value);

    return result + excluded_leaf(result);
}

EXCLUDED static unsigned excluded_outer(unsigned value)
{
    unsigned result = callback_calling_excluded(value);

    STAY_HERE();
    return result + callback_leaf(value);
}

OBSERVED static unsigned calls_nested(unsigned value)
{
    return excluded_outer(value) + excluded_outer(value + 1);
}

CALLBACK static unsigned callback_recursive(unsigned value);

EXCLUDED static unsigned excluded_recursive(unsigned value)
{
    unsigned result = value == 0 ? 1 : callback_recursive(value - 1) + value;

    STAY_HERE();
    return result;
}

CALLBACK static unsigned callback_recursive(unsigned value)
{
    unsigned result = excluded_recursive(value) * 3;

    STAY_HERE();
    return result;
}

OBSERVED static unsigned calls_recursive(unsigned value)
{
    return excluded_recursive(value) + callback_recursive(value);
}

/* The number of events with which the code that may be observed shows in a run. */
static size_t callback_events_of(unsigned (*function)(unsigned), unsigned argument, bool callbacks_followed)
{
    size_t events;

    begin(callbacks_followed);
    check_quiet(function, argument);
    events = callback_events();
    check_quiet(function, argument);
    CHECK_EQUAL(callback_events(), events);
    gait_stalker_destroy(stalker);
    return events;
}

/* The same without anything excluded. */
static size_t callback_events_of_all(unsigned (*function)(unsigned), unsigned argument)
{
    size_t events;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    run(function, argument);
    events = callback_events();
    gait_stalker_destroy(stalker);
    return events;
}

static void what_excluded_code_calls_is_observed_only_if_wanted(void)
{
    size_t once = callback_events_of_all(callback_leaf, 1);

    CHECK(once > 0);
    CHECK_EQUAL(callback_events_of_all(calls_with_callback, 1), 7 * once);
    /* One of the calls is made by observed code. */
    CHECK_EQUAL(callback_events_of(calls_with_callback, 1, false), once);
    CHECK_EQUAL(callback_events_of(calls_with_callback, 1, true), 7 * once);
}

static void excluded_calls_can_be_nested(void)
{
    CHECK_EQUAL(callback_events_of(calls_nested, 3, false), 0);
    CHECK_EQUAL(callback_events_of(calls_nested, 3, true), callback_events_of_all(calls_nested, 3));
}

/* Deeper than what the engine keeps apart. */
static void excluded_calls_can_recurse(void)
{
    static const unsigned depths[] = {0, 1, 2, QUIET_DEPTH_MAX, 100};

    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        size_t all = callback_events_of_all(calls_recursive, depths[i]);

        CHECK(callback_events_of(calls_recursive, depths[i], false) < all + (depths[i] == 0));
        CHECK_EQUAL(callback_events_of(calls_recursive, depths[i], true), all);
    }
}

/* ---- ways out ---------------------------------------------------------------------------------------------------- */

EXCLUDED static void excluded_jumping_out(unsigned value)
{
    sum += value;
    if (value < 100)
        longjmp(way_out, (int)value + 1);
    STAY_HERE();
}

EXCLUDED static void excluded_deep(unsigned value, unsigned depth)
{
    if (depth == 0)
        excluded_jumping_out(value);
    else
        excluded_deep(value, depth - 1);
    STAY_HERE();
}

OBSERVED static unsigned is_left_by_longjmp(unsigned value)
{
    volatile unsigned result = 0;

    for (volatile unsigned i = 0; i < 3; i++) {
        int code = setjmp(way_out);

        if (code == 0)
            excluded_deep(value + i, 5 * i);
        result += (unsigned)code;
        callback_leaf(result);
    }
    return result;
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context, void *frame)
{
    (void)version;
    (void)actions;
    (void)class;
    (void)exception;
    if (_Unwind_GetCFA(context) >= (uintptr_t)frame)
        longjmp(way_out, 1);
    return _URC_NO_REASON;
}

EXCLUDED static void excluded_throwing(void *frame)
{
    static struct _Unwind_Exception exception;

    _Unwind_ForcedUnwind(&exception, stop, frame);
    sum += 1000;
}

OBSERVED static unsigned is_left_by_unwinding(unsigned value)
{
    volatile unsigned result = value;

    for (volatile unsigned i = 0; i < 3; i++) {
        if (setjmp(way_out) == 0) {
            excluded_throwing(__builtin_frame_address(0));
            result += 1000;
        }
        result += callback_leaf(i);
    }
    return result;
}

CALLBACK static void callback_jumping_out(unsigned value)
{
    sum += value;
    longjmp(way_out, 2);
}

EXCLUDED static void excluded_left_from_callback(unsigned value)
{
    callback_jumping_out(value);
    STAY_HERE();
}

OBSERVED static unsigned is_left_from_a_callback(unsigned value)
{
    volatile unsigned result = value;

    for (volatile unsigned i = 0; i < 50; i++) {
        if (setjmp(way_out) == 0)
            excluded_left_from_callback(value);
        result += callback_leaf(i) + excluded_leaf(i);
    }
    return result;
}

static void observation_goes_on_after_a_long_jump(void)
{
    size_t once = callback_events_of_all(callback_leaf, 1);

    CHECK_EQUAL(callback_events_of(is_left_by_longjmp, 3, false), 3 * once);
    CHECK_EQUAL(callback_events_of(is_left_by_longjmp, 3, true), 3 * once);
    CHECK_EQUAL(callback_events_of(is_left_from_a_callback, 3, false), 50 * once);
    CHECK_EQUAL(callback_events_of(is_left_from_a_callback, 3, true),
                callback_events_of_all(is_left_from_a_callback, 3));
}

static void observation_goes_on_after_unwinding(void)
{
    size_t once = callback_events_of_all(callback_leaf, 1);

    CHECK_EQUAL(callback_events_of(is_left_by_unwinding, 3, false), 3 * once);
    CHECK_EQUAL(callback_events_of(is_left_by_unwinding, 3, true), 3 * once);
}

EXCLUDED static unsigned excluded_unfollowing(unsigned value)
{
    /* Not followed at all when it runs for comparison. */
    (void)!gait_stalker_unfollow_me(stalker, NULL);
    STAY_HERE();
    return value + !gait_stalker_is_following_me(stalker);
}

static void a_thread_can_be_unfollowed_in_excluded_code(void)
{
    for (int callbacks_followed = 0; callbacks_followed < 2; callbacks_followed++) {
        begin(callbacks_followed);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_EQUAL(run(excluded_unfollowing, 5), 6);
            CHECK_EQUAL(excluded_events(), 0);
            CHECK_EQUAL(events_in(__start_text_observed, __stop_text_observed), 0);
        }
        gait_stalker_destroy(stalker);
    }
}

EXCLUDED static unsigned excluded_backtrace(unsigned value)
{
    void *frames[64];
    int count = backtrace(frames, 64);

    STAY_HERE();
    return value + (unsigned)count;
}

OBSERVED static unsigned calls_backtrace(unsigned value)
{
    unsigned result = excluded_backtrace(value);

    STAY_HERE();
    return result;
}

/* run compares what it gives with what it gives natively. */
static void a_backtrace_in_excluded_code_is_the_native_one(void)
{
    begin(false);
    check_quiet(calls_backtrace, 0);
    CHECK(run(calls_backtrace, 0) >= 5);
    gait_stalker_destroy(stalker);
}

/* ---- pausing ---------------------------------------------------------------------------------------------------- */

OBSERVED static unsigned pauses_and_resumes(unsigned value)
{
    unsigned result = callback_leaf(value);

    /* Not followed when it runs for comparison. */
    (void)!gait_stalker_deactivate(stalker, NULL);
    for (unsigned i = 0; i < 5; i++)
        result += callback_leaf(i) + excluded_outer(i);
    (void)!gait_stalker_activate(stalker, NULL);
    return result + callback_leaf(value);
}

EXCLUDED static unsigned excluded_pausing(unsigned value)
{
    unsigned result = pauses_and_resumes(value);

    STAY_HERE();
    return result + callback_leaf(value);
}

OBSERVED static unsigned pauses_in_excluded_code(unsigned value)
{
    unsigned result = excluded_pausing(value);

    return result + callback_leaf(value);
}

static void a_paused_thread_is_not_observed_until_it_is_resumed(void)
{
    size_t once = callback_events_of_all(callback_leaf, 1);

    CHECK_EQUAL(callback_events_of(pauses_and_resumes, 1, false), 2 * once);
    CHECK_EQUAL(callback_events_of(pauses_and_resumes, 1, true), 2 * once);
    CHECK_EQUAL(callback_events_of(pauses_in_excluded_code, 1, true), 4 * once);
    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_deactivate(stalker, NULL), -ESRCH);
    CHECK_EQUAL(gait_stalker_activate(stalker, NULL), -ESRCH);
    gait_stalker_destroy(stalker);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

static void ranges_that_make_no_sense_are_refused_with_words(void)
{
    struct gait_error err;

    CHECK_EQUAL(gait_stalker_create(NULL, &stalker, NULL), 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0x1000, 0, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot exclude code: 0x1000 with 0 bytes is no range");
    CHECK_EQUAL(gait_stalker_exclude(stalker, UINT64_MAX - 5, 10, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot exclude code: 0xfffffffffffffffa with 10 bytes is no range");
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0x1000, 0x100, &err), 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0x10ff, 1, &err), -EEXIST);
    CHECK_TEXT(err.text, "cannot exclude 0x10ff with 1 bytes: a part of it is excluded already; exclude the rest");
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0x800, 0x1000, &err), -EEXIST);
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0xfff, 2, NULL), -EEXIST);
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0xfff, 1, NULL), 0);
    CHECK_EQUAL(gait_stalker_exclude(stalker, 0x1100, 1, NULL), 0);
    gait_stalker_destroy(stalker);
}

/* ---- taking it back ---------------------------------------------------------------------------------------------- */

static int include(uint64_t more_bytes, struct gait_error *err)
{
    return gait_stalker_include(stalker, (uintptr_t)__start_text_excluded,
                                (uintptr_t)(__stop_text_excluded - __start_text_excluded) + more_bytes, err);
}

static void code_that_is_included_again_is_observed(void)
{
    for (int callbacks_followed = 0; callbacks_followed < 2; callbacks_followed++) {
        begin(callbacks_followed);
        check_quiet(calls_through_a_pointer, 2);
        CHECK_EQUAL(include(0, NULL), 0);
        run(calls_through_a_pointer, 2);
        CHECK(excluded_events() > 0);
        CHECK_EQUAL(gait_stalker_exclude(stalker, (uintptr_t)__start_text_excluded,
                                         (uintptr_t)(__stop_text_excluded - __start_text_excluded), NULL),
                    0);
        check_quiet(calls_through_a_pointer, 2);
        gait_stalker_destroy(stalker);
    }
}

EXCLUDED static unsigned includes_itself(unsigned value)
{
    (void)include(0, NULL);
    return excluded_leaf(value);
}

OBSERVED static unsigned calls_what_includes_itself(unsigned value)
{
    return includes_itself(value) + excluded_leaf(value);
}

/* At the latest behind the call that was excluded. */
static void a_thread_can_take_back_the_exclusion_that_it_is_in(void)
{
    begin(false);
    run(calls_what_includes_itself, 4);
    CHECK(excluded_events() > 0);
    gait_stalker_destroy(stalker);
}

static void only_whole_exclusions_are_taken_back(void)
{
    struct gait_error err = {0};

    begin(false);
    CHECK_EQUAL(include(1, &err), -ENOENT);
    CHECK(strstr(err.text, "there is none with that address and size") != NULL);
    CHECK_EQUAL(gait_stalker_include(stalker, (uintptr_t)__start_text_excluded, 1, NULL), -ENOENT);
    CHECK_EQUAL(gait_stalker_include(stalker, 0, 0, NULL), -ENOENT);
    check_quiet(calls_directly, 1);
    CHECK_EQUAL(include(0, NULL), 0);
    CHECK_EQUAL(include(0, NULL), -ENOENT);
    CHECK_EQUAL(gait_stalker_include(NULL, 1, 1, &err), -EINVAL);
    CHECK_TEXT(err.text, "cannot take an exclusion back: there is no stalker, it is NULL");
    gait_stalker_destroy(stalker);
}

static void it_is_told_what_is_excluded(void)
{
    begin(false);
    CHECK(gait_stalker_is_excluded(stalker, (uintptr_t)__start_text_excluded));
    CHECK(gait_stalker_is_excluded(stalker, (uintptr_t)__stop_text_excluded - 1));
    CHECK(!gait_stalker_is_excluded(stalker, (uintptr_t)__stop_text_excluded));
    CHECK(!gait_stalker_is_excluded(stalker, (uintptr_t)__start_text_excluded - 1));
    CHECK(!gait_stalker_is_excluded(NULL, (uintptr_t)__start_text_excluded));
    CHECK_EQUAL(include(0, NULL), 0);
    CHECK(!gait_stalker_is_excluded(stalker, (uintptr_t)__start_text_excluded));
    gait_stalker_destroy(stalker);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_into_the_range_are_not_observed),
    CHECK_CASE(jumps_into_the_range_are_not_observed),
    CHECK_CASE(a_range_can_be_excluded_while_its_code_is_known),
    CHECK_CASE(what_excluded_code_calls_is_observed_only_if_wanted),
    CHECK_CASE(excluded_calls_can_be_nested),
    CHECK_CASE(excluded_calls_can_recurse),
    CHECK_CASE(observation_goes_on_after_a_long_jump),
    CHECK_CASE(observation_goes_on_after_unwinding),
    CHECK_CASE(a_thread_can_be_unfollowed_in_excluded_code),
    CHECK_CASE(a_backtrace_in_excluded_code_is_the_native_one),
    CHECK_CASE(a_paused_thread_is_not_observed_until_it_is_resumed),
    CHECK_CASE(ranges_that_make_no_sense_are_refused_with_words),
    CHECK_CASE(code_that_is_included_again_is_observed),
    CHECK_CASE(a_thread_can_take_back_the_exclusion_that_it_is_in),
    CHECK_CASE(only_whole_exclusions_are_taken_back),
    CHECK_CASE(it_is_told_what_is_excluded),
};

CHECK_MAIN(cases)
