/* SPDX-License-Identifier: MIT */
/*
 * What system calls of the CPU that this is built for hand over, as far as CPUs differ in it; each says so in
 * arch/<cpu>/abi/system_call_layout.h. All others are alike. Sizes and offsets in bytes:
 *
 *   LAYOUT_STAT_BYTES, LAYOUT_SIGACTION_BYTES, LAYOUT_EPOLL_EVENT_BYTES    of the kernel's structs
 *   LAYOUT_EPOLL_DATA_AT                                                   of `data` in struct epoll_event
 *   LAYOUT_CLONE_TLS_AT, LAYOUT_CLONE_CHILD_TID_AT                         which arguments of clone they are, from 0
 */
#ifndef GAIT_ARCH_SYSTEM_CALL_LAYOUT_H
#define GAIT_ARCH_SYSTEM_CALL_LAYOUT_H

#if defined(__aarch64__)
#include "arch/arm64/abi/system_call_layout.h"
#else
#include "arch/x86_64/abi/system_call_layout.h"
#endif

#endif
