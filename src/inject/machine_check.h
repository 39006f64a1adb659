/* SPDX-License-Identifier: MIT */
/*
 * Whether a process is of the kind that the agent is made for: 64-bit code of this CPU, whose return addresses nobody
 * else looks after. What is put into others ends them. For one thread of the controller.
 */
#ifndef GAIT_INJECT_MACHINE_CHECK_H
#define GAIT_INJECT_MACHINE_CHECK_H

#include "base/attributes.h"
#include "gait/error.h"
#include "inject/tracee.h"

#include <sys/types.h>

/* Without touching it: by its program, and what it has asked the system for. -ENOEXEC, -EOPNOTSUPP: it is not. */
MUST_USE int machine_check_process(pid_t pid, struct gait_error *err);

/* A stopped thread, by the code that it is in: 64-bit programs may have other code as well. -ENOEXEC: it is not. */
MUST_USE int machine_check_thread(const struct tracee *thread, struct gait_error *err);

/* The error of one that is not. */
int machine_check_refuse(pid_t pid, struct gait_error *err);

#endif
