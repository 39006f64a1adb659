/* SPDX-License-Identifier: MIT */
#include "arch/abi.h"

#include "support/check.h"

#include <elf.h>

/* In the kernel's order: the result is the eleventh word, what the call was the sixteenth. */
static void a_call_is_found_in_the_general_registers(void)
{
    const struct abi *abi = abi_by_elf_machine(EM_X86_64);

    CHECK_EQUAL(abi->call_number.set, NT_PRSTATUS);
    CHECK_EQUAL(abi->call_number.offset, 15 * 8);
    CHECK_EQUAL(abi->call_result.offset, 10 * 8);
    CHECK_EQUAL(abi->elf.relative_relocation, R_X86_64_RELATIVE);
    CHECK_EQUAL(abi->vector_set, NT_X86_XSTATE);
}

static const struct check_case cases[] = {CHECK_CASE(a_call_is_found_in_the_general_registers)};

CHECK_MAIN(cases)
