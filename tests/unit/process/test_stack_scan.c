/* SPDX-License-Identifier: MIT */
/*
 * Words and interrupted places on stacks: on the one that the thread is on, and on those that handlers have
 * interrupted.
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "process/stack_scan.h"

#include "support/check.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define MARK UINT64_C(0x7654321000000000)

static struct forced_memory memory;
static size_t words_found, frames_found;
static uint64_t wanted_pc, found_at;

static void count_word(void *context, uint64_t word)
{
    (void)context;
    words_found += word == MARK + 5;
}

static void count_frame(void *context, uint64_t place, uint64_t pc)
{
    (void)context;
    if (pc == wanted_pc) {
        frames_found++;
        found_at = place;
    }
}

static void scan(uint64_t sp)
{
    struct stack_scan scan;

    stack_scan_init(&scan, &memory);
    scan.low = MARK;
    scan.high = MARK + 10;
    scan.word = count_word;
    scan.interrupted = count_frame;
    words_found = frames_found = 0;
    stack_scan_run(&scan, sp);
    stack_scan_deinit(&scan);
}

static void words_in_a_range_are_found_up_to_the_end_of_the_stack(void)
{
    volatile uint64_t *pages = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    pages[1] = MARK + 5;
    pages[511] = MARK + 5;
    pages[512] = MARK + 10;
    pages[700] = MARK + 5;
    pages[1024] = MARK + 5;
    mprotect((void *)(pages + 1024), 4096, PROT_NONE);
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    scan((uintptr_t)pages);
    CHECK_EQUAL(words_found, 3);
    scan((uintptr_t)(pages + 2));
    CHECK_EQUAL(words_found, 2);
    /* What is mapped behind it is none of its business. */
    mprotect((void *)(pages + 512), 8192, PROT_READ);
    scan((uintptr_t)pages);
    CHECK_EQUAL(words_found, 2);
    scan((uintptr_t)(pages + 512));
    CHECK_EQUAL(words_found, 2);
    scan(0);
    CHECK_EQUAL(words_found, 0);
    forced_memory_deinit(&memory);
    munmap((void *)pages, 12288);
}

static volatile int handled;

static void handler(int number, siginfo_t *info, void *ucontext)
{
    const ucontext_t *context = ucontext;

    (void)info;
    wanted_pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    scan((uintptr_t)__builtin_frame_address(0));
    CHECK_EQUAL(frames_found, 1);
    CHECK_EQUAL(found_at, (uintptr_t)&context->uc_mcontext.gregs[REG_RIP]);
    handled++;
    /* The word is on the stack that was interrupted, whichever that is. */
    CHECK(words_found >= 1);
    (void)number;
}

static void interrupt_with(int flags)
{
    static char other[65536];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags}, before;
    volatile uint64_t marks[4] = {MARK + 5, 0, 0, 0};

    CHECK_EQUAL(forced_memory_init(&memory), 0);
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, &before);
    handled = 0;
    raise(SIGUSR1);
    CHECK_EQUAL(handled, 1);
    CHECK_EQUAL(marks[0], MARK + 5);
    sigaction(SIGUSR1, &before, NULL);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    forced_memory_deinit(&memory);
}

static void what_a_handler_returns_to_is_found(void)
{
    interrupt_with(0);
}

static void what_a_handler_on_another_stack_returns_to_is_found(void)
{
    interrupt_with(SA_ONSTACK);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(words_in_a_range_are_found_up_to_the_end_of_the_stack),
        CHECK_CASE(what_a_handler_returns_to_is_found),
        CHECK_CASE(what_a_handler_on_another_stack_returns_to_is_found),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
