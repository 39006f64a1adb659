/* SPDX-License-Identifier: MIT */
#include "arch/own_calls.h"

#pragma GCC visibility push(hidden)
extern const char own_call_raw[];
#pragma GCC visibility pop

size_t own_calls_list(uint64_t addresses_out[OWN_CALLS_MAX])
{
    addresses_out[0] = (uintptr_t)own_call_raw;
    return 1;
}

bool own_calls_make_at(uint64_t place)
{
    return place == 0;
}

size_t own_calls_find_place(const uint8_t *bytes, size_t size_bytes)
{
    (void)bytes;
    (void)size_bytes;
    return SIZE_MAX;
}
