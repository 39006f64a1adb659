/* SPDX-License-Identifier: MIT */
#include "arch/own_calls.h"

#include "base/memory_functions.h"

#pragma GCC visibility push(hidden)
extern uint64_t own_call_place;
extern const char own_call_raw[];
extern const char own_call_clone[];
extern const char own_call_clone_end[];
extern const char own_call_landing[];
extern const char own_call_landing_wake[];
extern const char own_call_landing_end[];
extern const char own_call_signal_end[];
extern const char own_call_signal_restorer[];
extern const char own_call_signal_return[];
extern const char own_call_gate_signals[];
extern const char own_call_gate_begin[];
extern const char own_call_call_gate[];
#pragma GCC visibility pop

size_t own_calls_list(uint64_t addresses_out[OWN_CALLS_MAX])
{
    const char *const places[] = {
        own_call_raw,           own_call_clone,        own_call_clone_end,  own_call_landing,
        own_call_landing_wake,  own_call_landing_end,  own_call_signal_end, own_call_signal_restorer,
        own_call_signal_return, own_call_gate_signals, own_call_gate_begin, own_call_call_gate,
    };
    const size_t count = sizeof(places) / sizeof(places[0]);

    for (size_t i = 0; i < count; i++)
        addresses_out[i] = (uintptr_t)places[i];
    return count;
}

bool own_calls_make_at(uint64_t place)
{
    __atomic_store_n(&own_call_place, place, __ATOMIC_RELEASE);
    return true;
}

size_t own_calls_find_place(const uint8_t *bytes, size_t size_bytes)
{
    static const uint8_t wanted[] = {0x0f, 0x05, 0xc3}; /* syscall; ret */

    for (size_t i = 0; i + sizeof(wanted) <= size_bytes; i++)
        if (memcmp(bytes + i, wanted, sizeof(wanted)) == 0)
            return i;
    return SIZE_MAX;
}
