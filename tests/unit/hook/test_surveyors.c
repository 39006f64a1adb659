/* SPDX-License-Identifier: MIT */
#include "hook/hook_surveyor.h"

#include "support/check.h"

#include <elf.h>

static void surveyors_are_found_by_machine(void)
{
    const struct hook_surveyor *surveyor = hook_surveyor_by_machine(EM_X86_64);

    CHECK(surveyor != NULL && surveyor->machine == EM_X86_64);
    CHECK(surveyor != NULL && surveyor->survey != NULL && surveyor->look != NULL);
    CHECK(hook_surveyor_by_machine(EM_AARCH64) == NULL);
    CHECK(hook_surveyor_by_machine(EM_NONE) == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(surveyors_are_found_by_machine),
};

CHECK_MAIN(cases)
