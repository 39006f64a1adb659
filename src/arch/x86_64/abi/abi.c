/* SPDX-License-Identifier: MIT */
/* The System V ABI, as Linux has it. */
#include "arch/abi.h"

#include "arch/x86_64/abi/probe_operand.h"
#include "arch/x86_64/isa/user_registers.h"

#include <linux/audit.h>
#include <linux/elf.h>
#include <stddef.h>

#define RELATIVE_RELOCATION 8 /* R_X86_64_RELATIVE */

extern const struct abi abi_x86_64;

/* Of GNU libunwind, which has the CPU in its names. */
static const char *const frame_steps[] = {"_ULx86_64_step", "_Ux86_64_step", NULL};

const struct abi abi_x86_64 = {
    .name = "x86_64",
    .elf = {EM_X86_64, RELATIVE_RELOCATION},
    .audit_arch = AUDIT_ARCH_X86_64,
    .vector_set = NT_X86_XSTATE,
    .call_number = {NT_PRSTATUS, offsetof(struct x86_user_registers, orig_rax), sizeof(uint64_t)},
    .call_result = {NT_PRSTATUS, offsetof(struct x86_user_registers, rax), sizeof(uint64_t)},
    .return_guard = {"x86_Thread_features:", "shstk", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-SHSTK"},
    .frame_steps = frame_steps,
    .read_probe_operand = x86_probe_operand_read,
};
