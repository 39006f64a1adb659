/* SPDX-License-Identifier: MIT */
/* Counts and bit sets, no more. Byte registers are left out of the slots, since their numbers depend on rex. */
#include "support/effect_record.h"

#if defined(__x86_64__)

#include <string.h>

#include "support/random.h"

static unsigned slot_register(const struct x86_insn *insn, unsigned slot)
{
    switch (slot) {
    case EFFECT_ROLE_SLOT + X86_ROLE_REG:
        return insn->reg & 15;
    case EFFECT_ROLE_SLOT + X86_ROLE_RM:
        return insn->rm & 15;
    case EFFECT_ROLE_SLOT + X86_ROLE_OPCODE:
        return (insn->opcode & 7) | (insn->rex & 1) << 3;
    case EFFECT_ROLE_SLOT + X86_ROLE_VVVV:
        return insn->vvvv & 15;
    default:
        return slot;
    }
}

/* The slots that the form claims with the given role bits. */
static uint32_t slots_of(const struct x86_insn *insn, unsigned role_bits, x86_gpr_set named)
{
    uint32_t slots = named;

    for (unsigned i = 0; i < 4; i++) {
        unsigned roles = X86_ROLE_OF(x86_traits_of(insn->form)->roles, i);

        if (roles & role_bits && !(roles & X86_ROLE_BYTE) && !(i == X86_ROLE_RM && insn->is_memory))
            slots |= 1u << (EFFECT_ROLE_SLOT + i);
    }
    return slots;
}

static uint32_t draw_bit(uint32_t set, struct random *random)
{
    uint32_t bit;

    do
        bit = 1u << random_below(random, 32);
    while (!(set & bit));
    return bit;
}

static void note_registers(struct effect_record *record, const struct x86_insn *insn, const struct effect_run *run)
{
    uint64_t gprs = x86_traits_of(insn->form)->gprs;
    x86_gpr_set named_kept =
        X86_GPRS_OF(gprs, X86_GPRS_KEPT) | (insn->size_index == 0 ? X86_GPRS_OF(gprs, X86_GPRS_KEPT_16) : 0);
    unsigned keeps = X86_ROLE_KEEPS | (insn->size_index == 0 ? X86_ROLE_KEEPS_16 : 0);
    uint32_t written = slots_of(insn, X86_ROLE_WRITE, X86_GPRS_OF(gprs, X86_GPRS_WRITTEN));
    uint32_t kept = slots_of(insn, keeps, named_kept);

    record->written_claimed |= written;
    record->kept_claimed |= kept;
    for (unsigned slot = 0; slot < EFFECT_SLOT_COUNT; slot++) {
        unsigned gpr = slot_register(insn, slot);
        uint64_t changed = run->initial.gpr[gpr] ^ run->result.state.gpr[gpr];

        if (written >> slot & 1 && changed != 0)
            record->written_seen |= 1u << slot;
        if (kept >> slot & 1 && changed >> 32 == 0)
            record->kept_seen |= 1u << slot;
    }
}

void effect_record_add(struct effect_record *record, const struct x86_insn *insn, const struct effect_run *run)
{
    uint32_t changed_flags = (uint32_t)(run->initial.rflags ^ run->result.state.rflags);

    record->runs++;
    if (run->result.end != RUN_SIGNAL) {
        record->timed_out++;
        return;
    }
    if (run->result.signal == SIGILL) {
        record->illegal++;
        return;
    }
    record->memory_claimed |= insn->properties & (X86_MEMORY_WRITE | X86_MAY_FAULT);
    if (!run->is_complete) {
        record->faulted++;
        record->memory_seen |= X86_MAY_FAULT;
        return;
    }
    record->completed++;
    note_registers(record, insn, run);
    record->flags_written_claimed |= insn->flags.written & EFFECT_FLAGS;
    record->flags_written_seen |= insn->flags.written & changed_flags;
    record->flags_kept_claimed |= insn->flags.kept;
    record->flags_kept_seen |= insn->flags.kept & ~changed_flags;
    if (memcmp(run->memory_before, run->memory_after, run->memory_bytes) != 0)
        record->memory_seen |= X86_MEMORY_WRITE;
}

bool effect_change_draw(const struct x86_insn *insn, struct random *random, struct machine_state *state,
                        struct effect_change *change_out)
{
    uint32_t slots = slots_of(insn, X86_ROLE_READ, X86_GPRS_OF(x86_traits_of(insn->form)->gprs, X86_GPRS_READ));
    uint32_t flags = insn->flags.read & EFFECT_FLAGS;

