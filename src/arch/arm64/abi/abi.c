/* SPDX-License-Identifier: MIT */
/* The procedure call standard of AArch64, as Linux has it. */
#include "arch/abi.h"

#include "arch/arm64/abi/probe_operand.h"

#include <linux/audit.h>
#include <linux/elf.h>

#define RELATIVE_RELOCATION 1027 /* R_AARCH64_RELATIVE */

extern const struct abi abi_arm64;

/* Of GNU libunwind, which has the CPU in its names. */
static const char *const frame_steps[] = {"_ULaarch64_step", "_Uaarch64_step", NULL};

const struct abi abi_arm64 = {
    .name = "arm64",
    .elf = {EM_AARCH64, RELATIVE_RELOCATION},
    .audit_arch = AUDIT_ARCH_AARCH64,
    .vector_set = NT_PRFPREG,
    .call_number = {NT_ARM_SYSTEM_CALL, 0, sizeof(uint32_t)},
    .call_result = {NT_PRSTATUS, 0, sizeof(uint64_t)}, /* x0 */
    .frame_steps = frame_steps,
    .read_probe_operand = arm64_probe_operand_read,
};
