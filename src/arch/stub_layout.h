/* SPDX-License-Identifier: MIT */
/* Where in the stubs of the CPU that runs us what is, for C and assembly, where there is no time to ask. */
#ifndef GAIT_ARCH_STUB_LAYOUT_H
#define GAIT_ARCH_STUB_LAYOUT_H

#if defined(__x86_64__)
#include "arch/x86_64/hook/stub_layout.h"
#elif defined(__aarch64__)
#include "arch/arm64/hook/stub_layout.h"
#endif

#endif
