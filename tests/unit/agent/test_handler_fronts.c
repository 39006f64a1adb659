/* SPDX-License-Identifier: MIT */
/*
 * The kernel has fronts instead of handlers; programs are told their own, and see their own places.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "agent/handler_fronts.h"

#include "agent/hook_set.h"
#include "agent/interrupted_place.h"
#include "hook/hook_thread.h"
#include "hook/live_plans.h"
#include "hook/return_tracking.h"
#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#include "support/faulting_load.h"

#define PAGE 4096

static struct live_plans plans;
static struct hook_plan plan;
static int *page;
static uint64_t seen_pc;
static int calls, times;
static bool is_skipping;

static void count(struct gait_invocation *invocation)
{
    (void)invocation;
    calls++;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

    (void)number;
    times++;
    seen_pc = (uint64_t)*pc;
    CHECK(info->si_addr == page);
    if (is_skipping)
        *pc = (greg_t)((uintptr_t)load + FAULTING_LOAD_BEHIND);
    else
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static uint64_t kernels_handler(void)
{
    uint64_t words[4] = {0};

    CHECK_EQUAL(syscall(SYS_rt_sigaction, SIGSEGV, NULL, words, 8), 0);
    return words[0];
}

static void set_handler(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
}

static void begin(void)
{
    const struct hook_threads_options threads = {.forked = NULL};
    uint8_t expected[HOOK_DISPLACED_BYTES_MAX];
    struct hook_wish wish = {.plan = &plan,
                             .expected = expected,
                             .listeners = {{.enter = count, .flags = HOOK_LISTENER_GENERAL_ONLY}},
                             .listener_count = 1};

    page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQUAL(hook_threads_begin(&threads), 0);
    live_plans_init(&plans);
    CHECK_EQUAL(live_plans_at(&plans, (uintptr_t)load, &plan), 0);
    CHECK(plan.displaced_end - (uintptr_t)load > FAULTING_LOAD_AT);
    memcpy(expected, (const void *)plan.patch_at, plan.displaced_end - plan.patch_at);
    hook_set_begin();
    CHECK_EQUAL(hook_set_open(), 0);
    CHECK_EQUAL(hook_set_add(&wish), 0);
    CHECK_EQUAL(hook_set_commit(), 0);
    interrupted_place_begin(0, 0);
    handler_fronts_prepare();
    handler_fronts_note_setter();
    handler_fronts_begin();
    calls = times = 0;
    is_skipping = false;
}

static void end(void)
{
    handler_fronts_leave();
    CHECK(return_tracking_leave_all());
    CHECK_EQUAL(hook_set_remove(true), 0);
    hook_set_close();
    hook_set_end();
    live_plans_deinit(&plans);
    signal(SIGSEGV, SIG_DFL);
    munmap(page, PAGE);
}

static void handlers_see_the_programs_own_place(void)
{
    set_handler();
    begin();
    CHECK(kernels_handler() != (uintptr_t)on_fault);
    CHECK_EQUAL(load(page), 1);
    CHECK_EQUAL(times, 1);
    CHECK_EQUAL(calls, 1);
    CHECK_EQUAL(seen_pc, (uintptr_t)load + FAULTING_LOAD_AT);
    end();
    CHECK_EQUAL(kernels_handler(), 0);
}

/* Also one that is overwritten. */
static void they_may_choose_another_place(void)
{
    set_handler();
    begin();
    is_skipping = true;
    CHECK(plan.patch_at + plan.patch_bytes > (uintptr_t)load + FAULTING_LOAD_BEHIND);
    CHECK_EQUAL(load(page), 1);
    CHECK_EQUAL(times, 1);
    CHECK_EQUAL(seen_pc, (uintptr_t)load + FAULTING_LOAD_AT);
    end();
}

static void who_sets_and_asks_is_told_the_programs_own(void)
{
    struct handler_setting setting = {0};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, old;
    uint64_t front;

    begin();
    /* A default action is ours, but for who asks. */
    CHECK(kernels_handler() != 0);
    handler_setting_begins(&setting, SIGSEGV, 0, (uintptr_t)&old);
    CHECK_EQUAL(kernels_handler(), 0);
    handler_setting_is_over(&setting);
    CHECK(kernels_handler() != 0);
    handler_setting_begins(&setting, SIGSEGV, (uintptr_t)&action, 0);
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    handler_setting_ends(&setting);
    front = kernels_handler();
    CHECK(front != (uintptr_t)on_fault && front != 0);
    handler_setting_begins(&setting, SIGSEGV, 0, (uintptr_t)&old);
    CHECK_EQUAL(sigaction(SIGSEGV, NULL, &old), 0);
    CHECK_EQUAL((uintptr_t)old.sa_sigaction, front);
    handler_setting_ends(&setting);
    CHECK_EQUAL((uintptr_t)old.sa_sigaction, (uintptr_t)on_fault);
    CHECK_EQUAL(load(page), 1);
    CHECK_EQUAL(seen_pc, (uintptr_t)load + FAULTING_LOAD_AT);
    /* What is no handler stays what it is. */
    action.sa_handler = SIG_IGN;
    handler_setting_begins(&setting, SIGUSR1, (uintptr_t)&action, 0);
    CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
    handler_setting_ends(&setting);
    CHECK_EQUAL(sigaction(SIGUSR1, NULL, &old), 0);
    CHECK(old.sa_handler == SIG_IGN);
    /* All is as it was when they have left. */
    handler_fronts_leave();
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_fault);
    end();
}

/* There would be nobody to tell it the program's own; or it would not ask. */
static void who_asks_the_kernel_itself_is_left_alone(void)
{
    struct handler_setting setting = {0};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    begin();
    handler_fronts_note_asker();
    handler_setting_begins(&setting, SIGSEGV, (uintptr_t)&action, 0);
    CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
    handler_setting_ends(&setting);
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_fault);
    handler_fronts_prepare();
    handler_fronts_begin();
    CHECK_EQUAL(kernels_handler(), (uintptr_t)on_fault);
    end();
}

static void a_handler_that_runs_can_do_without(void)
{
    set_handler();
    begin();
    CHECK(handler_fronts_can_leave(gettid(), (uintptr_t)__builtin_frame_address(0)));
    CHECK(handler_fronts_can_leave(1, 0));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(handlers_see_the_programs_own_place),        CHECK_CASE(they_may_choose_another_place),
    CHECK_CASE(who_sets_and_asks_is_told_the_programs_own), CHECK_CASE(who_asks_the_kernel_itself_is_left_alone),
    CHECK_CASE(a_handler_that_runs_can_do_without),
};

int main(void)
{
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
