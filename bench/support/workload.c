/* SPDX-License-Identifier: MIT */
/* The table of workloads, made from workloads.def. Stateless. */
#include "support/workload.h"

#include <string.h>

const struct workload *const workloads[WORKLOAD_COUNT] = {
#define WORKLOAD(name) &workload_##name,
#include "support/workloads.def"
#undef WORKLOAD
};

const struct workload *workload_find(const char *name)
{
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        if (strcmp(workloads[i]->name, name) == 0)
            return workloads[i];
    return NULL;
}

int workload_prepare(const struct workload *workload, unsigned scale_percent, void **state_out)
{
    return workload->prepare(workload->subject, scale_percent, state_out);
}

size_t workload_scale(size_t amount, unsigned scale_percent)
{
    size_t scaled = amount * scale_percent / 100;

    return scaled == 0 ? 1 : scaled;
}
