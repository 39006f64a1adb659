/* SPDX-License-Identifier: MIT */
#include "view/call_tracker.h"

#include "support/call_log.h"
#include "support/check.h"
#include "trace/trace_events.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct call_log call_log;
static struct call_tracker tracker;
static const struct trace_span exact = {.first_time = 0};

static void begin(void)
{
    struct call_receiver receiver = call_log_receiver(&call_log);

    call_tracker_init(&tracker, &receiver);
}

static void end(const char *expected)
{
    call_tracker_finish(&tracker);
    call_tracker_deinit(&tracker);
    CHECK_TEXT(call_log.text, expected);
}

static void take(const struct gait_event *events, size_t count)
{
    CHECK_EQUAL(call_tracker_take(&tracker, events, count, &exact), 0);
}

static struct gait_event enter(uint64_t function, int32_t depth, uint64_t time)
{
    return (struct gait_event){.kind = GAIT_EVENT_ENTER, .location = function, .depth = depth, .time = time};
}

static struct gait_event leave(uint64_t function, int32_t depth, uint64_t time)
{
    return (struct gait_event){.kind = GAIT_EVENT_LEAVE, .location = function, .depth = depth, .time = time};
}

static struct gait_event call(uint64_t site, uint64_t target, int32_t depth, uint64_t time)
{
    return (struct gait_event){
        .kind = GAIT_EVENT_CALL, .location = site, .target = target, .depth = depth, .time = time};
}

static struct gait_event ret(uint64_t target, int32_t depth, uint64_t time)
{
    return (struct gait_event){.kind = GAIT_EVENT_RET, .target = target, .depth = depth, .time = time};
}

static void hooked_functions_nest(void)
{
    const struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), leave(0xb, 1, 15),
                                        enter(0xc, 1, 16), leave(0xc, 1, 20), leave(0xa, 0, 30)};

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 b@15/0> <c@16 c@20/0> a@30/7> ");
}

/* It ends where it begins, and whoever called it has the time; so has who called what a signal handler did meanwhile.
 */
static void what_is_known_by_its_entry_only_takes_no_time(void)
{
    struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), leave(0xb, 1, 15), enter(0xb, 1, 16),
                                  enter(0xc, 2, 17), leave(0xc, 2, 19), leave(0xb, 1, 20), leave(0xa, 0, 30)};

    events[2].is_entry_only = events[6].is_entry_only = 1;
    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 b@12/0 entry only> <b@16 <c@17 c@19/0> b@16/0 entry only> a@30/2> ");
}

static void unwound_functions_say_so(void)
{
    struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), leave(0xb, 1, 15)};

    events[2].is_unwound = 1;
    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 b@15/0 unwound> a@15/3 cut> ");
}

/* A call at a depth says that all at that depth, and below, is over. */
static void ends_that_nobody_told_are_found(void)
{
    const struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), enter(0xc, 2, 13), enter(0xd, 1, 20),
                                        leave(0xa, 0, 30)};

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 <c@13 c@20/0 no return> b@20/7 no return> <d@20 d@30/0 no return> a@30/18> ");
}

static void calls_and_returns_are_joined(void)
{
    const struct gait_event events[] = {call(0x100, 0xa00, 0, 10), call(0xa10, 0xb00, 1, 11), ret(0xa15, 2, 15),
                                        ret(0x105, 1, 20), ret(0x999, 0, 25)};

    begin();
    take(events, COUNT(events));
    end("<a00@10 <b00@11 b00@15/0> a00@20/4> ");
}

/* main, at 0x400, called what was left out, and returns to what was left out: nobody else tells of that. */
static void a_caller_that_returns_ends_what_it_called(void)
{
    struct gait_event events[] = {call(0x420, 0x9000, 0, 10), ret(0x8000, 1, 12), call(0x900, 0xa00, 0, 20)};

    events[1].location = 0x440;
    begin();
    take(events, COUNT(events));
    end("<9000@10 9000@12/0 no return> <a00@20 a00@20/0 cut> ");
    /* In the function that was called it is a jump, however near that is. */
    events[1].location = 0x9010;
    call_log = (struct call_log){.used = 0};
    begin();
    take(events, 2);
    end("<9000@10 9000@12/0 cut> ");
    events[0].target = 0x430;
    events[1].location = 0x438;
    call_log = (struct call_log){.used = 0};
    begin();
    take(events, 2);
    end("<430@10 430@12/0 cut> ");
}

/* A return to elsewhere is a jump. */
static void returns_that_are_jumps_end_nothing(void)
{
    const struct gait_event events[] = {call(0x100, 0xa00, 0, 10), ret(0xc00, 1, 12), ret(0x105, 1, 20)};

    begin();
    take(events, COUNT(events));
    end("<a00@10 a00@20/0> ");
}

