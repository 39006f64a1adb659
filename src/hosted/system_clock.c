/* SPDX-License-Identifier: MIT */
#include "hosted/system_clock.h"

#define NS_PER_S  1000000000u
#define NS_PER_MS 1000000u

uint64_t system_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t system_clock_ms(void)
{
    return system_clock_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

struct timespec system_clock_deadline(uint64_t timeout_ms)
{
    uint64_t end_ns = system_clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;

    return (struct timespec){(time_t)(end_ns / NS_PER_S), (long)(end_ns % NS_PER_S)};
}
