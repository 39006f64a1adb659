/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* Which system calls end with EINTR when a handler runs before they begin again. */
#include "stalker/interrupted_call.h"

#include "gait/x86_64.h"
#include "stalker/signal_actions.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)

#include "arch/x86_64/isa/user_registers.h"

#define CALL_PC 0x1000u

static struct stalker_lab lab;
static struct stalker_thread *const thread = &lab.thread;

/* A thread that waited in a read, and was sent away. */
static void begin(long result)
{
    struct thread_registers registers = {{0}};
    struct x86_user_registers *user = x86_user_registers(&registers);

    stalker_lab_init(&lab, NULL);
    user->rip = CALL_PC + 2;
    user->orig_rax = SYS_read;
    user->rax = (uint64_t)result;
    thread_registers_take_restart(&registers);
    thread->context.pc = user->rip;
    gait_x86_64_rax(&thread->context) = user->rax;
    interrupted_call_note(thread, &registers);
}

/* Whether a handler with these flags ends it. */
static bool is_ended_by(long result, uint64_t flags)
{
    struct signal_action action = {.handler = 1000, .flags = flags};
    bool is_ended;

    begin(result);
    interrupted_call_handled(thread, &thread->context, &action);
    is_ended = thread->context.pc == CALL_PC + 2;
    CHECK_EQUAL(gait_x86_64_rax(&thread->context), is_ended ? (uint64_t)-EINTR : SYS_read);
    /* Once. */
    thread->context.pc = CALL_PC;
    interrupted_call_handled(thread, &thread->context, &action);
    CHECK_EQUAL(thread->context.pc, CALL_PC);
    stalker_lab_deinit(&lab);
    return is_ended;
}

static void handlers_end_what_the_kernel_would_end(void)
{
    CHECK(is_ended_by(-512, 0));
    CHECK(!is_ended_by(-512, SA_RESTART));
    CHECK(!is_ended_by(-513, 0));
    CHECK(is_ended_by(-514, 0));
    CHECK(is_ended_by(-514, SA_RESTART));
}

static void what_has_begun_again_is_not_ended(void)
{
    struct signal_action action = {.handler = 1000};

    begin(-514);
    thread->context.pc = CALL_PC + 2;
    interrupted_call_handled(thread, &thread->context, &action);
    CHECK_EQUAL(thread->context.pc, CALL_PC + 2);
    thread->context.pc = CALL_PC;
    interrupted_call_forget(thread);
    interrupted_call_handled(thread, &thread->context, &action);
    CHECK_EQUAL(thread->context.pc, CALL_PC);
    stalker_lab_deinit(&lab);
}

static void handler(int number)
{
    (void)number;
}

/* The lab's thread is this one. */
static bool is_ended_by_pending(int number, uint64_t blocked)
{
    uint64_t before = signal_mask_set(SIGNAL_MASK_ALL);
    bool is_ended;

    begin(-514);
    thread->signals_mask = blocked;
    if (number != 0)
        raise(number);
    interrupted_call_leave(thread);
    is_ended = thread->context.pc == CALL_PC + 2;
    stalker_lab_deinit(&lab);
    signal_mask_set(before);
    return is_ended;
}

static void who_leaves_looks_for_signals_that_are_about_to_come(void)
{
    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    signal_actions_acquire();
    signal_actions_take();
    CHECK(!is_ended_by_pending(0, 0));
    CHECK(is_ended_by_pending(SIGUSR1, 0));
    CHECK(!is_ended_by_pending(SIGUSR1, 1ull << (SIGUSR1 - 1)));
    CHECK(!is_ended_by_pending(SIGUSR2, 0));
    signal_actions_release();
}

static const struct check_case cases[] = {
    CHECK_CASE(handlers_end_what_the_kernel_would_end),
    CHECK_CASE(what_has_begun_again_is_not_ended),
    CHECK_CASE(who_leaves_looks_for_signals_that_are_about_to_come),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    printf("skipped: gait follows threads on x86_64 only, so far\n");
    return 77;
}

#endif
