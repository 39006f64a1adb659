/* SPDX-License-Identifier: MIT */
/* The list of conventions. Constant, so no lock; the only file that spells out all of them, by way of abis.def. */
#include "arch/abi.h"

#include "arch/host_cpu.h"
#include "base/assert.h"
#include "base/text_parse.h"

#define ABI(cpu) extern const struct abi abi_##cpu;
#include "arch/abis.def"
#undef ABI

static const struct abi *const abis[] = {
#define ABI(cpu) &abi_##cpu,
#include "arch/abis.def"
#undef ABI
};

#define ABI_COUNT (sizeof(abis) / sizeof(abis[0]))

const struct abi *abi_by_elf_machine(unsigned machine)
{
    for (size_t i = 0; i < ABI_COUNT; i++)
        if (abis[i]->elf.number == machine)
            return abis[i];
    return NULL;
}

probe_operand_reader abi_probe_operands(unsigned machine)
{
    const struct abi *abi = abi_by_elf_machine(machine);

    return abi == NULL ? NULL : abi->read_probe_operand;
}

const struct abi *abi_host(void)
{
    size_t i = 0;

    while (i < ABI_COUNT - 1 && !text_equal(abis[i]->name, host_cpu_name()))
        i++;
    ASSERT(text_equal(abis[i]->name, host_cpu_name()), "a CPU with host/ has a line in abis.def");
    return abis[i];
}
