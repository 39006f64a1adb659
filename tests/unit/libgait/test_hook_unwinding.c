/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "libgait/hook_unwinding.h"

#include "gait/hook.h"
#include "support/check.h"

#include <dlfcn.h>

#if defined(__x86_64__)

static struct gait_hooks *hooks;

static void acquire(void)
{
    struct gait_error error;

    if (gait_hooks_acquire(NULL, &hooks, &error) != 0) {
        printf("%s\n", error.text);
        exit(1);
    }
}

static void unwinders_are_hooked_as_long_as_there_are_hooks(void)
{
    uint64_t function;

    acquire();
    function = (uintptr_t)dlsym(dlopen("libgcc_s.so.1", RTLD_LAZY), "_Unwind_RaiseException");
    CHECK(gait_hook_method_of(hooks, function) != GAIT_HOOK_NONE);
    CHECK_EQUAL(gait_hooks_release(hooks, NULL), 0);
    acquire();
    CHECK(gait_hook_method_of(hooks, function) != GAIT_HOOK_NONE);
    CHECK_EQUAL(gait_hooks_release(hooks, NULL), 0);
}

/* The C library's, which has the unwinder call it back for each frame; tests are linked with another one. */
static int (*trace)(void **, int);
static void *frames[2][64];
static int frame_count[2];
static unsigned entered, left;

static void count_entered(struct gait_invocation *invocation)
{
    (void)invocation;
    entered++;
}

static void count_left(struct gait_invocation *invocation)
{
    CHECK_EQUAL(invocation->point, GAIT_INVOCATION_LEAVE);
    left++;
}

static __attribute__((noinline)) int traces(int which)
{
    frame_count[which] = trace(frames[which], 64);
    return frame_count[which];
}

static __attribute__((noinline)) int calls_tracer(int which)
{
    return traces(which) + 1;
}

static void backtraces_are_the_same(void)
{
    const struct gait_listener listener = {
        .size_bytes = sizeof(listener), .enter = count_entered, .leave = count_left, .unwound = true};

    trace = (int (*)(void **, int))dlsym(dlopen("libc.so.6", RTLD_LAZY), "backtrace");
    acquire();
    for (volatile int i = 0; i < 2; i++) {
        if (i == 1) {
            CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)traces, &listener, NULL, NULL), 0);
            CHECK_EQUAL(gait_hook_attach(hooks, (uintptr_t)calls_tracer, &listener, NULL, NULL), 0);
        }
        CHECK(calls_tracer(i) > 3);
    }
    CHECK_EQUAL(entered, 2);
    CHECK_EQUAL(left, 2);
    CHECK_EQUAL(frame_count[0], frame_count[1]);
    CHECK_EQUAL(memcmp(frames[0], frames[1], (size_t)frame_count[0] * sizeof(void *)), 0);
    CHECK_EQUAL(gait_hooks_release(hooks, NULL), 0);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(unwinders_are_hooked_as_long_as_there_are_hooks),
    CHECK_CASE(backtraces_are_the_same),
#endif
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
