/* SPDX-License-Identifier: MIT */
/*
 * Where a struct gait_cpu_context has what all CPUs have, for C and assembly. The layouts that have one assert that the
 * struct agrees. Registers are at 8 times their number, from the beginning on.
 */
#ifndef GAIT_ARCH_CONTEXT_LAYOUT_H
#define GAIT_ARCH_CONTEXT_LAYOUT_H

#define CONTEXT_PC    256
#define CONTEXT_FLAGS 264

#endif
