/* SPDX-License-Identifier: MIT */
/* Compares what the decoder says of an instruction with what libZydis says, field by field. */
#ifndef GAIT_TESTS_ZYDIS_ORACLE_H
#define GAIT_TESTS_ZYDIS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle_difference {
    const char *field;  /* what differs: "validity", "length", "gpr_read", ... */
    char mnemonic[24];  /* as libZydis names the instruction, or ours where it knows none */
    char text[512];     /* both sides, for a person */
};

/* Must be called once, before any comparison. */
void zydis_oracle_init(void);

/*
 * Decodes the instruction at bytes with both. Returns true if they agree, else describes the first difference. The
 * length to advance by is stored in any case: the instruction's, or 1 where there is none.
 */
bool zydis_oracle_agrees(const uint8_t *bytes, size_t available, unsigned options,
                         struct oracle_difference *difference_out, size_t *length_out);

#endif
