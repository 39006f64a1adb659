/* SPDX-License-Identifier: MIT */
/* The decoder's tables, and the names of the instructions. The contents are made by `make tables`. */
#include "arch/x86_64/isa/decoder_tables.h"

#include "arch/x86_64/isa/decoder.h"

#include "arch/x86_64/isa/decoder_tables.inc"

/* Name after name in one array, found by where they begin: no pointers, so nothing to relocate. */
static const struct {
#define X86_MNEMONIC(name) char name_##name[sizeof(#name)];
#include "arch/x86_64/isa/mnemonics.def"
#undef X86_MNEMONIC
} names = {
#define X86_MNEMONIC(name) .name_##name = #name,
#include "arch/x86_64/isa/mnemonics.def"
#undef X86_MNEMONIC
};

static const uint16_t name_offsets[] = {
#define X86_MNEMONIC(name) offsetof(__typeof__(names), name_##name),
#include "arch/x86_64/isa/mnemonics.def"
#undef X86_MNEMONIC
};

const char *x86_mnemonic_name(unsigned mnemonic)
{
    if (mnemonic == X86_MNEMONIC_NONE || mnemonic >= X86_MNEMONIC_COUNT)
        return "(bad)";
    return (const char *)&names + name_offsets[mnemonic - 1];
}
