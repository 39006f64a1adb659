/* SPDX-License-Identifier: MIT */
/* The list of CPUs. Constant, so no lock; the only file that spells out all of them, by way of archs.def. */
#include "arch/arch.h"

#include "arch/host_cpu.h"
#include "base/text_parse.h"

#define ARCH(cpu) extern const struct arch arch_##cpu;
#include "arch/archs.def"
#undef ARCH

static const struct arch *const archs[] = {
#define ARCH(cpu) &arch_##cpu,
#include "arch/archs.def"
#undef ARCH
};

#define ARCH_COUNT (sizeof(archs) / sizeof(archs[0]))

const struct arch *arch_by_name(const char *name)
{
    for (size_t i = 0; i < ARCH_COUNT; i++)
        if (text_equal(archs[i]->name, name))
            return archs[i];
    return NULL;
}

const struct arch *arch_by_elf_machine(unsigned machine)
{
    for (size_t i = 0; i < ARCH_COUNT; i++)
        if (archs[i]->elf_machine == machine)
            return archs[i];
    return NULL;
}

const struct arch *arch_host(void)
{
    return arch_by_name(host_cpu_name());
}
