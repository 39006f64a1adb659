/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls (seccomp) that a followed program puts upon itself: they must let through what the engine
 * needs, which the program never made, and nothing more. Such a call is known by the place that it is made from; what
 * the program asks for is made elsewhere, and meets the program's filter as it is.
 *
 * Strict mode becomes a filter, which traps; a thread that broke it kills its process, where the kernel would have
 * killed the thread.
 */
#ifndef GAIT_STALKER_SECCOMP_FILTER_H
#define GAIT_STALKER_SECCOMP_FILTER_H

#include "base/attributes.h"
#include "stalker/system_call.h"

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the call puts a filter upon the calling thread: a seccomp or prctl. */
bool seccomp_filter_is_set_by(const struct system_call *call);

/* Makes that call, with the filter changed. Returns what the kernel does. */
long seccomp_filter_set(const struct system_call *call);

/* A filter that lets our own calls pass, with the program's behind that. */
struct seccomp_changed {
    struct sock_fprog program;
    struct sock_filter filter[BPF_MAXINSNS];
};

/*
 * For who does not make the call: what is to be in the place of its argument of that number until it is made. NULL: it
 * is left as it is, since it sets no filter, strict mode, or one that the kernel or memory does not allow.
 */
struct seccomp_changed *seccomp_filter_change(const struct system_call *call, unsigned *argument_out);
void seccomp_filter_forget(struct seccomp_changed *changed);

/* Whether a trap, SIGSYS, with that data (si_errno) is for breaking strict mode: SIGKILL is what that means. */
bool seccomp_filter_kills(int trapped_data);

/*
 * What such a filter begins with: it lets calls pass that return to one of the addresses, and goes on behind otherwise.
 * Returns how many instructions that is. 0: there is no room.
 */
MUST_USE size_t seccomp_filter_begin(const uint64_t *addresses, size_t count, struct sock_filter *filter_out,
                                     size_t capacity);

#endif
