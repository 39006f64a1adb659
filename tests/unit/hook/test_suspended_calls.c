/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "hook/suspended_calls.h"

#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <stdatomic.h>
#include <ucontext.h>

#if defined(__x86_64__)

#define RECORDED    (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)
#define STACK_BYTES (64 << 10)

typedef int one_function(int);

static one_function *volatile hooked_f, *volatile hooked_g, *volatile hooked_h, *volatile hooked_k;
static ucontext_t scheduler, contexts[2];
static volatile int current, sum;

static __attribute__((noinline)) int works(int value)
{
    return value + 1;
}

static __attribute__((noinline)) int yields(int value)
{
    swapcontext(&contexts[current], &scheduler);
    return value;
}

static __attribute__((noinline)) int runs(int value)
{
    for (int i = 0; i < value; i++) {
        sum += hooked_k(i);
        sum += hooked_g(i);
    }
    return value;
}

static void body(void)
{
    sum += hooked_f(2);
}

static __attribute__((noinline)) int resumes(int which)
{
    current = which;
    swapcontext(&scheduler, &contexts[which]);
    return which;
}

static void prepare(unsigned char *memory)
{
    hooked_f = (one_function *)hook_lab_hook((void *)runs, 'f', RECORDED);
    hooked_g = (one_function *)hook_lab_hook((void *)yields, 'g', RECORDED);
    hooked_h = (one_function *)hook_lab_hook((void *)resumes, 'h', RECORDED);
    hooked_k = (one_function *)hook_lab_hook((void *)works, 'k', RECORDED);
    for (unsigned i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = memory + (size_t)i * STACK_BYTES;
        contexts[i].uc_stack.ss_size = STACK_BYTES;
        contexts[i].uc_link = &scheduler;
        makecontext(&contexts[i], body, 0);
    }
    (void)hook_lab_recorded();
}

