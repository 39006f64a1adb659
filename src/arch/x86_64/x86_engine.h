/* SPDX-License-Identifier: MIT */
/* The engine's contract as x86-64 fulfils it: arch/engine.h says what each part is. */
#ifndef GAIT_ARCH_X86_64_X86_ENGINE_H
#define GAIT_ARCH_X86_64_X86_ENGINE_H

#include "arch/engine.h"

extern const struct engine_emit x86_emit;
extern const struct engine_place x86_place;
extern const struct engine_registers x86_registers;
extern const struct engine_frame x86_frame;
extern const struct engine_hook x86_hook;

#endif
