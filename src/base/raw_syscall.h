/* SPDX-License-Identifier: MIT */
/*
 * System calls without libc: no errno, no cancellation points, no wrappers. Implemented once for each CPU in
 * arch/<cpu>/host/raw_syscall.S. Usable inside the target, from any thread and in signal handlers.
 */
#ifndef GAIT_BASE_RAW_SYSCALL_H
#define GAIT_BASE_RAW_SYSCALL_H

/* Returns what the kernel returns: -4095..-1 is -errno. Unused arguments are passed as 0. */
long raw_syscall(long number, long a, long b, long c, long d, long e, long f);

/*
 * The same for what the program asked for. A filter of system calls (seccomp) is told where they are made, and so can
 * tell the program's from ours: see arch/own_calls.h. The other one is where it returns to.
 */
long raw_syscall_for_program(long number, long a, long b, long c, long d, long e, long f);
extern const char raw_syscall_for_program_end[] __attribute__((visibility("hidden")));

#endif
