/* SPDX-License-Identifier: MIT */
/* Code in a block that finds out whether what it was translated from is still there. */
#ifndef GAIT_ARCH_X86_64_STALKER_SOURCE_CHECK_H
#define GAIT_ARCH_X86_64_STALKER_SOURCE_CHECK_H

struct translation;

/* Writes the check of all of the decoded block at its entry. Leaves registers and flags alone. */
void x86_put_source_check(struct translation *translation);

#endif
