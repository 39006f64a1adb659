/* SPDX-License-Identifier: MIT */
/*
 * The rules are those of decoder.h: outside of the written set nothing changes; a register that is written and not kept
 * loses its old value; one that is kept has in each byte either the new value or its own old one; a kept flag is new,
 * or old in both runs. An instruction that faults has done nothing yet that must be compared, except for what is common
 * to both runs.
 */
#include "support/effect_check.h"

#if defined(__x86_64__)

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_FAULT = 14 };

static const char *check_fault(const struct x86_insn *insn, const struct run_result *result, struct effect_text text)
{
    if (result->end != RUN_SIGNAL)
        return NULL;
    run_result_describe(result, text.text, text.text_bytes);
    if (!(insn->properties & X86_MAY_FAULT))
        return "may-fault";
    if (result->trap_number == PAGE_FAULT && !(insn->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE)))
        return "memory-access";
    return NULL;
}

/* Bit 1 of a page fault's error code: it was a write. */
static const char *check_fault_of_write(const struct x86_insn *insn, const struct run_result *result,
                                        struct effect_text text)
{
    if (result->end != RUN_SIGNAL || result->trap_number != PAGE_FAULT || !(result->error_code & 2) ||
        insn->properties & X86_MEMORY_WRITE)
        return NULL;
    run_result_describe(result, text.text, text.text_bytes);
    return "memory-write";
}

static const char *check_memory_unchanged(const struct effect_run *run, struct effect_text text)
{
    if (memcmp(run->memory_before, run->memory_after, run->memory_bytes) == 0)
        return NULL;

    size_t offset = 0;

    while (run->memory_before[offset] == run->memory_after[offset])
        offset++;
    snprintf(text.text, text.text_bytes, "memory changed at offset 0x%zx", offset);
    return "memory-write";
}

static const char *check_unwritten(const struct x86_insn *insn, const struct effect_run *run, struct effect_text text)
{
    const struct machine_state *before = &run->initial, *after = &run->result.state;

    for (unsigned i = 0; i < X86_GPR_COUNT; i++) {
        if (!(insn->gpr_written & X86_GPR_BIT(i)) && before->gpr[i] != after->gpr[i]) {
            snprintf(text.text, text.text_bytes, "%s 0x%" PRIx64 " became 0x%" PRIx64, machine_gpr_name(i),
                     before->gpr[i], after->gpr[i]);
            return "register-written";
        }
    }

    uint64_t changed = (before->rflags ^ after->rflags) & EFFECT_FLAGS & ~insn->flags.written;

    if (changed == 0)
        return NULL;
    snprintf(text.text, text.text_bytes, "flags 0x%" PRIx64 " changed", changed);
    return "flag-written";
}

const char *effect_check_single(const struct x86_insn *insn, const struct effect_run *run, struct effect_text text)
{
    const char *broken = NULL;

    if (run->result.end != RUN_SIGNAL)
        return NULL;
    if (!run->is_complete)
        broken = check_fault(insn, &run->result, text);
    if (broken == NULL && !run->is_complete)
        broken = check_fault_of_write(insn, &run->result, text);
    if (broken == NULL)
        broken = check_unwritten(insn, run, text);
    if (broken == NULL && !(insn->properties & X86_MEMORY_WRITE))
        broken = check_memory_unchanged(run, text);
    return broken;
}

/* Whether each byte of the second result is that of the first, or that which was there before. */
static bool is_mixture(uint64_t first, uint64_t second, uint64_t second_before)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint8_t byte = (uint8_t)(second >> shift);

        if (byte != (uint8_t)(first >> shift) && byte != (uint8_t)(second_before >> shift))
            return false;
    }
    return true;
}

