/* SPDX-License-Identifier: MIT */
/* What a filter of system calls answers to a call: the kernel's small machine once more. */
#ifndef GAIT_INJECT_SECCOMP_PROGRAM_H
#define GAIT_INJECT_SECCOMP_PROGRAM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* SECCOMP_RET_KILL_PROCESS for a program that makes no sense: the kernel has none such. */
uint32_t seccomp_program_run(const struct sock_filter *program, size_t count, const struct seccomp_data *data);

#endif
