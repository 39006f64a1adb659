/* SPDX-License-Identifier: MIT */
/* What transformers put into x86-64 blocks. As arch/engine.h has it. */
#ifndef GAIT_ARCH_X86_64_STALKER_CALLOUT_CODE_H
#define GAIT_ARCH_X86_64_STALKER_CALLOUT_CODE_H

#include "base/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callout;
struct translation;

void x86_put_callout(struct translation *translation, const struct callout *callout);
void x86_put_code(struct translation *translation, struct app_pc pc, const void *code, size_t size_bytes);
void x86_put_count(struct translation *translation, struct app_pc pc, uint64_t *counter);
void x86_put_return_here(struct translation *translation, struct app_pc pc);

void x86_put_counts(struct translation *translation, struct app_pc pc, bool flags_free);

#endif
