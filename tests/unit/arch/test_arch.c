/* SPDX-License-Identifier: MIT */
#include "arch/arch.h"

#include "arch/host_cpu.h"
#include "support/check.h"

#include <elf.h>

static void a_cpu_is_found_by_name_and_by_machine_number(void)
{
    const struct arch *arch = arch_by_name("x86_64");

    CHECK(arch != NULL);
    CHECK(arch == arch_by_elf_machine(EM_X86_64));
    CHECK_TEXT(arch->name, "x86_64");
}

static void an_unknown_cpu_is_not_found(void)
{
    CHECK(arch_by_name("") == NULL);
    CHECK(arch_by_name("x86_6") == NULL);
    CHECK(arch_by_name("pdp11") == NULL);
    CHECK(arch_by_elf_machine(EM_PDP11) == NULL);
    CHECK(arch_by_elf_machine(0) == NULL);
}

static void the_host_is_the_cpu_that_it_says(void)
{
    CHECK(arch_host() == arch_by_name(host_cpu_name()));
}

static void every_cpu_has_all_functions(void)
{
    static const struct {
        const char *name;
        unsigned machine;
    } known[] = {
#define ARCH(cpu) {#cpu, 0},
#include "arch/archs.def"
#undef ARCH
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const struct arch *arch = arch_by_name(known[i].name);

        CHECK(arch != NULL);
        if (arch == NULL)
            continue;
        CHECK(arch->decode != NULL && arch->format != NULL && arch->register_name != NULL);
        CHECK(arch->relocate != NULL && arch->find_original != NULL && arch->find_copy != NULL);
        CHECK(arch->insn_bytes_max > 0 && arch->insn_bytes_max <= ARCH_INSN_BYTES_MAX);
        CHECK(arch->register_count > 0 && arch->register_count <= 64);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(a_cpu_is_found_by_name_and_by_machine_number),
    CHECK_CASE(an_unknown_cpu_is_not_found),
    CHECK_CASE(the_host_is_the_cpu_that_it_says),
    CHECK_CASE(every_cpu_has_all_functions),
};

CHECK_MAIN(cases)
