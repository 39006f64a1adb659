/* SPDX-License-Identifier: MIT */
#include "agent/entry_loop.h"

#include "arch/arch.h"
#include "arch/host_cpu.h"
#include "stalker/program_memory.h"

/* Longer ones are not looked through. */
#define BYTES_MAX (1u << 20)

static bool is_jump_to(const struct arch_insn *insn, uint64_t address)
{
    return (insn->flow == ARCH_FLOW_JUMP || insn->flow == ARCH_FLOW_BRANCH) && insn->target == address;
}

bool entry_loop_may_be(uint64_t address, uint64_t size_bytes)
{
    const struct arch *arch = arch_host();
    const uint8_t *code = (const uint8_t *)(uintptr_t)address;
    struct arch_insn insn;

    if (arch == NULL || size_bytes < 8 || size_bytes > BYTES_MAX || !program_memory_is_readable(address, size_bytes))
        return true;
    for (uint64_t at = 0; at < size_bytes; at += insn.length) {
        if (arch->decode(code + at, size_bytes - at, app_pc_of(address + at), host_cpu_decode_options(), &insn) != 0)
            return true;
        if (is_jump_to(&insn, address))
            return true;
    }
    return false;
}
