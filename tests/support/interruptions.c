/* SPDX-License-Identifier: MIT */
/* The handler takes no memory and calls nobody: it may be anywhere. */
#define _GNU_SOURCE
#include "support/interruptions.h"

#if defined(__x86_64__)

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define PERIOD_NS 15000

struct interruptions interruptions;

static timer_t timer;

static const int register_places[X86_GPR_COUNT] = {
    [X86_RAX] = REG_RAX, [X86_RCX] = REG_RCX, [X86_RDX] = REG_RDX, [X86_RBX] = REG_RBX,
    [X86_RSP] = REG_RSP, [X86_RBP] = REG_RBP, [X86_RSI] = REG_RSI, [X86_RDI] = REG_RDI,
    [X86_R8] = REG_R8,   [X86_R9] = REG_R9,   [X86_R10] = REG_R10, [X86_R11] = REG_R11,
    [X86_R12] = REG_R12, [X86_R13] = REG_R13, [X86_R14] = REG_R14, [X86_R15] = REG_R15,
};

/* Without vectors, whose accesses need not be aligned: alignment may be checked where the signal comes. */
static __attribute__((target("general-regs-only"))) void on_signal(int number, siginfo_t *info, void *opaque)
{
    const ucontext_t *context = opaque;
    uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    struct step *step;

    (void)number;
    (void)info;
    if (rip - interruptions.code.address >= interruptions.code.size_bytes || interruptions.count == STEP_LIST_ROOM)
        return;
    step = &interruptions.steps[interruptions.count++];
    step->rip = rip;
    step->rflags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        step->gpr[i] = (uint64_t)context->uc_mcontext.gregs[register_places[i]];
}

int interruptions_begin(struct arena_span code)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};

    interruptions.code = code;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (sigaction(SIGUSR1, &action, NULL) != 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return -errno;
    return 0;
}

static void set_period(long period_ns)
{
    struct timespec period = {.tv_nsec = period_ns};
    struct itimerspec setting = {period, period};

    timer_settime(timer, 0, &setting, NULL);
}

void interruptions_start(void)
{
    interruptions.count = 0;
    set_period(PERIOD_NS);
}

void interruptions_stop(void)
{
    set_period(0);
}

#endif