/* A long jump goes over frames, which the next return shows. */
static void frames_that_were_left_out_end_with_the_one_that_returns(void)
{
    const struct gait_event events[] = {call(0x100, 0xa00, 0, 10), call(0xa10, 0xb00, 1, 11), call(0xb10, 0xc00, 2, 12),
                                        ret(0x105, 1, 20)};

    begin();
    take(events, COUNT(events));
    end("<a00@10 <b00@11 <c00@12 c00@20/0 no return> b00@20/8 no return> a00@20/9> ");
}

static void what_is_open_at_a_gap_is_cut(void)
{
    const struct gait_event before[] = {enter(0xa, 0, 10), enter(0xb, 1, 12)};
    const struct gait_event after[] = {leave(0xb, 1, 40), enter(0xc, 1, 50), leave(0xc, 1, 60), leave(0xa, 0, 70)};

    begin();
    take(before, COUNT(before));
    call_tracker_lose(&tracker, 64);
    take(after, COUNT(after));
    end("<a@10 <b@12 b@12/0 cut> a@12/0 cut> !64@12 <c@50 c@60/0> ");
}

static void times_between_marks_are_guesses(void)
{
    const struct trace_span span = {.is_interpolated = true, .first_guess = 100, .last_guess = 140};
    const struct gait_event events[] = {call(0x100, 0xa00, 0, 0), call(0xa10, 0xb00, 1, 0), ret(0xa15, 2, 0),
                                        ret(0x105, 1, 0)};

    begin();
    CHECK_EQUAL(call_tracker_take(&tracker, events, COUNT(events), &span), 0);
    end("<a00@100 <b00@110 b00@120/0~> a00@130/10~> ");
}

/* Counters of two CPUs may differ a little: no time is negative. */
static void time_does_not_go_back(void)
{
    const struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 8), leave(0xb, 1, 9), leave(0xa, 0, 7)};

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@10 b@10/0> a@10/0> ");
}

static void who_has_enough_is_told_no_more(void)
{
    const struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), leave(0xb, 1, 15)};

    begin();
    call_log.enough = 2;
    CHECK_EQUAL(call_tracker_take(&tracker, events, COUNT(events), &exact), 1);
    end("<a@10 <b@12 ");
}

static void calls_may_go_deep(void)
{
    begin();
    for (int i = 0; i < 100; i++) {
        struct gait_event event = enter(0xa, i, (uint64_t)i);

        take(&event, 1);
    }
    CHECK_EQUAL(tracker.open_count, 100);
    CHECK_EQUAL(tracker.open[99].call.depth, 99);
    call_tracker_deinit(&tracker);
}

static struct gait_event on_stack(uint32_t kind, uint64_t function, int32_t depth, uint64_t stack, uint64_t time)
{
    return (struct gait_event){.kind = kind, .location = function, .depth = depth, .target = stack, .time = time};
}

#define SUSPEND(...) on_stack(GAIT_EVENT_SUSPEND, __VA_ARGS__)
#define RESUME(...)  on_stack(GAIT_EVENT_RESUME, __VA_ARGS__)

/* b, c are on a stack of their own, which a leaves and comes back to. */
static void suspended_calls_are_told_in_parts_with_the_time_on_their_stack(void)
{
    const struct gait_event events[] = {
        enter(0xa, 0, 10), enter(0xb, 1, 12), enter(0xc, 2, 13), SUSPEND(0xc, 2, 7, 20), SUSPEND(0xb, 1, 7, 20),
        enter(0xd, 1, 25), leave(0xd, 1, 40), enter(0xe, 1, 50), RESUME(0xb, 2, 7, 51),  RESUME(0xc, 3, 7, 51),
        leave(0xc, 3, 60), leave(0xb, 2, 61), leave(0xe, 1, 62), leave(0xa, 0, 70)};

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 <c@13 c@20/0 suspended> b@20/7 suspended> <d@25 d@40/0> <e@50 <b@51 resumed <c@51 resumed "
        "c@60/0+7/0> b@61/9+8/7> e@62/10> a@70/35> ");
}

/* The same functions are on each stack. */
static void calls_of_a_stack_are_told_from_those_of_others(void)
{
    const struct gait_event events[] = {enter(0xb, 0, 10),      SUSPEND(0xb, 0, 1, 11), enter(0xb, 0, 20),
                                        SUSPEND(0xb, 0, 2, 25), RESUME(0xb, 0, 1, 30),  leave(0xb, 0, 40),
                                        RESUME(0xb, 0, 2, 50),  leave(0xb, 0, 51)};

    begin();
    take(events, COUNT(events));
    end("<b@10 b@11/0 suspended> <b@20 b@25/0 suspended> <b@30 resumed b@40/0+1/0> <b@50 resumed b@51/0+5/0> ");
}

