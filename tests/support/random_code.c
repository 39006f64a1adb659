/* SPDX-License-Identifier: MIT */
/*
 * Draws bytes along the lines of the encoding until they decode, then bends displacements and branch targets towards
 * places that exist. Invariant: what is returned was decoded as it is, at its pc.
 */
#include "support/random_code.h"

#include <cpuid.h>
#include <string.h>

unsigned random_code_decode_options(void)
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx))
        return X86_DECODE_INTEL;
    return ebx == signature_AMD_ebx || ebx == 0x6f677948 /* Hygo */ ? X86_DECODE_AMD : X86_DECODE_INTEL;
}

/* By name: what waits, talks to a hypervisor, is done by the kernel, or changes how later instructions work. */
static bool is_unwanted(unsigned mnemonic)
{
    switch (mnemonic) {
    case X86_MNEMONIC_popf:
    case X86_MNEMONIC_popfq:
    case X86_MNEMONIC_xrstor:
    case X86_MNEMONIC_xrstor64:
    case X86_MNEMONIC_fxrstor:
    case X86_MNEMONIC_fxrstor64:
    case X86_MNEMONIC_wrpkru:
    case X86_MNEMONIC_vmcall:
    case X86_MNEMONIC_vmmcall:
    case X86_MNEMONIC_vmfunc:
    case X86_MNEMONIC_mwaitx:
    case X86_MNEMONIC_monitorx:
    case X86_MNEMONIC_umwait:
    case X86_MNEMONIC_tpause:
    case X86_MNEMONIC_enclu:
    case X86_MNEMONIC_rdpid:
    case X86_MNEMONIC_clui:
    case X86_MNEMONIC_stui:
    case X86_MNEMONIC_senduipi:
    case X86_MNEMONIC_sgdt:
    case X86_MNEMONIC_sidt:
    case X86_MNEMONIC_sldt:
    case X86_MNEMONIC_smsw:
    case X86_MNEMONIC_str:
        return true;
    default:
        return false;
    }
}

bool random_code_is_repeatable(const struct x86_insn *insn)
{
    const uint32_t refused = X86_PRIVILEGED | X86_UNPREDICTABLE | X86_SEGMENT_CHANGE | X86_SEGMENT_STORE |
                             X86_SEGMENT_USE | X86_STORES_FPU_PC;

    switch (insn->flow) {
    case X86_FLOW_SYSTEM_CALL:
    case X86_FLOW_JUMP_FAR:
    case X86_FLOW_CALL_FAR:
    case X86_FLOW_RETURN_FAR:
        return false;
    default:
        return !(insn->properties & refused) && !is_unwanted(insn->mnemonic);
    }
}

/* The bytes up to and with the opcode, in one of the ways to encode one. The rest stays as random as it is. */
static void draw_lead(struct random *random, uint8_t *bytes)
{
    static const uint8_t prefixes[] = {0x66, 0x66, 0xf2, 0xf3, 0x67, 0xf0, 0x2e, 0x3e};

    while (random_chance(random, 1, 5))
        *bytes++ = prefixes[random_below(random, sizeof(prefixes))];
    switch (random_below(random, 10)) {
    case 0:
    case 1:
        bytes[0] = 0x62;
        bytes[1] = (uint8_t)((bytes[1] & 0xf0) | (1 + random_below(random, 6)));
        bytes[2] |= 4;
        break;
    case 2:
        bytes[0] = 0xc4;
        bytes[1] = (uint8_t)((bytes[1] & 0xe0) | (1 + random_below(random, 3)));
        break;
    case 3:
        bytes[0] = 0xc5;
        break;
    default:
        if (random_chance(random, 1, 2))
            *bytes++ = (uint8_t)(0x40 | random_below(random, 16));
        if (random_chance(random, 2, 5)) {
            *bytes++ = 0x0f;
            if (random_chance(random, 1, 4))
                *bytes++ = random_chance(random, 1, 2) ? 0x38 : 0x3a;
        }
        break;
    }
}

static void put_i32(uint8_t *place, uint64_t value)
{
    int32_t displacement = (int32_t)value;

    memcpy(place, &displacement, sizeof(displacement));
}

/* A direct branch to the run, to nearby, or to anywhere. */
static void bend_target(struct random *random, const struct random_code_options *options, const struct x86_insn *insn,
                        uint8_t *bytes)
{
    uint64_t target = options->run_start + random_below(random, options->run_size);

    if (insn->immediate_size != 4 || random_chance(random, 1, 4))
        return;
    if (random_chance(random, 1, 4))
        target = insn->pc.value + random_below(random, 256) - 128;
    put_i32(bytes + insn->immediate_offset, target - x86_insn_next(insn).value);
}

static void bend_memory(struct random *random, const struct random_code_options *options, const struct x86_insn *insn,
                        uint8_t *bytes)
{
    uint64_t place = options->data.address + random_below(random, options->data.size_bytes - 64);

    if (insn->displacement_size != 4 || random_chance(random, 1, 16))
        return;
    if (random_chance(random, 1, 2))
        place &= ~(uint64_t)63;
    if (insn->properties & X86_PC_RELATIVE)
        put_i32(bytes + insn->displacement_offset, place - x86_insn_next(insn).value);
    else
        put_i32(bytes + insn->displacement_offset, random_below(random, 512) - 256);
}

static bool try_insn(struct random *random, const struct random_code_options *options, uint64_t pc, uint8_t *bytes,
                     struct x86_insn *insn)
{
    random_fill(random, bytes, 32);
    draw_lead(random, bytes);
    if (x86_decode(bytes, 32, app_pc_of(pc), options->decode_options, insn) != 0)
        return false;
    if (insn->is_memory && random_below(random, 100) < options->pc_relative_percent)
        bytes[insn->modrm_offset] = (uint8_t)((bytes[insn->modrm_offset] & 0x38) | 5);
    if (x86_decode(bytes, 32, app_pc_of(pc), options->decode_options, insn) != 0)
        return false;
    if (insn->is_memory)
        bend_memory(random, options, insn, bytes);
    if (x86_traits_of(insn->form)->immediate.is_relative)
        bend_target(random, options, insn, bytes);
    return x86_decode(bytes, 32, app_pc_of(pc), options->decode_options, insn) == 0 && random_code_is_repeatable(insn);
}

unsigned random_code_insn(struct random *random, const struct random_code_options *options, uint64_t pc,
                          uint8_t bytes[X86_MAX_INSN_BYTES])
{
    uint8_t drawn[48];
    struct x86_insn insn;

    do {
    } while (!try_insn(random, options, pc, drawn, &insn));
    memcpy(bytes, drawn, X86_MAX_INSN_BYTES);
    return insn.length;
}
