/* SPDX-License-Identifier: MIT */
/* Looks at the bytes themselves rather than at what the decoder made of them. */
#include "support/difference_conditions.h"

#include "arch/x86_64/isa/decoder.h"
#include "support/difference_list.h"

#include <string.h>

#define MAX_BYTES 32

/* strchr for bytes, among which 0 is one like any other. */
static bool is_in(const char *set, uint8_t byte)
{
    return memchr(set, byte, strlen(set)) != NULL;
}

struct encoding_lead encoding_lead_find(const struct difference *difference)
{
    struct encoding_lead lead = {0};

    for (; lead.offset < difference->available; lead.offset++) {
        uint8_t byte = difference->bytes[lead.offset];

        lead.has_rex = byte >> 4 == 4;
        if (lead.has_rex || is_in("\x26\x2e\x36\x3e\x64\x65\x67", byte))
            continue;
        if (byte == 0x66)
            lead.has_66 = true;
        else if (byte == 0xf2 || byte == 0xf3)
            lead.has_repeat = true;
        else if (byte == 0xf0)
            lead.has_lock = true;
        else
            break;
    }
    lead.has_rex = lead.offset > 0 && difference->bytes[lead.offset - 1] >> 4 == 4;
    return lead;
}

const uint8_t *encoding_lead_bytes(const struct difference *difference)
{
    return difference->bytes + encoding_lead_find(difference).offset;
}

bool encoding_decode_without(const struct difference *difference, const char *removed, struct x86_insn *insn_out)
{
    uint8_t bytes[MAX_BYTES];
    size_t lead = encoding_lead_find(difference).offset, used = 0;

    for (size_t i = 0; i < difference->available && used < sizeof(bytes); i++) {
        /* A rex that does not count must not begin to. */
        if (i < lead && (is_in(removed, difference->bytes[i]) || (difference->bytes[i] >> 4 == 4 && i + 1 < lead)))
            continue;
        bytes[used++] = difference->bytes[i];
    }
    return x86_decode(bytes, used, app_pc_of(0), X86_DECODE_INTEL, insn_out) == 0;
}

bool difference_has_rex_before_vector(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return encoding_lead_find(difference).has_rex && is_in("\x62\x8f\xc4\xc5", lead[0]);
}

bool difference_has_prefix_before_vector(const struct difference *difference)
{
    struct encoding_lead lead = encoding_lead_find(difference);

    return (lead.has_66 || lead.has_repeat || lead.has_lock) &&
           is_in("\x62\x8f\xc4\xc5", difference->bytes[lead.offset]);
}

bool difference_has_stray_prefix(const struct difference *difference)
{
    struct encoding_lead lead = encoding_lead_find(difference);
    struct x86_insn insn;

    if (difference->bytes[lead.offset] != 0x0f || !(lead.has_66 || lead.has_repeat))
        return false;
    return encoding_decode_without(difference, "\xf2\xf3", &insn) ||
           encoding_decode_without(difference, "\x66", &insn) ||
           encoding_decode_without(difference, "\x66\xf2\xf3", &insn);
}

bool difference_has_stray_lock(const struct difference *difference)
{
    static const char *const lockable[] = {"add", "adc", "and", "btc",  "btr", "bts",       "cmpxchg",
                                           "dec", "inc", "neg", "not",  "or",  "cmpxchg8b", "cmpxchg16b",
                                           "sbb", "sub", "xor", "xadd", "xchg"};
    struct x86_insn insn;

    if (!encoding_lead_find(difference).has_lock || !encoding_decode_without(difference, "\xf0", &insn))
        return false;
    if (!(insn.properties & X86_MEMORY_WRITE) || !insn.is_memory)
        return true;
    for (size_t i = 0; i < sizeof(lockable) / sizeof(lockable[0]); i++) {
        if (strcmp(x86_mnemonic_name(insn.mnemonic), lockable[i]) == 0)
            return false;
    }
    return true;
}

bool difference_loads_cs(const struct difference *difference)
{
    const uint8_t *lead = encoding_lead_bytes(difference);

    return lead[0] == 0x8e && (lead[1] >> 3 & 7) == 1;
}

bool difference_has_cut_target(const struct difference *difference)
{
    return difference->insn->properties & X86_OPERAND_SIZE_BY_VENDOR &&
           difference->ours == (uint16_t)difference->theirs;
}
