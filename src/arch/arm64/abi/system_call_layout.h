/* SPDX-License-Identifier: MIT */
/* See arch/system_call_layout.h. */
#ifndef GAIT_ARCH_ARM64_ABI_SYSTEM_CALL_LAYOUT_H
#define GAIT_ARCH_ARM64_ABI_SYSTEM_CALL_LAYOUT_H

#define LAYOUT_STAT_BYTES         128
#define LAYOUT_SIGACTION_BYTES    24
#define LAYOUT_EPOLL_EVENT_BYTES  16
#define LAYOUT_EPOLL_DATA_AT      8
#define LAYOUT_CLONE_TLS_AT       3
#define LAYOUT_CLONE_CHILD_TID_AT 4

#endif
