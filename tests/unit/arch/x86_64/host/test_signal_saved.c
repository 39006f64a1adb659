/* SPDX-License-Identifier: MIT */
/* Where the kernel puts what a signal has interrupted, and how far behind a trap a handler finds the pc. */
#define _GNU_SOURCE
#include "arch/signal_saved.h"

#include "support/check.h"

#include <signal.h>
#include <ucontext.h>

static volatile uint64_t expected_pc;
static volatile int traps;

static void handler(int number, siginfo_t *info, void *argument)
{
    ucontext_t *context = argument;
    uint64_t at = signal_saved_pc_in((uintptr_t)argument);

    (void)number;
    (void)info;
    traps++;
    CHECK_EQUAL(at, (uintptr_t)&context->uc_mcontext.gregs[REG_RIP]);
    CHECK_EQUAL(at, signal_saved_pc_at((uintptr_t)argument - 8));
    CHECK_EQUAL(signal_saved_sp_at((uintptr_t)argument - 8), (uintptr_t)&context->uc_mcontext.gregs[REG_RSP]);
    CHECK_EQUAL(*(uint64_t *)at - signal_trap_distance(), expected_pc);
}

static void the_registers_are_where_the_kernel_puts_them(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO}, before;

    sigaction(SIGTRAP, &action, &before);
    __asm__ volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; 1: int3" : "=m"(expected_pc)::"rax");
    CHECK_EQUAL(traps, 1);
    sigaction(SIGTRAP, &before, NULL);
}

static void the_restorer_is_what_debuggers_look_for(void)
{
    static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

    CHECK(memcmp((void *)(uintptr_t)signal_restorer(), expected, sizeof(expected)) == 0);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(the_registers_are_where_the_kernel_puts_them),
        CHECK_CASE(the_restorer_is_what_debuggers_look_for),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
