/* SPDX-License-Identifier: MIT */
/*
 * What system calls are made to do instead: fail, return something, wait, come with a signal. In the language of strace
 * -e inject=. Plain storage of the caller's.
 */
#ifndef GAIT_SYSCALLS_INJECTION_H
#define GAIT_SYSCALLS_INJECTION_H

#include "syscalls/system_call_set.h"

#define INJECTIONS_MAX 16

struct injection {
    struct system_call_set set;
    bool has_result; /* the call is not made: it returns `result` */
    int64_t result;  /* or -errno */
    int signal;      /* 0: none */
    uint64_t delay_enter_ns;
    uint64_t delay_exit_ns;
    uint32_t first, last, step; /* which of the calls that are in the set, from 1; step 0: only the first */
};

struct injections {
    struct injection all[INJECTIONS_MAX];
    size_t count;
};

/*
 * Reads SET[:error=E][:retval=N][:signal=S][:delay_enter=T][:delay_exit=T][:when=N[..M][+[STEP]]]. -EINVAL: fault_out
 * says what is wrong. `is_fault`: an error is meant, ENOSYS if none is named.
 */
MUST_USE int injection_parse(const char *text, bool is_fault, struct injection *injection_out,
                             struct system_call_set_fault *fault_out);

/* Whether the count-th call of a thread that is in the set is meant. */
bool injection_applies(const struct injection *injection, uint32_t count);

#endif
