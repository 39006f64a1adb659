/* SPDX-License-Identifier: MIT */
/* Linking the exits of x86-64 blocks. As arch/engine.h has it. */
#ifndef GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H

#include "base/attributes.h"

struct block;
struct block_exit;
struct code_cache;

MUST_USE int x86_link(const struct code_cache *cache, struct block_exit *exit, const struct block *to);

#endif
