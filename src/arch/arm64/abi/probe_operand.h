/* SPDX-License-Identifier: MIT */
/* Operands of static probes: x0, [sp, 16] and the like; the abi's read_probe_operand. Usable everywhere. */
#ifndef GAIT_ARCH_ARM64_ABI_PROBE_OPERAND_H
#define GAIT_ARCH_ARM64_ABI_PROBE_OPERAND_H

#include <stdbool.h>

struct operand_text;
struct probe_operand;

bool arm64_probe_operand_read(struct operand_text text, struct probe_operand *operand);

#endif
