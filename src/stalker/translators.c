/* SPDX-License-Identifier: MIT */
/* The list of translators, one a line in translators.def. Constant, so no lock. */
#include "arch/host_cpu.h"
#include "base/text_parse.h"
#include "stalker/translator.h"

#include <stddef.h>

#define TRANSLATOR(cpu) extern const struct translator translator_##cpu;
#include "stalker/translators.def"
#undef TRANSLATOR

static const struct translator *const translators[] = {
#define TRANSLATOR(cpu) &translator_##cpu,
#include "stalker/translators.def"
#undef TRANSLATOR
};

const struct translator *translator_host(void)
{
    for (size_t i = 0; i < sizeof(translators) / sizeof(translators[0]); i++)
        if (text_equal(translators[i]->name, host_cpu_name()))
            return translators[i];
    return NULL;
}
