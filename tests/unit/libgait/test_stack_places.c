/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Stacks taken where it is narrow, or where nobody expects it: signal handlers, coroutines, alternate stacks. */
#define _GNU_SOURCE
#include "gait/stack.h"

#include "support/check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096u

static __attribute__((noinline)) size_t capture(uint64_t *pcs, size_t capacity)
{
    struct gait_stack stack = {.size_bytes = sizeof(stack), .pcs = pcs, .capacity = capacity};

    return gait_stack_capture(&stack) == 0 ? stack.count : 0;
}

static bool has(const uint64_t *pcs, size_t count, uint64_t pc)
{
    for (size_t i = 0; i < count; i++)
        if (pcs[i] == pc)
            return true;
    return false;
}

/* ---- signal handlers --------------------------------------------------------------------------------------------- */

static uint64_t handler_pcs[64];
static size_t handler_count;

static void take_stack(int number)
{
    (void)number;
    handler_count = capture(handler_pcs, 64);
}

static __attribute__((noinline)) uint64_t raise_here(int number)
{
    raise(number);
    return (uintptr_t)__builtin_return_address(0);
}

static void handlers_see_who_was_interrupted(void)
{
    struct sigaction action = {.sa_handler = take_stack};

    CHECK_EQUAL(gait_stack_prepare(), 0);
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t behind = raise_here(SIGUSR1);

        CHECK(handler_count >= 6);
        CHECK(has(handler_pcs, handler_count, behind));
    }
}

static void small_alternate_stacks_are_enough(void)
{
    uint8_t *storage = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = storage + PAGE, .ss_size = 4 * PAGE}, none = {.ss_flags = SS_DISABLE};
    struct sigaction action = {.sa_handler = take_stack, .sa_flags = SA_ONSTACK};

    mprotect(storage, PAGE, PROT_NONE);
    CHECK_EQUAL(gait_stack_prepare(), 0);
    CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
    CHECK_EQUAL(sigaction(SIGUSR2, &action, NULL), 0);
    for (unsigned i = 0; i < 5; i++) {
        uint64_t behind = raise_here(SIGUSR2);

        CHECK(handler_count >= 6);
        CHECK(has(handler_pcs, handler_count, behind));
    }
    CHECK_EQUAL(sigaltstack(&none, NULL), 0);
    munmap(storage, 5 * PAGE);
}

static uint64_t timer_behind;
static volatile unsigned timer_ticks, timer_right;

static void take_stack_any_time(int number)
{
    uint64_t pcs[64];
    size_t count = capture(pcs, 64);

    (void)number;
    timer_ticks++;
    timer_right += has(pcs, count, timer_behind);
}

static __attribute__((noinline)) unsigned dive(unsigned depth)
{
    uint64_t pcs[64];
    unsigned result = depth == 0 ? (unsigned)capture(pcs, 64) : dive(depth - 1) + 1;

    __asm__ volatile("" : "+r"(result) : "r"(pcs) : "memory");
    return result;
}

static __attribute__((noinline)) void dive_for(unsigned ticks)
{
    uint64_t turns = 0;
    unsigned expected = dive(5);

    timer_behind = (uintptr_t)__builtin_return_address(0);
    /* A stack of the same place is always the same, whatever interrupts it. */
    while (timer_ticks < ticks && turns++ < 100000000)
        if (dive(5) != expected) {
            CHECK(!"the same stack");
            return;
        }
}

static void handlers_may_interrupt_captures(void)
{
    struct sigaction action = {.sa_handler = take_stack_any_time, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};

    CHECK_EQUAL(gait_stack_prepare(), 0);
    dive_for(0);
    timer_ticks = timer_right = 0;
    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
    dive_for(1500);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
    CHECK(timer_ticks >= 1500);
    /* Code of ours has no .eh_frame: stacks that begin in there end there, unless it keeps its frame pointer. */
    CHECK(timer_right > timer_ticks / 10);
}

static sigjmp_buf escape;

static void jump_out(int number)
{
    (void)number;
    siglongjmp(escape, 1);
}

static void captures_that_are_left_by_a_jump_do_no_harm(void)
{
    struct sigaction action = {.sa_handler = jump_out};
    struct itimerval soon = {{0, 0}, {0, 150}};
    volatile unsigned jumps = 0;
    unsigned expected;

    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    for (; jumps < 300; jumps++)
        if (sigsetjmp(escape, 1) == 0) {
            CHECK_EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
            for (;;)
                dive(5);
        }
    expected = dive(5);
    CHECK(expected > 8);
    for (unsigned i = 0; i < 100; i++)
        CHECK_EQUAL(dive(5), expected);
    CHECK_EQUAL(gait_stack_modules_changed(), 0);
    CHECK_EQUAL(dive(5), expected);
}

