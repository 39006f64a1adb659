/* SPDX-License-Identifier: MIT */
/* Operands of static probes: %eax, -16(%rbp) and the like; the abi's read_probe_operand. Usable everywhere. */
#ifndef GAIT_ARCH_X86_64_ABI_PROBE_OPERAND_H
#define GAIT_ARCH_X86_64_ABI_PROBE_OPERAND_H

#include <stdbool.h>

struct operand_text;
struct probe_operand;

bool x86_probe_operand_read(struct operand_text text, struct probe_operand *operand);

#endif
