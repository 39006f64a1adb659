/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#include "hook/hook_gate.h"

#include "hook/hook_thread.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <errno.h>
#include <stdatomic.h>

#if defined(__x86_64__)

#define TRACKED_LISTENER (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define TRACKED_RECORD   (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)

typedef int two_function(int, int);

static __attribute__((noinline)) int add(int a, int b)
{
    return a + b;
}

static void calls_and_returns_are_told_by_listeners(void)
{
    two_function *hooked = (two_function *)hook_lab_hook((void *)add, 'a', TRACKED_LISTENER);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_told(), "+a-a");
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK_EQUAL(strlen(hook_lab_told()), 4000);
}

static void calls_and_returns_are_recorded(void)
{
    two_function *hooked = (two_function *)hook_lab_hook((void *)add, 'a', TRACKED_RECORD);

    CHECK_EQUAL(hooked(40, 2), 42);
    CHECK_TEXT(hook_lab_recorded(), "+a-a");
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK_EQUAL(strlen(hook_lab_recorded()), 4000);
    for (int i = 0; i < 20000; i++)
        CHECK_EQUAL(hooked(i, 2 * i), 3 * i);
    CHECK(strlen(hook_lab_recorded()) > 16000);
}

#endif

static const struct check_case cases[] = {
#if defined(__x86_64__)
    CHECK_CASE(calls_and_returns_are_told_by_listeners),
    CHECK_CASE(calls_and_returns_are_recorded),
#endif
};

int main(void)
{
#if defined(__x86_64__)
    hook_lab_begin();
#endif
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
