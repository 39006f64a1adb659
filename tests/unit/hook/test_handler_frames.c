/* SPDX-License-Identifier: MIT */
/*
 * What a signal handler has interrupted is found though it is hooked, on whichever stack.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "hook/handler_frames.h"

#include "process/forced_memory.h"
#include "process/stack_scan.h"
#include "support/check.h"
#include "support/hook_lab.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#define LISTENED (HOOK_STUB_LISTEN | HOOK_STUB_RETURNS)
#define RECORDED (HOOK_STUB_RECORD | HOOK_STUB_RETURNS)

static struct forced_memory memory;
static uint64_t wanted_pc, found_at;
static int found_by_words, found_by_calls, handled;
static int *counting;
static sigjmp_buf back;

static void count_frame(void *context, uint64_t place, uint64_t pc)
{
    (void)context;
    if (pc == wanted_pc) {
        *counting += 1;
        found_at = place;
    }
}

static void look(uint64_t sp)
{
    struct stack_scan scan;

    stack_scan_init(&scan, &memory);
    scan.interrupted = count_frame;
    found_by_words = found_by_calls = 0;
    counting = &found_by_words;
    stack_scan_run(&scan, sp);
    counting = &found_by_calls;
    handler_frames_visit(gettid(), sp, &scan);
    stack_scan_deinit(&scan);
}

static void handle(int number, siginfo_t *info, void *ucontext)
{
    const ucontext_t *context = ucontext;

    (void)number;
    (void)info;
    handled++;
    wanted_pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    look((uintptr_t)__builtin_frame_address(0));
    CHECK_EQUAL(found_by_words, 0);
    CHECK_EQUAL(found_by_calls, 1);
    CHECK_EQUAL(found_at, (uintptr_t)&context->uc_mcontext.gregs[REG_RIP]);
}

static void jump_out(int number, siginfo_t *info, void *ucontext)
{
    handle(number, info, ucontext);
    siglongjmp(back, 1);
}

typedef void action_function(int number, siginfo_t *info, void *ucontext);

/* With the handler's stub for a handler, as if its entry were patched. */
static void interrupt_with(action_function *function, unsigned parts, int flags)
{
    static char other[65536];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
    struct sigaction action = {.sa_flags = SA_SIGINFO | flags};

    action.sa_sigaction = (action_function *)hook_lab_hook((void *)function, 'h', parts);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    handled = 0;
    if (sigsetjmp(back, 1) == 0)
        raise(SIGUSR1);
    CHECK_EQUAL(handled, 1);
}

static void end(void)
{
    const stack_t none = {.ss_flags = SS_DISABLE};

    signal(SIGUSR1, SIG_DFL);
    sigaltstack(&none, NULL);
    forced_memory_deinit(&memory);
}

static void what_a_hooked_handler_returns_to_is_found(void)
{
    static const unsigned ways[] = {LISTENED, RECORDED};

    for (unsigned i = 0; i < 2; i++) {
        interrupt_with(handle, ways[i], 0);
        look((uintptr_t)__builtin_frame_address(0));
        CHECK_EQUAL(found_by_calls, 0);
        end();
    }
}

static void on_another_stack_as_well(void)
{
    interrupt_with(handle, RECORDED, SA_ONSTACK);
    end();
}

/* Nobody has noticed yet that it is over; but what it interrupted is, too. */
static void not_of_one_that_was_left_by_a_jump(void)
{
    interrupt_with(jump_out, RECORDED, 0);
    look((uintptr_t)__builtin_frame_address(0));
    CHECK_EQUAL(found_by_calls, 0);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_a_hooked_handler_returns_to_is_found),
    CHECK_CASE(on_another_stack_as_well),
    CHECK_CASE(not_of_one_that_was_left_by_a_jump),
};

int main(void)
{
    hook_lab_begin();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}

#else

int main(void)
{
    check_skip("hooks are for x86-64 so far");
}

#endif