/* ---- coroutines -------------------------------------------------------------------------------------------------- */

static ucontext_t main_context, coroutine_context;
static uint64_t coroutine_pcs[32];
static size_t coroutine_count, coroutine_depth;

static __attribute__((noinline)) unsigned go_deeper(size_t depth)
{
    unsigned result;

    if (depth > 0)
        result = go_deeper(depth - 1) + 1;
    else
        result = (unsigned)(coroutine_count = capture(coroutine_pcs, 32));
    __asm__ volatile("" : "+r"(result));
    return result;
}

static void run_coroutine(void)
{
    go_deeper(coroutine_depth);
}

static void run_on(uint8_t *low, size_t size_bytes)
{
    coroutine_count = 0;
    getcontext(&coroutine_context);
    coroutine_context.uc_stack.ss_sp = low;
    coroutine_context.uc_stack.ss_size = size_bytes;
    coroutine_context.uc_link = &main_context;
    makecontext(&coroutine_context, run_coroutine, 0);
    swapcontext(&main_context, &coroutine_context);
}

static void coroutines_have_stacks(void)
{
    for (coroutine_depth = 0; coroutine_depth < 20; coroutine_depth++) {
        uint8_t *storage = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        CHECK_EQUAL(gait_stack_prepare(), 0);
        run_on(storage, 8 * PAGE);
        CHECK(coroutine_count >= coroutine_depth + 3);
        CHECK(coroutine_count <= coroutine_depth + 5);
        munmap(storage, 8 * PAGE);
    }
}

static void tiny_stacks_are_enough(void)
{
    uint8_t *storage = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK_EQUAL(gait_stack_prepare(), 0);
    mprotect(storage, PAGE, PROT_NONE);
    coroutine_depth = 0;
    for (size_t size_bytes = PAGE; size_bytes >= 1536; size_bytes -= 256) {
        run_on(storage + PAGE, size_bytes);
        CHECK(coroutine_count >= 3);
    }
    munmap(storage, 2 * PAGE);
}

/* What is above a stack may be gone: it ends there, and nothing is read behind it. */
static void stacks_may_end_at_memory_that_is_gone(void)
{
    for (unsigned round = 0; round < 20; round++) {
        uint8_t *storage = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        coroutine_depth = round % 5;
        run_on(storage + 2 * PAGE, 2 * PAGE);
        munmap(storage + 4 * PAGE, 4 * PAGE);
        run_on(storage + 2 * PAGE, 2 * PAGE);
        CHECK(coroutine_count >= coroutine_depth + 3);
        munmap(storage, 4 * PAGE);
    }
}

static void *run_coroutines(void *context)
{
    coroutines_have_stacks();
    return context;
}

static void coroutines_of_other_threads_have_stacks(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, run_coroutines, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

/* The first one of a thread is taken there, too. */
static void *begin_in_coroutine(void *context)
{
    uint8_t *storage = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t pcs[32];

    coroutine_depth = 4;
    run_on(storage, 8 * PAGE);
    CHECK(coroutine_count >= 7);
    munmap(storage, 8 * PAGE);
    CHECK(capture(pcs, 32) >= 3);
    return context;
}

static void threads_may_begin_in_a_coroutine(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, begin_in_coroutine, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void *dive_in_thread(void *context)
{
    CHECK(dive(10) >= 20);
    return context;
}

static void threads_with_the_smallest_stack_have_room(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    CHECK_EQUAL(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    CHECK_EQUAL(pthread_create(&thread, &attributes, dive_in_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

static const struct check_case cases[] = {
    CHECK_CASE(handlers_see_who_was_interrupted),
    CHECK_CASE(small_alternate_stacks_are_enough),
    CHECK_CASE(handlers_may_interrupt_captures),
    CHECK_CASE(captures_that_are_left_by_a_jump_do_no_harm),
    CHECK_CASE(coroutines_have_stacks),
    CHECK_CASE(tiny_stacks_are_enough),
    CHECK_CASE(stacks_may_end_at_memory_that_is_gone),
    CHECK_CASE(coroutines_of_other_threads_have_stacks),
    CHECK_CASE(threads_may_begin_in_a_coroutine),
    CHECK_CASE(threads_with_the_smallest_stack_have_room),
};

CHECK_MAIN(cases)
