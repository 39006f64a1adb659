/* SPDX-License-Identifier: MIT */
/* The kernel has our handler only while somebody wants it; the program always sees its own. */
#include "stalker/signal_actions.h"

#include "base/raw_syscall.h"
#include "stalker/signal_frame.h"
#include "stalker/system_call.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#define FLAG_RESTORER 0x04000000u
#define FLAG_ONCE     ((unsigned)SA_RESETHAND)
#define OURS          ((uintptr_t)stalker_signal_entry)

/* Never called: no signal comes. */
static const struct signal_action first = {
    .handler = 0x123000, .flags = SA_RESTART | FLAG_ONCE | FLAG_RESTORER, .restorer = 0x124000, .mask = 0x5400};
static const struct signal_action second = {
    .handler = 0x125000, .flags = SA_NODEFER | FLAG_RESTORER, .restorer = 0x126000, .mask = 0xaa00};
static const struct signal_action ignored = {.handler = 1}, none = {.handler = 0};

static long make(long signal, const void *new, void *old_out, long mask_bytes)
{
    struct system_call call = {.number = SYS_rt_sigaction, .arguments = {signal, (long)new, (long)old_out, mask_bytes}};

    return signal_actions_call(&call);
}

static void put(int signal, const struct signal_action *action)
{
    CHECK_EQUAL(raw_syscall(SYS_rt_sigaction, signal, (long)action, 0, SIGNAL_MASK_BYTES, 0, 0), 0);
}

static struct signal_action kernel_has(int signal)
{
    struct signal_action action = {0};

    CHECK_EQUAL(raw_syscall(SYS_rt_sigaction, signal, 0, (long)&action, SIGNAL_MASK_BYTES, 0, 0), 0);
    return action;
}

static struct signal_action program_sees(int signal)
{
    struct signal_action action = {0};

    CHECK_EQUAL(make(signal, NULL, &action, SIGNAL_MASK_BYTES), 0);
    return action;
}

static bool is_same(struct signal_action a, struct signal_action b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void begin(const struct signal_action *action)
{
    put(SIGUSR1, action);
    put(SIGUSR2, &ignored);
    put(SIGWINCH, &none);
    signal_actions_acquire();
    signal_actions_take();
}

static void end(void)
{
    signal_actions_release();
    put(SIGUSR1, &none);
    put(SIGUSR2, &none);
}

static void what_was_taken_is_put_back_by_the_last_user(void)
{
    begin(&first);
    signal_actions_acquire();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, OURS);
    CHECK(is_same(program_sees(SIGUSR1), first));
    CHECK(is_same(signal_actions_get(SIGUSR1), first));
    signal_actions_release();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, OURS);
    signal_actions_release();
    CHECK(is_same(kernel_has(SIGUSR1), first));
    CHECK(is_same(signal_actions_get(SIGUSR1), first));
    signal_actions_acquire();
    CHECK(is_same(kernel_has(SIGUSR1), first));
    end();
}

static void only_handlers_are_replaced(void)
{
    begin(&first);
    signal_actions_take();
    CHECK(is_same(signal_actions_get(SIGUSR1), first));
    CHECK_EQUAL(kernel_has(SIGUSR2).handler, 1);
    CHECK_EQUAL(kernel_has(SIGWINCH).handler, 0);
    end();
}

/* But for the stack, and that it stays: both are ours to see to. */
static void ours_behaves_like_the_programs(void)
{
    struct signal_action ours;

    begin(&first);
    ours = kernel_has(SIGUSR1);
    CHECK_EQUAL(ours.flags, SA_RESTART | SA_SIGINFO | SA_ONSTACK | FLAG_RESTORER);
    CHECK_EQUAL(ours.mask, first.mask);
    CHECK_EQUAL(ours.restorer, first.restorer);
    CHECK_EQUAL(signal_action_restorer(&first), first.restorer);
    CHECK_EQUAL(signal_action_restorer(&none), (uintptr_t)stalker_signal_restorer);
    end();
}

