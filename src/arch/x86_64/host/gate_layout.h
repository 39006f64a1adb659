/* SPDX-License-Identifier: MIT */
/*
 * What the gates of this CPU know of the registers in a context, and in the frame of a hook's gate, besides what
 * hook/hook_thread_layout.h has for all CPUs. For C and assembly; hook_thread_base.c asserts that the structs agree.
 */
#ifndef GAIT_ARCH_X86_64_HOST_GATE_LAYOUT_H
#define GAIT_ARCH_X86_64_HOST_GATE_LAYOUT_H

#include "arch/context_layout.h"
#include "hook/hook_thread_layout.h"

/* Of struct gait_cpu_context. */
#define CONTEXT_RSP 32

/* Of struct hook_gate_frame: 16 registers, the pc and the flags. */
#define HOOK_FRAME_RSP   (HOOK_FRAME_REGISTERS + CONTEXT_RSP)
#define HOOK_FRAME_PC    (HOOK_FRAME_REGISTERS + 128)
#define HOOK_FRAME_FLAGS (HOOK_FRAME_REGISTERS + 136)
#define HOOK_FRAME_BYTES (HOOK_FRAME_REGISTERS + 144)

#endif
