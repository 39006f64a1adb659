/* SPDX-License-Identifier: MIT */
/*
 * Whether a process that has confined itself by seccomp lets the agent make its system calls: the first one that is
 * forbidden might kill it.
 */
#ifndef GAIT_INJECT_SECCOMP_CHECK_H
#define GAIT_INJECT_SECCOMP_CHECK_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/tracee.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * For a stopped thread that is to take the agent in. -EPERM: it cannot, or that is not known. Else *counter_out says
 * whether the agent may find out if the thread can read the counter of time, and change that.
 */
MUST_USE int seccomp_check_all(const struct tracee *thread, bool *counter_out, struct gait_error *err);

/* The same for giving the agent's memory back, which is done from the program's own code. */
MUST_USE int seccomp_check_unload(const struct tracee *thread, struct gait_error *err);

/*
 * What a filter of system calls answers to a call: the kernel's small machine once more. SECCOMP_RET_KILL_PROCESS for a
 * program that makes no sense: the kernel has none such.
 */
uint32_t seccomp_program_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data);

#endif
