/* SPDX-License-Identifier: MIT */
#include "base/time_counter.h"

#include "support/check.h"

#include <time.h>

static void it_goes_on_with_time(void)
{
    const struct timespec pause = {0, 2000000};
    uint64_t before = time_counter(), later;

    nanosleep(&pause, NULL);
    later = time_counter();
    /* At least ten million a second. */
    CHECK(later - before > 20000);
    CHECK(time_counter() >= later);
}

static const struct check_case cases[] = {
    CHECK_CASE(it_goes_on_with_time),
};

CHECK_MAIN(cases)
