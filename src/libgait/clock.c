/* SPDX-License-Identifier: MIT */
#include "gait/clock.h"

#include "base/clock_pair.h"
#include "libgait/export.h"

EXPORT void gait_clock_read(struct gait_clock_pair *pair_out)
{
    struct clock_pair pair = clock_pair_read();

    *pair_out = (struct gait_clock_pair){pair.counter, pair.monotonic_ns};
}

EXPORT uint64_t gait_clock_to_ns(const struct gait_clock_pair *first, const struct gait_clock_pair *second,
                                 uint64_t counter)
{
    int64_t counter_span = (int64_t)(second->counter - first->counter);
    int64_t ns_span = (int64_t)(second->monotonic_ns - first->monotonic_ns);

    if (counter_span == 0)
        return first->monotonic_ns;
    /* 128 bits: a day of nanoseconds times a day of cycles is more than 64. */
    return first->monotonic_ns + (uint64_t)((__int128)(int64_t)(counter - first->counter) * ns_span / counter_span);
}
