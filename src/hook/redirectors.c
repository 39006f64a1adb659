/* SPDX-License-Identifier: MIT */
/* The list of redirectors, one a line in redirectors.def. Constant, so no lock. */
#include "hook/redirector.h"

#include "arch/host_cpu.h"

#include <stddef.h>

#define REDIRECTOR(cpu) extern const struct hook_redirector redirector_##cpu;
#include "hook/redirectors.def"
#undef REDIRECTOR

static const struct hook_redirector *const redirectors[] = {
#define REDIRECTOR(cpu) &redirector_##cpu,
#include "hook/redirectors.def"
#undef REDIRECTOR
};

static int compare_names(const char *first, const char *second)
{
    while (*first != '\0' && *first == *second) {
        first++;
        second++;
    }
    return *first - *second;
}

const struct hook_redirector *hook_redirector_host(void)
{
    for (size_t i = 0; i < sizeof(redirectors) / sizeof(redirectors[0]); i++)
        if (compare_names(redirectors[i]->cpu, host_cpu_name()) == 0)
            return redirectors[i];
    return NULL;
}
