/* SPDX-License-Identifier: MIT */
/*
 * What tests of the public hooks have in common: functions to be hooked, and listeners that note what they are told.
 * Each test that includes this has its own.
 */
#ifndef GAIT_TESTS_HOOK_LOG_H
#define GAIT_TESTS_HOOK_LOG_H

#include "gait/hook.h"
#include "support/check.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Compilers know much of functions that they see. */
#if defined(__clang__)
#define NOINLINE __attribute__((noinline, optnone))
#else
#define NOINLINE __attribute__((noinline, noipa))
#endif

static struct gait_hooks *hooks;
static struct gait_error error;

static inline void begin(void)
{
    CHECK_EQUAL(gait_hooks_acquire(NULL, &hooks, &error), 0);
}

static inline void end(void)
{
    CHECK_EQUAL(gait_hooks_release(hooks, &error), 0);
}

/* ---- functions to be hooked ---------------------------------------------------------------------------------------
 */

static NOINLINE __attribute__((unused)) long add(long first, long second)
{
    __asm__ volatile("");
    return first + second;
}

static NOINLINE __attribute__((unused)) long add_more(long a, long b, long c, long d, long e, long f, long g, long h)
{
    __asm__ volatile("");
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

static long factorial(long number);
static long (*volatile again)(long number) __attribute__((unused)) = factorial; /* or the compiler makes a loop of it */

static NOINLINE __attribute__((unused)) long factorial(long number)
{
    __asm__ volatile("");
    return number <= 1 ? 1 : number * again(number - 1);
}

static NOINLINE __attribute__((unused)) double halve(double number)
{
    __asm__ volatile("");
    return number / 2;
}

static NOINLINE __attribute__((unused)) int fail_with(int number)
{
    errno = number;
    return -1;
}

/* ---- listeners -----------------------------------------------------------------------------------------------------
 */

struct log {
    int entered;
    int left;
    char order[64];
    size_t order_length;
    struct gait_invocation last; /* cpu and call_data are gone */
    uint64_t arguments[8];
    uint64_t result;
    uint32_t deepest;
};

static struct log logs[4] __attribute__((unused));

static inline void note_order(char letter)
{
    if (logs[0].order_length + 1 < sizeof(logs[0].order))
        logs[0].order[logs[0].order_length++] = letter;
}

static inline void log_enter(struct gait_invocation *invocation)
{
    struct log *log = invocation->data;

    log->entered++;
    log->last = *invocation;
    if (invocation->depth > log->deepest)
        log->deepest = invocation->depth;
    for (unsigned i = 0; i < 8; i++)
        log->arguments[i] = gait_invocation_argument(invocation, i);
    note_order((char)('a' + (log - logs)));
    if (invocation->call_data != NULL)
        *(int *)invocation->call_data = log->entered;
}

static inline void log_leave(struct gait_invocation *invocation)
{
    struct log *log = invocation->data;

    log->left++;
    log->last = *invocation;
    log->result = gait_invocation_return_value(invocation);
    note_order((char)('A' + (log - logs)));
}

static inline struct gait_listener listener_for(unsigned number)
{
    memset(&logs[number], 0, sizeof(logs[number]));
    return (struct gait_listener){
        .size_bytes = sizeof(struct gait_listener), .enter = log_enter, .leave = log_leave, .data = &logs[number]};
}

static inline struct gait_hook *attach(void *function, unsigned number)
{
    struct gait_listener listener = listener_for(number);
    struct gait_hook *hook = NULL;
    int result = gait_hook_attach(hooks, (uintptr_t)function, &listener, &hook, &error);

    if (result != 0)
        printf("%s\n", error.text);
    CHECK_EQUAL(result, 0);
    return hook;
}

static inline void detach(struct gait_hook *hook)
{
    CHECK_EQUAL(gait_hook_detach(hooks, hook, &error), 0);
}

static atomic_long calls __attribute__((unused));

static inline void count_call(struct gait_invocation *invocation)
{
    (void)invocation;
    atomic_fetch_add(&calls, 1);
}

#endif
