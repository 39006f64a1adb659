/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/hook_unwinders.h"

#include "arch/abi.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <unwind.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)
#define FRAMES   64

typedef int one_function(int);

/* A stub for the unwinder itself, called in its place. */
static void *hook_unwinder(const char *name)
{
    const struct hook_listener *unwinder = hook_unwinder_find(name);

    return hook_lab_hook_with(dlsym(RTLD_DEFAULT, name), HOOK_STUB_LISTEN, unwinder, 1);
}

static void unwinders_are_known_by_name(void)
{
    struct hook_unwinder unwinder;
    size_t count = 0;

    for (; hook_unwinder_at(count, &unwinder); count++) {
        CHECK(hook_unwinder_find(unwinder.name) == unwinder.listener);
        CHECK(unwinder.listener->enter != NULL && unwinder.listener->leave == NULL);
        CHECK_EQUAL(unwinder.listener->flags, HOOK_LISTENER_GENERAL_ONLY | HOOK_LISTENER_ENTRY_ONLY);
    }
    CHECK(count > 5);
    CHECK(abi_host()->frame_steps[0] != NULL && hook_unwinder_find(abi_host()->frame_steps[0]) != NULL);
    CHECK(hook_unwinder_find("_Unwind_RaiseException") != NULL);
    CHECK(hook_unwinder_find("_Unwind_Raise") == NULL);
    CHECK(hook_unwinder_find("") == NULL);
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn, void *);
static one_function *volatile hooked_outer, *volatile hooked_inner;
static void *frames[2][FRAMES];
static size_t frame_count[2];
static unsigned which;

static _Unwind_Reason_Code keep_frame(struct _Unwind_Context *context, void *argument)
{
    CHECK(argument == &walk);
    if (frame_count[which] < FRAMES)
        frames[which][frame_count[which]++] = (void *)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

static __attribute__((noinline)) int inner(int value)
{
    frame_count[which] = 0;
    walk(keep_frame, &walk);
    return value + 1;
}

static __attribute__((noinline)) int outer(int value)
{
    return value == 0 ? hooked_inner(0) + 1 : hooked_outer(value - 1) + 1;
}

static __attribute__((noinline)) void walk_from(unsigned now)
{
    which = now;
    CHECK_EQUAL(hooked_outer(3), 5);
}

static void a_walk_sees_original_return_addresses_and_returns_are_seen_after_it(void)
{
    const unsigned ways[] = {LISTENED, RECORDED};

    /* Volatile, so that there is one place from which all of them are called. */
    for (volatile unsigned i = 0; i < 3; i++) {
        walk = i == 0 ? (_Unwind_Reason_Code(*)(_Unwind_Trace_Fn, void *))dlsym(RTLD_DEFAULT, "_Unwind_Backtrace")
                      : (_Unwind_Reason_Code(*)(_Unwind_Trace_Fn, void *))hook_unwinder("_Unwind_Backtrace");
        hooked_outer = i == 0 ? outer : (one_function *)hook_lab_hook((void *)outer, 'o', ways[i - 1]);
        hooked_inner = i == 0 ? inner : (one_function *)hook_lab_hook((void *)inner, 'i', ways[i - 1]);
        walk_from(i != 0);
        if (i == 0)
            continue;
        CHECK_TEXT(i == 1 ? hook_lab_told() : hook_lab_recorded(), "+o+o+o+o+i-i-o-o-o-o");
        CHECK_EQUAL(frame_count[1], frame_count[0]);
        CHECK(frame_count[0] > 6);
        /* The one where this function calls is the same, too. */
        for (size_t j = 0; j < frame_count[0]; j++)
            CHECK(frames[0][j] == frames[1][j]);
    }
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) int finds(int value)
{
    uint64_t *slot = (uint64_t *)__builtin_frame_address(0) + 1, address = 0;

    __asm__ volatile("" : : "r"(slot) : "memory");
    CHECK_EQUAL(*slot, hook_lab_last()->stub.landing.value);
    CHECK(return_tracking_find(hook_thread_current(), (uintptr_t)slot, *slot, &address));
    CHECK(address != *slot && address != 0);
    CHECK(!return_tracking_find(hook_thread_current(), (uintptr_t)slot + 8, *slot, &address));
    CHECK(!return_tracking_find(hook_thread_current(), (uintptr_t)slot, *slot + 1, &address));
    return value;
}

static void stack_walks_of_our_own_can_look_them_up(void)
{
    one_function *hooked = (one_function *)hook_lab_hook((void *)finds, 'f', LISTENED);

    CHECK_EQUAL(hooked(3), 3);
    (void)hook_lab_told();
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static uint64_t seen_return;
static void (*look)(void);

/* What an unwinder that never returns does, up to there. */
static __attribute__((noinline)) void looks_at_caller(void)
{
    seen_return = (uintptr_t)__builtin_return_address(0);
}

static uint64_t *looker_slot;

static __attribute__((noinline)) int calls_looker(int value)
{
    looker_slot = (uint64_t *)__builtin_frame_address(0) + 1;
    __asm__ volatile("" : : "r"(looker_slot) : "memory");
    look();
    /* Not hooked, so what is put back is still there. */
    CHECK(*looker_slot != hook_lab_last()->stub.landing.value);
    return value;
}

static __attribute__((noinline)) int same(int value)
{
    return value;
}

static one_function *volatile hooked_same;

static __attribute__((noinline)) int calls_looker_and_more(int value)
{
    looker_slot = (uint64_t *)__builtin_frame_address(0) + 1;
    __asm__ volatile("" : : "r"(looker_slot) : "memory");
    look();
    (void)hooked_same(value);
    CHECK_EQUAL(*looker_slot, hook_lab_last()->stub.landing.value);
    return value;
}

static void what_is_put_back_is_replaced_again_when_a_function_is_entered_outside(void)
{
    const struct hook_listener *listener = hook_unwinder_find("_Unwind_RaiseException");
    one_function *hooked;

    look = (void (*)(void))hook_lab_hook_with((void *)looks_at_caller, HOOK_STUB_LISTEN, listener, 1);
    hooked_same = (one_function *)hook_lab_hook((void *)same, 's', LISTENED);
    hooked = (one_function *)hook_lab_hook((void *)calls_looker, 'l', LISTENED);
    CHECK_EQUAL(hooked(3), 3);
    CHECK(seen_return > (uintptr_t)calls_looker && seen_return < (uintptr_t)calls_looker + 256);
    /* It returned without being seen, which is noticed later. */
    CHECK_TEXT(hook_lab_told(), "+l");
    CHECK_EQUAL(hooked_same(3), 3);
    CHECK_TEXT(hook_lab_told(), "!l+s-s");
    hooked = (one_function *)hook_lab_hook((void *)calls_looker_and_more, 'm', LISTENED);
    CHECK_EQUAL(hooked(3), 3);
    CHECK_TEXT(hook_lab_told(), "+m+s-s-m");
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(unwinders_are_known_by_name),
    CHECK_CASE(a_walk_sees_original_return_addresses_and_returns_are_seen_after_it),
    CHECK_CASE(stack_walks_of_our_own_can_look_them_up),
    CHECK_CASE(what_is_put_back_is_replaced_again_when_a_function_is_entered_outside),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    void *libgcc = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);

    if (libgcc == NULL)
        check_skip("there is no libgcc_s");
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
