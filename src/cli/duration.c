/* SPDX-License-Identifier: MIT */
#include "cli/duration.h"

#include "trace/manifest.h"

#include <stdio.h>

const char *duration_write(double nanoseconds, char text[DURATION_BYTES])
{
    if (nanoseconds < 1e3)
        snprintf(text, DURATION_BYTES, "%.0f ns", nanoseconds);
    else if (nanoseconds < 1e6)
        snprintf(text, DURATION_BYTES, "%.2f us", nanoseconds / 1e3);
    else if (nanoseconds < 1e9)
        snprintf(text, DURATION_BYTES, "%.2f ms", nanoseconds / 1e6);
    else
        snprintf(text, DURATION_BYTES, "%.3f s", nanoseconds / 1e9);
    return text;
}

double duration_of_tick(const struct manifest *manifest)
{
    const struct clock_pair *first = manifest->clocks, *last;

    if (manifest->clock_count < 2)
        return 1;
    last = &first[manifest->clock_count - 1];
    if (last->counter == first->counter)
        return 1;
    return (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->counter - first->counter);
}
