/* SPDX-License-Identifier: MIT */
/* The CPU that runs this is looked up by its name. */
#include "hook/redirector.h"

#include "arch/host_cpu.h"
#include "support/check.h"

static void the_host_has_its_own_or_none(void)
{
    const struct hook_redirector *redirector = hook_redirector_host();

    if (strcmp(host_cpu_name(), "x86_64") == 0)
        CHECK(redirector != NULL);
    if (redirector != NULL) {
        CHECK_TEXT(redirector->cpu, host_cpu_name());
        CHECK(redirector->make != NULL && redirector->jump != NULL);
    }
}

int main(void)
{
    static const struct check_case cases[] = {CHECK_CASE(the_host_has_its_own_or_none)};

    return check_run(cases, 1);
}
