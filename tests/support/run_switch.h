/* SPDX-License-Identifier: MIT */
/*
 * The crossing between the test program (the host) and the code under test, for code_runner.c alone: in by rt_sigreturn
 * on a prepared frame, back out of a signal handler by a jump to the stack that the host left. One crossing at a time
 * in a process.
 */
#ifndef GAIT_TESTS_RUN_SWITCH_H
#define GAIT_TESTS_RUN_SWITCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* The bases that the interrupted code had; the handler itself runs with the host's. Zero if they cannot be read. */
struct run_switch_bases {
    uint64_t fs;
    uint64_t gs;
};

/*
 * What to do on a signal; runs on the alternate stack with the host's thread pointer, AC and DF clear. True: leave the
 * code under test, run_switch_enter returns. False: go on where the signal came.
 */
typedef bool (*run_switch_handler)(int signal, siginfo_t *info, void *context, const struct run_switch_bases *bases);

/* The assembly knows the offsets. */
struct run_switch {
    uint64_t host_sp;
    uint64_t inside;         /* not 0 from run_switch_enter until the jump back */
    uint64_t restores_bases; /* not 0: user code can change the bases, and the handler puts the host's back */
    uint64_t host_fs_base;
    uint64_t host_gs_base; /* the host does not use it: this is the one for the code under test */
    run_switch_handler handler;
};

extern struct run_switch run_switch;

/*
 * Goes to the state in the signal frame whose ucontext is at `ucontext`; eight bytes below it are overwritten. `flags`
 * is loaded before: for those bits that rt_sigreturn does not load. Returns when the handler says so.
 */
void run_switch_enter(void *ucontext, uint64_t flags);
extern const char run_switch_enter_end[];

/* What to install as the handler of signals, and as its restorer. */
void run_switch_signal(int signal, siginfo_t *info, void *context);
void run_switch_restorer(void);

#endif
