/* SPDX-License-Identifier: MIT */
/* The list of surveyors, one a line in surveyors.def. Constant, so no lock. */
#include "hook/hook_surveyor.h"

#define SURVEYOR(cpu) extern const struct hook_surveyor surveyor_##cpu;
#include "hook/surveyors.def"
#undef SURVEYOR

static const struct hook_surveyor *const surveyors[] = {
#define SURVEYOR(cpu) &surveyor_##cpu,
#include "hook/surveyors.def"
#undef SURVEYOR
};

const struct hook_surveyor *hook_surveyor_by_machine(unsigned machine)
{
    for (size_t i = 0; i < sizeof(surveyors) / sizeof(surveyors[0]); i++)
        if (surveyors[i]->machine == machine)
            return surveyors[i];
    return NULL;
}
