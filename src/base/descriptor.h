/* SPDX-License-Identifier: MIT */
/* Files that gait opens for a moment in a process that has opened as many as it may (ulimit -n). */
#ifndef GAIT_BASE_DESCRIPTOR_H
#define GAIT_BASE_DESCRIPTOR_H

/*
 * As openat from the current folder, closed by execve; signal-safe. If the process has no descriptor left, its limit is
 * raised for the time of the call, as far as the system allows: what is open beyond a limit stays usable. -errno.
 */
long descriptor_open(const char *path, int flags);

#endif
