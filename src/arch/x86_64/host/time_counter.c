/* SPDX-License-Identifier: MIT */
#include "base/time_counter.h"

uint64_t time_counter(void)
{
    return __builtin_ia32_rdtsc();
}
