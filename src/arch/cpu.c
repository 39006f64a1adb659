/* SPDX-License-Identifier: MIT */
/* The list of CPUs, and what is found by it. Constant, so no lock; nothing else names a CPU, by way of cpus.def. */
#include "arch/cpu.h"

#include "arch/abi.h"
#include "arch/arch.h"
#include "arch/engine.h"

#define CPU(name) extern const struct cpu cpu_##name;
#include "arch/cpus.def"
#undef CPU

static const struct cpu *const cpus[] = {
#define CPU(name) &cpu_##name,
#include "arch/cpus.def"
#undef CPU
};

const struct cpu *cpu_at(size_t index)
{
    return index < sizeof(cpus) / sizeof(cpus[0]) ? cpus[index] : NULL;
}

static const struct cpu *cpu_by_elf_machine(unsigned machine)
{
    const struct cpu *cpu;

    for (size_t i = 0; (cpu = cpu_at(i)) != NULL; i++)
        if (cpu->abi->elf.number == machine)
            return cpu;
    return NULL;
}

const struct abi *abi_by_elf_machine(unsigned machine)
{
    const struct cpu *cpu = cpu_by_elf_machine(machine);

    return cpu == NULL ? NULL : cpu->abi;
}

probe_operand_reader abi_probe_operands(unsigned machine)
{
    const struct abi *abi = abi_by_elf_machine(machine);

    return abi == NULL ? NULL : abi->read_probe_operand;
}

const struct abi *abi_host(void)
{
    return cpu_host()->abi;
}

const struct arch *arch_by_elf_machine(unsigned machine)
{
    const struct cpu *cpu = cpu_by_elf_machine(machine);

    return cpu == NULL ? NULL : cpu->arch;
}

const struct arch *arch_host(void)
{
    return cpu_host()->arch;
}

const struct engine *engine_by_elf_machine(unsigned machine)
{
    const struct cpu *cpu = cpu_by_elf_machine(machine);

    return cpu == NULL ? NULL : cpu->engine;
}

const struct engine *engine_host(void)
{
    return cpu_host()->engine;
}
