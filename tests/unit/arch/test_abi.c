/* SPDX-License-Identifier: MIT */
#include "arch/abi.h"

#include "arch/host_cpu.h"
#include "elf/probe_operand_text.h"
#include "support/check.h"

#include <elf.h>
#include <link.h>

static void conventions_are_found_by_machine(void)
{
    CHECK_TEXT(abi_by_elf_machine(EM_X86_64)->name, "x86_64");
    CHECK_TEXT(abi_by_elf_machine(EM_AARCH64)->name, "arm64");
    CHECK(abi_by_elf_machine(EM_PDP11) == NULL);
    CHECK(abi_by_elf_machine(0) == NULL);
    CHECK(abi_probe_operands(EM_PDP11) == NULL);
    CHECK(abi_probe_operands(EM_AARCH64) == abi_by_elf_machine(EM_AARCH64)->read_probe_operand);
}

extern const char __executable_start[];

static void the_hosts_are_those_of_this_program(void)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;

    CHECK_TEXT(abi_host()->name, host_cpu_name());
    CHECK_EQUAL(abi_host()->elf.number, header->e_machine);
    CHECK(abi_by_elf_machine(header->e_machine) == abi_host());
}

static void all_that_is_said_is_given(void)
{
    const unsigned machines[] = {EM_X86_64, EM_AARCH64};

    for (unsigned i = 0; i < 2; i++) {
        const struct abi *abi = abi_by_elf_machine(machines[i]);

        /* The kernel's numbers for audits have the machine, and that it is one of 64 bits and of little ends. */
        CHECK_EQUAL(abi->audit_arch, 0xc0000000u | machines[i]);
        CHECK(abi->elf.relative_relocation != 0);
        CHECK(abi->vector_set != 0);
        CHECK(abi->call_number.size_bytes == 4 || abi->call_number.size_bytes == 8);
        CHECK_EQUAL(abi->call_result.set, NT_PRSTATUS);
        CHECK_EQUAL(abi->call_result.size_bytes, 8);
        CHECK(abi->read_probe_operand != NULL);
        CHECK((abi->return_guard.line == NULL) == (abi->return_guard.remedy == NULL));
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(conventions_are_found_by_machine),
    CHECK_CASE(the_hosts_are_those_of_this_program),
    CHECK_CASE(all_that_is_said_is_given),
};

CHECK_MAIN(cases)