static const char *check_pair_registers(const struct x86_insn *insn, const struct effect_run *first,
                                        const struct effect_run *second, struct effect_text text)
{
    for (unsigned i = 0; i < X86_GPR_COUNT; i++) {
        uint64_t before = second->initial.gpr[i], expected = first->result.state.gpr[i];
        uint64_t actual = second->result.state.gpr[i];
        bool was_changed = before != first->initial.gpr[i];

        if (expected == actual || (was_changed && !(insn->gpr_written & X86_GPR_BIT(i))))
            continue;
        if (was_changed &&
            (!first->is_complete || (insn->gpr_kept & X86_GPR_BIT(i) && is_mixture(expected, actual, before))))
            continue;
        snprintf(text.text, text.text_bytes,
                 "%s is 0x%" PRIx64 " or 0x%" PRIx64 " (from 0x%" PRIx64 " or 0x%" PRIx64 ")", machine_gpr_name(i),
                 expected, actual, first->initial.gpr[i], before);
        return was_changed ? "register-kept" : "read";
    }
    return NULL;
}

static const char *check_pair_flags(const struct x86_insn *insn, const struct effect_run *first,
                                    const struct effect_run *second, struct effect_text text)
{
    uint64_t first_changes = first->initial.rflags ^ first->result.state.rflags;
    uint64_t second_changes = second->initial.rflags ^ second->result.state.rflags;
    uint64_t kept = insn->flags.kept & ~first_changes & ~second_changes;
    uint64_t compared = insn->flags.written & ~insn->flags.undefined & ~kept & EFFECT_FLAGS;
    uint64_t different = (first->result.state.rflags ^ second->result.state.rflags) & compared;

    if (!first->is_complete || different == 0)
        return NULL;
    snprintf(text.text, text.text_bytes, "flags 0x%" PRIx64 " differ", different);
    return "flag-result";
}

/* Everything but general registers and flags. */
static const char *check_pair_vectors(const struct effect_run *first, const struct effect_run *second,
                                      struct effect_text text)
{
    static const struct machine_ignore ignore = {
        .gprs = 0xffff, .rflags = UINT64_MAX, .rip = true, .x87_pointers = true};

    if (machine_state_compare(&first->result.state, &second->result.state, &ignore, text.text, text.text_bytes) == 0)
        return NULL;
    return "read";
}

static const char *check_pair_end(const struct effect_run *first, const struct effect_run *second,
                                  struct effect_text text)
{
    if (run_result_equal_end(&first->result, &second->result) && first->result.state.rip == second->result.state.rip)
        return NULL;
    run_result_describe(&second->result, text.text, text.text_bytes);
    return "read";
}

/* What two runs must have in common whatever their memory was. */
static const char *check_pair_states(const struct x86_insn *insn, const struct effect_run *first,
                                     const struct effect_run *second, struct effect_text text)
{
    const char *broken = check_pair_end(first, second, text);

    if (broken == NULL)
        broken = check_pair_registers(insn, first, second, text);
    if (broken == NULL)
        broken = check_pair_flags(insn, first, second, text);
    if (broken == NULL)
        broken = check_pair_vectors(first, second, text);
    return broken;
}

const char *effect_check_pair(const struct x86_insn *insn, const struct effect_run *first,
                              const struct effect_run *second, struct effect_text text)
{
    if (first->result.end != RUN_SIGNAL || second->result.end != RUN_SIGNAL)
        return NULL;

    const char *broken = check_pair_states(insn, first, second, text);

    if (broken == NULL && memcmp(first->memory_after, second->memory_after, first->memory_bytes) != 0) {
        snprintf(text.text, text.text_bytes, "memory differs");
        broken = "read";
    }
    return broken;
}

const char *effect_check_memory(const struct x86_insn *insn, const struct effect_run *first,
                                const struct effect_run *second, struct effect_text text)
{
    if (first->result.end != RUN_SIGNAL || second->result.end != RUN_SIGNAL)
        return NULL;

    const char *broken = check_pair_states(insn, first, second, text);

    for (size_t i = 0; broken == NULL && i < first->memory_bytes; i++) {
        if (first->memory_after[i] == first->memory_before[i] || first->memory_after[i] == second->memory_after[i])
            continue;
        snprintf(text.text, text.text_bytes, "memory at offset 0x%zx depends on what was there", i);
        broken = "read";
    }
    return broken != NULL ? "memory-read" : NULL;
}

#endif
