/* SPDX-License-Identifier: MIT */
#include "base/clock_pair.h"

#include "base/raw_syscall.h"
#include "base/time_counter.h"

#include <asm/unistd.h>
#include <linux/time.h>
#include <linux/time_types.h>

#define READINGS 8

static uint64_t monotonic_ns(void)
{
    struct __kernel_timespec now = {0};

    (void)raw_syscall(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct clock_pair clock_pair_read(void)
{
    struct clock_pair best = {0};
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t before = time_counter();
        uint64_t now = monotonic_ns();
        uint64_t took = time_counter() - before;

        if (took < least) {
            least = took;
            best = (struct clock_pair){before + took / 2, now};
        }
    }
    return best;
}
