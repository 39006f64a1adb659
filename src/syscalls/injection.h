/* SPDX-License-Identifier: MIT */
/*
 * What system calls are made to do instead: fail, return something, wait, come with a signal. In the language of strace
 * -e inject=. Plain storage of the caller's.
 */
#ifndef GAIT_SYSCALLS_INJECTION_H
#define GAIT_SYSCALLS_INJECTION_H

#include "syscalls/system_call_set.h"

#define INJECTIONS_MAX       16
#define INJECTION_POKE_BYTES 256

struct injection {
    struct system_call_set set;
    bool has_result; /* the call is not made: it returns `result` */
    int64_t result;  /* or -errno */
    int signal;      /* 0: none */
    uint64_t delay_enter_ns;
    uint64_t delay_exit_ns;
    char poke_enter[INJECTION_POKE_BYTES]; /* "@arg1=00ff,@arg2=20": what is written where arguments point; "": nothing
                                            */
    char poke_exit[INJECTION_POKE_BYTES];
    uint32_t first, last, step; /* which of the calls that are in the set, from 1; step 0: only the first */
};

struct injections {
    struct injection all[INJECTIONS_MAX];
    size_t count;
};

/*
 * Reads SET[:error=E][:retval=N][:signal=S][:syscall=CALL][:delay_enter=T][:delay_exit=T][:poke_enter=P][:poke_exit=P]
 * [:when=N[..M][+[STEP]]]. -EINVAL: fault_out says what is wrong. `is_fault`: an error is meant, ENOSYS if none is
 * named.
 */
MUST_USE int injection_parse(const char *text, bool is_fault, struct injection *injection_out,
                             struct system_call_set_fault *fault_out);

/* Whether it can only happen to a thread that is stopped. */
bool injection_needs_stop(const struct injection *injection);

/* A time: microseconds, or a number with s, ms, us or ns. False: it is none. */
bool injection_parse_duration(const char *text, uint64_t *ns_out);

/* The bytes to write where argument `which` of a call points, out of a poke; 0: none. */
size_t injection_poke(const char *poke, unsigned which, uint8_t bytes_out[INJECTION_POKE_BYTES]);

/* Whether the count-th call of a thread that is in the set is meant. */
bool injection_applies(const struct injection *injection, uint32_t count);

#endif
