/* SPDX-License-Identifier: MIT */
#include "base/time_counter.h"

uint64_t time_counter(void)
{
    uint64_t value;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
}