static void the_program_sees_what_it_set(void)
{
    struct signal_action old;

    begin(&first);
    CHECK_EQUAL(make(SIGUSR1, &second, &old, SIGNAL_MASK_BYTES), 0);
    CHECK(is_same(old, first));
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, OURS);
    CHECK(is_same(program_sees(SIGUSR1), second));
    CHECK_EQUAL(make(SIGUSR1, &ignored, &old, SIGNAL_MASK_BYTES), 0);
    CHECK(is_same(old, second));
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, 1);
    CHECK_EQUAL(program_sees(SIGUSR1).handler, 1);
    /* A signal that is on its way still finds the handler that it came for. */
    CHECK(is_same(signal_actions_get(SIGUSR1), second));
    CHECK_EQUAL(make(SIGUSR2, &second, NULL, SIGNAL_MASK_BYTES), 0);
    CHECK_EQUAL(kernel_has(SIGUSR2).handler, OURS);
    signal_actions_release();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, 1);
    CHECK(is_same(kernel_has(SIGUSR2), second));
    signal_actions_acquire();
    end();
}

static void a_handler_for_once_is_gone_after_its_signal(void)
{
    begin(&first);
    signal_actions_reset(SIGUSR1);
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, 0);
    CHECK_EQUAL(program_sees(SIGUSR1).handler, 0);
    CHECK(is_same(signal_actions_get(SIGUSR1), first));
    end();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, 0);
}

static void mistakes_get_the_kernels_answers(void)
{
    void *nowhere = (void *)8;

    begin(&first);
    CHECK_EQUAL(make(0, &second, NULL, SIGNAL_MASK_BYTES), -EINVAL);
    CHECK_EQUAL(make(SIGNAL_COUNT + 1, &second, NULL, SIGNAL_MASK_BYTES), -EINVAL);
    CHECK_EQUAL(make(-1, NULL, NULL, SIGNAL_MASK_BYTES), -EINVAL);
    CHECK_EQUAL(make(SIGKILL, &second, NULL, SIGNAL_MASK_BYTES), -EINVAL);
    CHECK_EQUAL(make(SIGSTOP, &second, NULL, SIGNAL_MASK_BYTES), -EINVAL);
    CHECK_EQUAL(make(SIGUSR1, &second, NULL, SIGNAL_MASK_BYTES + 1), -EINVAL);
    CHECK_EQUAL(make(SIGUSR1, nowhere, NULL, SIGNAL_MASK_BYTES), -EFAULT);
    CHECK_EQUAL(make(SIGUSR1, NULL, nowhere, SIGNAL_MASK_BYTES), -EFAULT);
    CHECK(is_same(program_sees(SIGUSR1), first));
    end();
}

/* Whatever has a handler here stands for what a program that has yet to begin cannot have. */
static void of_a_new_program_only_what_ends_it_is_taken(void)
{
    static const struct signal_watcher watcher = {.deadly = 1ull << (SIGUSR2 - 1)};

    put(SIGUSR1, &first);
    signal_watch_set(&watcher);
    signal_actions_acquire();
    signal_actions_take_new();
    CHECK_EQUAL(kernel_has(SIGUSR2).handler, OURS);
    CHECK_EQUAL(program_sees(SIGUSR2).handler, 0);
    /* The thread that begins asks for nothing, and whoever comes later does. */
    signal_actions_take();
    CHECK(is_same(kernel_has(SIGUSR1), first));
    signal_actions_take();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, OURS);
    signal_actions_release();
    CHECK(is_same(kernel_has(SIGUSR1), first));
    CHECK_EQUAL(kernel_has(SIGUSR2).handler, 0);
    /* A program that did not begin in the end is none that is new. */
    signal_actions_acquire();
    signal_actions_take_new();
    signal_actions_release();
    signal_actions_acquire();
    signal_actions_take();
    CHECK_EQUAL(kernel_has(SIGUSR1).handler, OURS);
    signal_watch_set(NULL);
    end();
}

static void setting_the_mask_gives_the_one_before(void)
{
    uint64_t before = signal_mask_set(0x200);

    CHECK_EQUAL(signal_mask_set(SIGNAL_MASK_ALL), 0x200);
    /* The kernel leaves two out. */
    CHECK_EQUAL(signal_mask_set(before), SIGNAL_MASK_ALL & ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1)));
    CHECK_EQUAL(signal_mask_set(before), before);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_taken_is_put_back_by_the_last_user),
    CHECK_CASE(only_handlers_are_replaced),
    CHECK_CASE(ours_behaves_like_the_programs),
    CHECK_CASE(the_program_sees_what_it_set),
    CHECK_CASE(a_handler_for_once_is_gone_after_its_signal),
    CHECK_CASE(of_a_new_program_only_what_ends_it_is_taken),
    CHECK_CASE(mistakes_get_the_kernels_answers),
    CHECK_CASE(setting_the_mask_gives_the_one_before),
};

CHECK_MAIN(cases)
