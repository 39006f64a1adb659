/* SPDX-License-Identifier: MIT */
/* See arch/system_call_layout.h. */
#ifndef GAIT_ARCH_X86_64_ABI_SYSTEM_CALL_LAYOUT_H
#define GAIT_ARCH_X86_64_ABI_SYSTEM_CALL_LAYOUT_H

#define LAYOUT_STAT_BYTES         144
#define LAYOUT_SIGACTION_BYTES    32
#define LAYOUT_EPOLL_EVENT_BYTES  12
#define LAYOUT_EPOLL_DATA_AT      4
#define LAYOUT_CLONE_TLS_AT       4
#define LAYOUT_CLONE_CHILD_TID_AT 3

#endif
