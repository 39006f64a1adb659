/* SPDX-License-Identifier: MIT */
/* Whether /proc is what we take it for: all that is known of other processes is read there. */
#ifndef GAIT_INJECT_PROC_FOLDER_H
#define GAIT_INJECT_PROC_FOLDER_H

#include "gait/error.h"

/*
 * -ENOENT: it is not mounted, as in many a chroot, or something covers it; -EXDEV: it is that of another PID namespace,
 * where numbers mean other processes.
 */
int proc_folder_check(struct gait_error *err) __attribute__((warn_unused_result));

#endif
