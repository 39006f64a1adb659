/* SPDX-License-Identifier: MIT */
/* The stalker's contract as x86-64 fulfils it. */
#ifndef GAIT_ARCH_X86_64_STALKER_TRANSLATE_BLOCK_H
#define GAIT_ARCH_X86_64_STALKER_TRANSLATE_BLOCK_H

struct translator;

extern const struct translator translator_x86_64;

#endif
