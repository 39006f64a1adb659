/* SPDX-License-Identifier: MIT */
/* The counters of base/counters.h, in their order. Stateless. */
#include "gait/counter.h"

#include "base/counters.h"
#include "libgait/export.h"

EXPORT void gait_counters_read(gait_counter_visit visit, void *context)
{
    bool is_wanted = visit != NULL;

    for (unsigned i = 0; i < COUNTER_COUNT && is_wanted; i++) {
        const struct counter_description *description = counter_describe((enum counter)i);
        const struct gait_counter counter = {
            .size_bytes = sizeof(counter),
            .name = description->name,
            .unit = description->unit,
            .explanation = description->explanation,
            .value = counter_read((enum counter)i),
        };

        is_wanted = visit(context, &counter);
    }
}
