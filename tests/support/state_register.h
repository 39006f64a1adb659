/* SPDX-License-Identifier: MIT */
/* Registers of a machine state by kind and number, as gait/cpu_registers.h has them. x86-64 only. */
#ifndef GAIT_TESTS_STATE_REGISTER_H
#define GAIT_TESTS_STATE_REGISTER_H

#include "gait/x86_64.h"
#include "support/machine_state.h"

#include <string.h>

#define STATE_REGISTER_BYTES 64

/* What is behind the register's own bytes is 0. */
static inline void state_register_get(const struct machine_state *state, unsigned kind, unsigned number,
                                      uint8_t bytes_out[STATE_REGISTER_BYTES])
{
    const uint32_t controls[] = {
        [GAIT_X86_64_MXCSR] = state->legacy.mxcsr,
        [GAIT_X86_64_X87_CONTROL] = state->legacy.x87_control,
        [GAIT_X86_64_X87_STATUS] = state->legacy.x87_status,
        [GAIT_X86_64_X87_IN_USE] = state->legacy.x87_tag,
    };
    struct machine_zmm vector = machine_state_zmm_get(state, number % 32);
    uint64_t mask = machine_state_k_get(state, number % 8);

    memset(bytes_out, 0, STATE_REGISTER_BYTES);
    if (kind == GAIT_REGISTER_VECTOR)
        memcpy(bytes_out, &vector, sizeof(vector));
    else if (kind == GAIT_REGISTER_MASK)
        memcpy(bytes_out, &mask, sizeof(mask));
    else if (kind == GAIT_REGISTER_FLOAT)
        memcpy(bytes_out, &state->legacy.st[number], GAIT_X86_64_ST_BYTES);
    else
        memcpy(bytes_out, &controls[number], sizeof(controls[number]));
}

#endif
