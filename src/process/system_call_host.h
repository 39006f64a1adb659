/* SPDX-License-Identifier: MIT */
/* Which of two figures of a .def counts on this CPU. */
#ifndef GAIT_PROCESS_SYSTEM_CALL_HOST_H
#define GAIT_PROCESS_SYSTEM_CALL_HOST_H

#if defined(__aarch64__)
#define SYSTEM_CALL_HOST(x86_64, arm64) (arm64)
#else
#define SYSTEM_CALL_HOST(x86_64, arm64) (x86_64)
#endif

#endif
