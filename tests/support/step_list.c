/* SPDX-License-Identifier: MIT */
/* Filled by the callback of a traced run. Invariant: the last step is the instruction that is about to run. */
#include "support/step_list.h"

#include "support/random_code.h"

#include <stdio.h>
#include <string.h>

void step_list_begin(struct step_list *list)
{
    list->count = 0;
    list->is_fit = true;
}

static bool is_popf(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_popf || insn->mnemonic == X86_MNEMONIC_popfq;
}

static bool is_pushf(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_pushf || insn->mnemonic == X86_MNEMONIC_pushfq;
}

/* A trap flag of the program's own cannot be told from ours. */
static bool loads_trap_flag(const struct step *step)
{
    uint16_t flags;

    memcpy(&flags, (const void *)(uintptr_t)step->gpr[X86_RSP], sizeof(flags));
    return flags & X86_FLAG_TF;
}

static bool is_on_stack(const struct step_list *list, const struct step *step)
{
    return step->gpr[X86_RSP] % 8 == 0 && step->gpr[X86_RSP] - list->steps[0].gpr[X86_RSP] + 0x1000 < 0x2000;
}

static bool is_fit(const struct step_list *list, const struct step *step, const struct x86_insn *insn)
{
    if (insn->length == 0)
        return true;
    if (is_popf(insn))
        return is_on_stack(list, step) && !loads_trap_flag(step);
    if (is_pushf(insn))
        return is_on_stack(list, step) && step->undefined == 0;
    if (insn->flags.read & step->undefined)
        return false;
    return random_code_is_repeatable(insn) && !(insn->properties & X86_OPERAND_SIZE_BY_VENDOR);
}

static void decode(const struct step_list *list, uint64_t pc, struct x86_insn *insn_out)
{
    uint64_t offset = pc - list->code.address;

    if (offset >= list->code.size_bytes || x86_decode((const uint8_t *)(uintptr_t)pc, list->code.size_bytes - offset,
                                                      app_pc_of(pc), random_code_decode_options(), insn_out) != 0)
        insn_out->length = 0;
}

/* What the last instruction left undefined, and what was before and stays. */
static uint64_t undefined_now(const struct step_list *list)
{
    const struct step *last = &list->steps[list->count - 1];
    const struct x86_insn *insn = &list->insns[list->count - 1];
    uint64_t overwritten;

    if (list->count == 0 || insn->length == 0)
        return 0;
    overwritten = insn->flags.written & ~insn->flags.kept;
    return (last->undefined & ~overwritten) | insn->flags.undefined;
}

static bool add(struct step_list *list, uint64_t rip, uint64_t rflags, const uint64_t gpr[X86_GPR_COUNT])
{
    struct step *step = &list->steps[list->count];
    struct x86_insn *insn = &list->insns[list->count];

    if (list->count == list->limit) {
        list->is_fit = false;
        return false;
    }
    step->rip = rip;
    step->rflags = rflags;
    step->undefined = undefined_now(list);
    memcpy(step->gpr, gpr, sizeof(step->gpr));
    decode(list, rip, insn);
    list->is_fit = is_fit(list, step, insn);
    list->count++;
    return list->is_fit;
}

static bool is_known_memory(const struct step_list *list, uint64_t address)
{
    for (size_t i = 0; i < list->memory_count; i++)
        if (address - list->memory[i].address < list->memory[i].size_bytes)
            return true;
    return false;
}

static uint64_t operand_address(const struct step *step, const struct x86_insn *insn)
{
    uint64_t address = (uint64_t)insn->displacement;

    if (insn->properties & X86_PC_RELATIVE)
        return insn->target;
    if (insn->base < X86_GPR_COUNT)
        address += step->gpr[insn->base];
    if (insn->index < X86_GPR_COUNT && !(x86_traits_of(insn->form)->properties & X86_FORM_VECTOR_INDEX))
        address += step->gpr[insn->index] * insn->scale;
    return insn->address_bits == 32 ? (uint32_t)address : address;
}

/* Whether the instruction was done with memory that is not for the code under test. */
static bool strayed(const struct step_list *list, const struct step *step, const struct x86_insn *insn)
{
    if (insn->length == 0 || !(insn->properties & (X86_MEMORY_READ | X86_MEMORY_WRITE)))
        return false;
    if (insn->is_memory)
        return !is_known_memory(list, operand_address(step, insn));
    /* What uses the stack: leave finds it by rbp. */
    if (insn->gpr_written & X86_GPR_BIT(X86_RSP))
        return !is_known_memory(list, step->gpr[insn->mnemonic == X86_MNEMONIC_leave ? X86_RBP : X86_RSP]);
    if (insn->insn_class != X86_CLASS_STRING || (insn->properties & X86_REPEATED && step->gpr[X86_RCX] == 0))
        return false;
    return (insn->gpr_read & X86_GPR_BIT(X86_RSI) && !is_known_memory(list, step->gpr[X86_RSI])) ||
           (insn->gpr_read & X86_GPR_BIT(X86_RDI) && !is_known_memory(list, step->gpr[X86_RDI]));
}

static void repair_pushed_flags(uint64_t sp)
{
    uint16_t flags;

    memcpy(&flags, (const void *)(uintptr_t)sp, sizeof(flags));
    flags &= (uint16_t)~X86_FLAG_TF;
    memcpy((void *)(uintptr_t)sp, &flags, sizeof(flags));
}

/* A gather of which a later element faults traps first, with those before it done, if it is stepped. */
static bool is_stepped_in_parts(const struct x86_insn *insn)
{
    return insn->properties & (X86_REPEATED | X86_MEMORY_SCATTERED);
}

static bool on_step(void *context, const struct run_step *now)
{
    struct step_list *list = context;
    const struct x86_insn *last = &list->insns[list->count - 1];

    if (last->length != 0 && is_pushf(last))
        repair_pushed_flags(now->gpr[X86_RSP]);
    if (last->length != 0 && is_stepped_in_parts(last) && now->rip == list->steps[list->count - 1].rip)
        return true;
    list->is_fit = !strayed(list, &list->steps[list->count - 1], last);
    return list->is_fit && add(list, now->rip, now->rflags, now->gpr);
}

void step_list_run(struct step_list *list, struct code_runner *runner, const struct machine_state *initial,
                   struct run_result *result)
{
    if (!add(list, initial->rip, initial->rflags, initial->gpr))
        return;
    code_runner_trace(runner, initial, on_step, list, result);
    if (result->end != RUN_SIGNAL)
        list->is_fit = false;
}

bool step_equal(const struct step *expected, const struct step *actual)
{
    return expected->rip == actual->rip &&
           ((expected->rflags ^ actual->rflags) & STEP_FLAGS & ~expected->undefined) == 0 &&
           memcmp(expected->gpr, actual->gpr, sizeof(expected->gpr)) == 0;
}

void step_print(const struct step *step, const struct step *other)
{
    printf("    rip %llx", (unsigned long long)step->rip);
    if (other == NULL || (step->rflags ^ other->rflags) & STEP_FLAGS)
        printf(" flags %llx", (unsigned long long)(step->rflags & STEP_FLAGS));
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        if (other == NULL || step->gpr[i] != other->gpr[i])
            printf(" %s %llx", machine_gpr_name(i), (unsigned long long)step->gpr[i]);
    printf("\n");
}
