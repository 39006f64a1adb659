/* SPDX-License-Identifier: MIT */
#include "arch/abi.h"

#include "support/check.h"

#include <elf.h>

static void a_call_has_a_set_of_its_own(void)
{
    const struct abi *abi = abi_by_elf_machine(EM_AARCH64);

    CHECK_EQUAL(abi->call_number.set, NT_ARM_SYSTEM_CALL);
    CHECK_EQUAL(abi->call_number.size_bytes, 4);
    CHECK_EQUAL(abi->call_result.offset, 0);
    CHECK_EQUAL(abi->elf.relative_relocation, R_AARCH64_RELATIVE);
    CHECK(abi->return_guard.line == NULL);
}

static const struct check_case cases[] = {CHECK_CASE(a_call_has_a_set_of_its_own)};

CHECK_MAIN(cases)