/* Whether their stacks are below that of who resumes them, or in a frame of his. */
static void calls_are_suspended_where_a_stack_is_left_and_resumed_where_it_goes_on(void)
{
    unsigned char here[2 * STACK_BYTES];
    static unsigned char elsewhere[2 * STACK_BYTES];
    unsigned char *const places[] = {elsewhere, here};

    for (unsigned place = 0; place < 2; place++) {
        prepare(places[place]);
        (void)hooked_h(0);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+h+f+k-k+g<g<f-h");
        (void)hooked_k(1);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+k-k");
        (void)hooked_h(1);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+h+f+k-k+g<g<f-h");
        (void)hooked_h(0);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+h>f>g-g+k-k+g<g<f-h");
        (void)hooked_h(0);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+h>f>g-g-f-h");
        (void)hooked_h(1);
        (void)hooked_h(1);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+h>f>g-g+k-k+g<g<f-h+h>f>g-g-f-h");
        CHECK(suspended_calls_nearest(hook_thread_current(), 0) == NULL);
        (void)hooked_k(1);
        CHECK_TEXT(hook_lab_recorded_with_stacks(), "+k-k");
    }
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static uint64_t words[4096];

static uint64_t slot_at(unsigned index)
{
    return (uintptr_t)&words[index];
}

static struct invocation *push(struct hook_thread *thread, unsigned index)
{
    return invocation_stack_push(&thread->invocations, slot_at(index), 1,
                                 hook_lab_last()->stub.landing.value - STUB_LANDING);
}

static struct hook_thread *begin(uint64_t *mask_out)
{
    bool is_forked;

    (void)hook_lab_hook((void *)works, 'w', RECORDED);
    (void)hook_lab_recorded();
    *mask_out = hook_signals_block();
    return hook_thread_obtain(&is_forked);
}

static void end(struct hook_thread *thread, uint64_t mask)
{
    invocation_stack_clear(&thread->invocations);
    thread->has_stacks = false;
    hook_signals_unblock(mask);
}

static void calls_that_are_far_from_each_other_are_on_different_stacks(void)
{
    struct suspension suspension = {0};
    uint64_t mask;
    struct hook_thread *thread = begin(&mask);
    struct invocation *far = push(thread, 4000), *outer = push(thread, 200), *inner = push(thread, 100);

    suspended_calls_add(thread, inner, &suspension);
    suspended_calls_add(thread, outer, &suspension);
    suspended_calls_add(thread, far, &suspension);
    CHECK(inner->flags == outer->flags && far->flags != inner->flags);
    CHECK_EQUAL(invocation_stack_next_depth(&thread->invocations), 0);
    /* With all that it is in on its stack. */
    inner = suspended_calls_resume(thread, inner);
    CHECK(inner != NULL && inner->depth == 1 && inner->flags == 0);
    CHECK(suspended_calls_nearest(thread, slot_at(99)) == inner);
    CHECK(suspended_calls_nearest(thread, slot_at(300)) == far && far->flags != 0);
    suspended_calls_end(thread, far);
    CHECK_EQUAL(far->flags, 0);
    CHECK_TEXT(hook_lab_recorded_with_stacks(), "<w<w<w>w>w>w");
    end(thread, mask);
}

static void gates_are_slow_where_a_stack_may_be_entered(void)
{
    struct suspension suspension = {0};
    uint64_t mask;
    struct hook_thread *thread = begin(&mask);
    struct invocation *outer = push(thread, 4000), *other = push(thread, 200);

    suspended_calls_watch(thread, slot_at(100));
    CHECK_EQUAL(thread->invocations.floor, 0);
    suspended_calls_add(thread, other, &suspension);
    suspended_calls_watch(thread, 0);
    CHECK_EQUAL(thread->invocations.floor, slot_at(200));
    CHECK(thread->invocations.limit == NULL && invocation_stack_check(&thread->invocations));
    /* What is below it is in a frame of the outer one, and is to come back here when it has returned. */
    suspended_calls_watch(thread, slot_at(100));
    CHECK_EQUAL(thread->invocations.floor, 0);
    CHECK_EQUAL(atomic_load(&thread->invocations.top[-1].slot), slot_at(100));
    CHECK(suspended_calls_nearest(thread, slot_at(50)) == other);
    invocation_stack_trim(&thread->invocations);
    invocation_stack_remove(&thread->invocations, other);
    suspended_calls_watch(thread, 0);
    CHECK(thread->invocations.floor == 0 && !thread->has_stacks);
    CHECK(thread->invocations.limit == thread->invocations.full && outer->depth == 0);
    end(thread, mask);
}

static void calls_of_the_parent_are_told_from_the_outermost_on(void)
{
    struct suspension suspension = {0};
    uint64_t mask;
    struct hook_thread *thread = begin(&mask);
    struct invocation *other;

    push(thread, 400);
    (void)hook_lab_hook((void *)works, 'v', RECORDED);
    push(thread, 300);
    other = push(thread, 200);
    suspended_calls_add(thread, other, &suspension);
    (void)hook_lab_recorded();
    suspended_calls_tell_inherited(thread);
    CHECK_TEXT(hook_lab_recorded_with_stacks(), ">w>v");
    end(thread, mask);
}

static __attribute__((noinline)) bool is_called_first(void)
{
    uint64_t slot = (uintptr_t)__builtin_return_address(0);

    return suspended_calls_is_first((uintptr_t)&slot);
}

static void what_nobody_called_begins_a_stack(void)
{
    uint64_t zero = 0, entry = (uintptr_t)body;

    CHECK(!is_called_first());
    CHECK(suspended_calls_is_first((uintptr_t)&zero));
    CHECK(suspended_calls_is_first((uintptr_t)&entry));
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(calls_are_suspended_where_a_stack_is_left_and_resumed_where_it_goes_on),
    CHECK_CASE(calls_that_are_far_from_each_other_are_on_different_stacks),
    CHECK_CASE(gates_are_slow_where_a_stack_may_be_entered),
    CHECK_CASE(calls_of_the_parent_are_told_from_the_outermost_on),
    CHECK_CASE(what_nobody_called_begins_a_stack),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