static void calls_that_are_never_resumed_are_told_at_the_end(void)
{
    const struct gait_event events[] = {enter(0xa, 0, 10), enter(0xb, 1, 12), SUSPEND(0xb, 1, 1, 14),
                                        leave(0xa, 0, 20)};

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@12 b@14/0 suspended> a@20/2> b never resumed ");
}

/* A process was forked within it, or the recorder came later. */
static void a_call_may_be_resumed_whose_beginning_was_not_seen(void)
{
    const struct gait_event events[] = {RESUME(0xa, 0, 0, 10), RESUME(0xb, 1, 0, 10), leave(0xb, 1, 14),
                                        leave(0xa, 0, 20)};

    begin();
    take(events, COUNT(events));
    end("<a@10 resumed <b@10 resumed b@14/0> a@20/4> ");
}

static struct gait_event runs(uint64_t goroutine, uint64_t time)
{
    return (struct gait_event){.kind = GAIT_EVENT_GOROUTINE, .target = goroutine, .time = time};
}

#define HEIGHT(height) ((int32_t)(0x80000000u | (height)))

/* A stack that is higher is that of a call within. A thread that leaves a goroutine was last seen with it before. */
static void goroutines_have_calls_of_their_own(void)
{
    const struct gait_event events[] = {
        runs(1, 9),  enter(0xa, HEIGHT(100), 10), enter(0xb, HEIGHT(200), 20),
        runs(2, 30), enter(0xa, HEIGHT(100), 31), leave(0xa, HEIGHT(150), 35),
        runs(1, 50), leave(0xb, HEIGHT(240), 52), leave(0xa, HEIGHT(150), 60),
    };

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@20 b@20/0 suspended> a@20/0 suspended> <a@31 a@35/0> "
        "<a@50 resumed <b@50 resumed b@52/0+30/0> a@60/32+40/0> ");
}

/* It says so of calls that it has left; what is told next at the same height has taken the place of another call. */
static void a_panic_leaves_calls_of_a_goroutine(void)
{
    const struct gait_event events[] = {
        runs(1, 9),
        enter(0xa, HEIGHT(100), 10),
        enter(0xb, HEIGHT(200), 20),
        enter(0xc, HEIGHT(300), 21),
        leave(0xa, HEIGHT(150), 40),
        enter(0xd, HEIGHT(90), 50),
        enter(0xe, HEIGHT(90), 51),
        leave(0xf, HEIGHT(99), 55),
        leave(0xe, HEIGHT(99), 56),
    };

    begin();
    take(events, COUNT(events));
    end("<a@10 <b@20 <c@21 c@40/0 unwound> b@40/19 unwound> a@40/20> <d@50 d@51/0 no return> <e@51 e@56/0> ");
}

/* C that is called by Go, and functions of Go that are known by their entry only, have depths. */
static void depths_go_on_within_goroutines(void)
{
    struct gait_event events[] = {
        runs(1, 9),        enter(0xa, HEIGHT(100), 10), enter(0xc, 0, 20),
        enter(0xd, 1, 21), leave(0xd, 1, 22),           leave(0xc, 0, 30),
        enter(0xe, 0, 31), leave(0xe, 0, 31),           leave(0xa, HEIGHT(150), 40),
    };

    events[7].is_entry_only = 1;
    begin();
    take(events, COUNT(events));
    end("<a@10 <c@20 <d@21 d@22/0> c@30/1> <e@31 e@31/0 entry only> a@40/10> ");
}

static const struct check_case cases[] = {
    CHECK_CASE(hooked_functions_nest),
    CHECK_CASE(what_is_known_by_its_entry_only_takes_no_time),
    CHECK_CASE(unwound_functions_say_so),
    CHECK_CASE(ends_that_nobody_told_are_found),
    CHECK_CASE(calls_and_returns_are_joined),
    CHECK_CASE(a_caller_that_returns_ends_what_it_called),
    CHECK_CASE(returns_that_are_jumps_end_nothing),
    CHECK_CASE(frames_that_were_left_out_end_with_the_one_that_returns),
    CHECK_CASE(what_is_open_at_a_gap_is_cut),
    CHECK_CASE(times_between_marks_are_guesses),
    CHECK_CASE(time_does_not_go_back),
    CHECK_CASE(who_has_enough_is_told_no_more),
    CHECK_CASE(calls_may_go_deep),
    CHECK_CASE(suspended_calls_are_told_in_parts_with_the_time_on_their_stack),
    CHECK_CASE(calls_of_a_stack_are_told_from_those_of_others),
    CHECK_CASE(calls_that_are_never_resumed_are_told_at_the_end),
    CHECK_CASE(a_call_may_be_resumed_whose_beginning_was_not_seen),
    CHECK_CASE(goroutines_have_calls_of_their_own),
    CHECK_CASE(a_panic_leaves_calls_of_a_goroutine),
    CHECK_CASE(depths_go_on_within_goroutines),
};

CHECK_MAIN(cases)
