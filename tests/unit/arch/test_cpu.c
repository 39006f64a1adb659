/* SPDX-License-Identifier: MIT */
#include "arch/cpu.h"

#include "arch/abi.h"
#include "arch/arch.h"
#include "arch/engine.h"
#include "elf/probe_operand_text.h"
#include "stalker/block_draft.h"
#include "support/check.h"

#include <elf.h>
#include <link.h>

static void all_that_gait_has_for_a_cpu_is_found_by_machine(void)
{
    const struct cpu *cpu;

    CHECK(cpu_at(0) != NULL);
    for (size_t i = 0; (cpu = cpu_at(i)) != NULL; i++) {
        CHECK(abi_by_elf_machine(cpu->abi->elf.number) == cpu->abi);
        CHECK(arch_by_elf_machine(cpu->abi->elf.number) == cpu->arch);
        CHECK(engine_by_elf_machine(cpu->abi->elf.number) == cpu->engine);
        CHECK(abi_probe_operands(cpu->abi->elf.number) == cpu->abi->read_probe_operand);
        CHECK_TEXT(cpu->abi->name, cpu->name);
        CHECK(cpu->arch == NULL || cpu->arch->elf_machine == cpu->abi->elf.number);
    }
    CHECK_TEXT(abi_by_elf_machine(EM_X86_64)->name, "x86_64");
    CHECK_TEXT(arch_by_elf_machine(EM_X86_64)->name, "x86_64");
    CHECK_TEXT(abi_by_elf_machine(EM_AARCH64)->name, "arm64");
}

static void of_an_unknown_machine_there_is_nothing(void)
{
    const unsigned machines[] = {EM_PDP11, EM_NONE};

    for (unsigned i = 0; i < 2; i++) {
        CHECK(abi_by_elf_machine(machines[i]) == NULL);
        CHECK(arch_by_elf_machine(machines[i]) == NULL);
        CHECK(engine_by_elf_machine(machines[i]) == NULL);
        CHECK(abi_probe_operands(machines[i]) == NULL);
    }
    CHECK(cpu_at(1000) == NULL);
}

extern const char __executable_start[];

static void the_host_is_the_cpu_of_this_program(void)
{
    const ElfW(Ehdr) *header = (const void *)__executable_start;

    CHECK_EQUAL(cpu_host()->abi->elf.number, header->e_machine);
    CHECK(abi_host() == cpu_host()->abi);
    CHECK(arch_host() == cpu_host()->arch);
    CHECK(engine_host() == cpu_host()->engine);
}

static void conventions_are_given_as_a_whole(void)
{
    const struct cpu *cpu;

    for (size_t i = 0; (cpu = cpu_at(i)) != NULL; i++) {
        const struct abi *abi = cpu->abi;

        /* The kernel's numbers for audits have the machine, and that it is one of 64 bits and of little ends. */
        CHECK_EQUAL(abi->audit_arch, 0xc0000000u | abi->elf.number);
        CHECK(abi->elf.relative_relocation != 0);
        CHECK(abi->vector_set != 0);
        CHECK(abi->call_number.size_bytes == 4 || abi->call_number.size_bytes == 8);
        CHECK_EQUAL(abi->call_result.set, NT_PRSTATUS);
        CHECK_EQUAL(abi->call_result.size_bytes, 8);
        CHECK(abi->read_probe_operand != NULL);
        CHECK((abi->return_guard.line == NULL) == (abi->return_guard.remedy == NULL));
    }
}

static void instructions_are_known_as_a_whole_or_not_at_all(void)
{
    const struct cpu *cpu;

    for (size_t i = 0; (cpu = cpu_at(i)) != NULL; i++) {
        const struct arch *arch = cpu->arch;

        if (arch == NULL)
            continue;
        CHECK(arch->decode != NULL && arch->format != NULL && arch->register_name != NULL);
        CHECK(arch->relocate != NULL && arch->find_original != NULL && arch->find_copy != NULL);
        CHECK(arch->insn_bytes_max > 0 && arch->insn_bytes_max <= ARCH_INSN_BYTES_MAX);
        CHECK(arch->register_count > 0 && arch->register_count <= 64);
    }
}

/* From its first function on a part of the contract has nothing but functions. */
static void check_functions(const void *part, size_t first, size_t size_bytes)
{
    for (size_t offset = first; offset < size_bytes; offset += sizeof(void (*)(void)))
        CHECK(*(void *const *)(const void *)((const char *)part + offset) != NULL);
}

static void an_engine_fulfils_all_of_its_contract(void)
{
    const struct cpu *cpu;

    for (size_t i = 0; (cpu = cpu_at(i)) != NULL; i++) {
        const struct engine *engine = cpu->engine;

        if (engine == NULL)
            continue;
        CHECK(cpu->arch != NULL);
        CHECK(engine->emit->draft_bytes >= sizeof(struct block_draft));
        check_functions(engine->emit, offsetof(struct engine_emit, decode), sizeof(*engine->emit));
        check_functions(engine->place, offsetof(struct engine_place, landing_target), sizeof(*engine->place));
        check_functions(engine->registers, offsetof(struct engine_registers, system_call_next),
                        sizeof(*engine->registers));
        check_functions(engine->frame, offsetof(struct engine_frame, get), sizeof(*engine->frame));
        check_functions(engine->hook, offsetof(struct engine_hook, survey), sizeof(*engine->hook));
        CHECK(engine->hook->sizes.jump > 0 && engine->hook->sizes.jump <= REDIRECT_BYTES_MAX);
        CHECK(engine->hook->system_call_bytes > 0);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(all_that_gait_has_for_a_cpu_is_found_by_machine),
    CHECK_CASE(of_an_unknown_machine_there_is_nothing),
    CHECK_CASE(the_host_is_the_cpu_of_this_program),
    CHECK_CASE(conventions_are_given_as_a_whole),
    CHECK_CASE(instructions_are_known_as_a_whole_or_not_at_all),
    CHECK_CASE(an_engine_fulfils_all_of_its_contract),
};

CHECK_MAIN(cases)
