/* SPDX-License-Identifier: MIT */
/* Linking the exits of x86-64 blocks. As translator.h has it. */
#ifndef GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_EXIT_CODE_H

#include "base/attributes.h"

struct block;
struct block_exit;
struct translation;

MUST_USE int x86_link(struct translation *translation, struct block_exit *exit, const struct block *to);

#endif