    *change_out = (struct effect_change){0, 0};
    if (flags != 0 && (slots == 0 || random_chance(random, 1, 2))) {
        change_out->flag = draw_bit(flags, random);
        state->rflags ^= change_out->flag;
        return true;
    }
    if (slots == 0)
        return false;
    change_out->slot_bit = draw_bit(slots, random);
    state->gpr[slot_register(insn, (unsigned)__builtin_ctz(change_out->slot_bit))] = random_u64(random);
    return true;
}

/* What was changed and then left alone is not a difference in the result. */
static bool results_differ(const struct effect_run *base, const struct effect_run *changed)
{
    const struct machine_state *before = &changed->initial, *after = &changed->result.state;
    struct machine_ignore ignore = {.rflags = X86_FLAG_RF, .x87_pointers = true};
    char text[256];

    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        if (base->initial.gpr[i] != before->gpr[i] && after->gpr[i] == before->gpr[i])
            ignore.gprs |= X86_GPR_BIT(i);
    ignore.rflags |= (base->initial.rflags ^ before->rflags) & ~(before->rflags ^ after->rflags);
    return !run_result_equal_end(&base->result, &changed->result) ||
           machine_state_compare(&base->result.state, after, &ignore, text, sizeof(text)) != 0 ||
           memcmp(base->memory_after, changed->memory_after, base->memory_bytes) != 0;
}

void effect_record_read(struct effect_record *record, const struct effect_change *change, const struct effect_run *base,
                        const struct effect_run *changed)
{
    bool differ = results_differ(base, changed);

    record->read_claimed |= change->slot_bit;
    record->flags_read_claimed |= change->flag;
    if (differ) {
        record->read_seen |= change->slot_bit;
        record->flags_read_seen |= change->flag;
    }
}

static unsigned print_slots(const char *what, uint32_t slots, FILE *stream)
{
    static const char *const fields[4] = {"reg", "rm", "opcode", "vvvv"};

    if (slots == 0)
        return 0;
    fprintf(stream, " %s(", what);
    for (unsigned slot = 0; slot < EFFECT_SLOT_COUNT; slot++)
        if (slots >> slot & 1)
            fprintf(stream, " %s", slot < EFFECT_ROLE_SLOT ? machine_gpr_name(slot) : fields[slot - EFFECT_ROLE_SLOT]);
    fprintf(stream, " )");
    return (unsigned)__builtin_popcount(slots);
}

static unsigned print_flags(const char *what, uint32_t flags, FILE *stream)
{
    if (flags == 0)
        return 0;
    fprintf(stream, " %s(0x%x)", what, flags);
    return (unsigned)__builtin_popcount(flags);
}

unsigned effect_record_print_unseen(const struct effect_record *record, const struct x86_form *form, FILE *stream)
{
    uint32_t read = record->read_claimed & ~record->read_seen;
    uint32_t written = record->written_claimed & ~record->written_seen;
    uint32_t kept = record->kept_claimed & ~record->kept_seen;
    uint32_t flags_read = record->flags_read_claimed & ~record->flags_read_seen;
    uint32_t flags_written = record->flags_written_claimed & ~record->flags_written_seen;
    uint32_t flags_kept = record->flags_kept_claimed & ~record->flags_kept_seen;
    uint32_t memory = record->memory_claimed & ~record->memory_seen;
    unsigned count = 0;

    if ((read | written | kept | flags_read | flags_written | flags_kept | memory) == 0)
        return 0;
    fprintf(stream, "never seen, %s (%u of %u runs completed):", x86_mnemonic_name(form->mnemonic), record->completed,
            record->runs);
    count += print_slots("read", read, stream) + print_slots("written", written, stream);
    count += print_slots("kept", kept, stream);
    count += print_flags("flags-read", flags_read, stream) + print_flags("flags-written", flags_written, stream);
    count += print_flags("flags-kept", flags_kept, stream);
    if (memory & X86_MEMORY_WRITE)
        fprintf(stream, " memory-write");
    if (memory & X86_MAY_FAULT)
        fprintf(stream, " may-fault");
    fprintf(stream, "\n");
    return count + (unsigned)__builtin_popcount(memory);
}

#endif
