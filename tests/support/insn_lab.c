/* SPDX-License-Identifier: MIT */
/*
 * States are drawn blindly first, then bent to the instruction: address registers are solved for an address in the
 * wanted arena, counts made small, vector indices too. Nothing here decides what is right; a state that does not fit
 * only makes the instruction fault.
 */
#define _GNU_SOURCE
#include "support/insn_lab.h"

#if defined(__x86_64__)

#include <asm/prctl.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/x86_64/isa/operands.h"
#include "support/random.h"

int insn_lab_init(struct insn_lab *lab)
{
    static const struct code_runner_options options = {.gs_base = INSN_LAB_GS_BASE};
    int status = arena_init(&lab->code, INSN_LAB_CODE, INSN_LAB_CODE_BYTES, ARENA_CODE);

    if (status != 0)
        return status;
    status = arena_init(&lab->data, INSN_LAB_DATA, INSN_LAB_ARENA_BYTES, ARENA_DATA);
    if (status != 0)
        goto no_data;
    status = arena_init(&lab->stack, INSN_LAB_STACK, INSN_LAB_ARENA_BYTES, ARENA_STACK);
    if (status != 0)
        goto no_stack;
    status = arena_init(&lab->constant, INSN_LAB_CONSTANT, INSN_LAB_ARENA_BYTES, ARENA_DATA);
    if (status != 0)
        goto no_constant;
    memset(lab->code.base, 0xcc, lab->code.size_bytes);

    struct random random;
    random_init(&random, 1);
    arena_fill(&lab->constant, &random);
    if (mprotect(lab->constant.base, lab->constant.size_bytes, PROT_READ) != 0 ||
        syscall(SYS_arch_prctl, ARCH_GET_FS, &lab->fs_base) != 0) {
        status = -errno;
        goto no_runner;
    }
    status = code_runner_init(&lab->runner, &options);
    if (status == 0)
        return 0;

no_runner:
    arena_deinit(&lab->constant);
no_constant:
    arena_deinit(&lab->stack);
no_stack:
    arena_deinit(&lab->data);
no_data:
    arena_deinit(&lab->code);
    return status;
}

void insn_lab_deinit(struct insn_lab *lab)
{
    code_runner_deinit(&lab->runner);
    arena_deinit(&lab->constant);
    arena_deinit(&lab->stack);
    arena_deinit(&lab->data);
    arena_deinit(&lab->code);
}

void insn_lab_place(struct insn_lab *lab, const uint8_t bytes[32])
{
    memcpy(lab->code.base + (INSN_LAB_PC - INSN_LAB_CODE), bytes, 32);
}

/* An address around the middle of the span, aligned as most instructions like it. */
static uint64_t draw_target(struct arena_span span, struct random *random)
{
    uint64_t target = span.address + span.size_bytes / 4 + random_below(random, span.size_bytes / 2);

    return random_chance(random, 3, 4) ? target & ~63ull : target;
}

static void aim_vector_index(const struct x86_operand *operand, struct random *random, struct machine_state *state)
{
    struct machine_zmm index;

    for (unsigned lane = 0; lane < 8; lane++)
        index.lane[lane] = random_below(random, 64);
    machine_state_zmm_set(state, operand->index, index);
}

/* Solves base + index * scale = wanted. */
static void aim_registers(const struct x86_operand *operand, uint64_t wanted, struct random *random,
                          struct machine_state *state)
{
    bool has_base = operand->base < X86_GPR_COUNT, has_index = operand->index < X86_GPR_COUNT;

    if (operand->memory_kind == X86_MEMORY_VECTOR) {
        aim_vector_index(operand, random, state);
        has_index = false;
    }
    if (has_base && has_index && operand->base == operand->index) {
        state->gpr[operand->base] = wanted / (1u + operand->scale);
    } else if (has_base && has_index) {
        if (random_chance(random, 3, 4))
            state->gpr[operand->index] = 64 * random_below(random, 32);
        state->gpr[operand->base] = wanted - state->gpr[operand->index] * operand->scale;
    } else if (has_base) {
        state->gpr[operand->base] = wanted;
    } else if (has_index) {
        state->gpr[operand->index] = wanted / operand->scale;
    }
}

static void aim(const struct insn_lab *lab, const struct x86_operand *operand, struct arena_span span,
                struct random *random, struct machine_state *state)
{
    uint64_t wanted = draw_target(span, random) - (uint64_t)operand->displacement;

    if (operand->segment == X86_FS)
        wanted -= lab->fs_base;
    if (operand->segment == X86_GS)
        wanted -= INSN_LAB_GS_BASE;
    aim_registers(operand, wanted, random, state);
}

static bool is_bit_test(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_bt || insn->mnemonic == X86_MNEMONIC_bts ||
           insn->mnemonic == X86_MNEMONIC_btr || insn->mnemonic == X86_MNEMONIC_btc;
}

/* Counts and divisors in fixed registers, and what else blind values would hardly ever suit. */
static void suit(const struct x86_insn *insn, struct random *random, struct machine_state *state)
{
    if (insn->properties & X86_REPEATED)
        state->gpr[X86_RCX] = random_below(random, 20);
    /* What monitorx, mwaitx, xgetbv and their like know is number 0. */
    if (insn->insn_class == X86_CLASS_SYSTEM || insn->mnemonic == X86_MNEMONIC_monitorx)
        state->gpr[X86_RCX] = random_below(random, 2);
    if (is_bit_test(insn) && insn->is_memory && insn->reg != insn->base && insn->reg != insn->index)
        state->gpr[insn->reg] = random_below(random, 512);
    if ((insn->mnemonic == X86_MNEMONIC_div || insn->mnemonic == X86_MNEMONIC_idiv) && random_chance(random, 3, 4))
        state->gpr[X86_RDX] = 0;
}

/* Comparisons succeed where memory is zero. */
static void suit_comparison(const struct x86_insn *insn, struct random *random, struct machine_state *state)
{
    bool is_wide = insn->mnemonic == X86_MNEMONIC_cmpxchg8b || insn->mnemonic == X86_MNEMONIC_cmpxchg16b;

    if ((insn->mnemonic != X86_MNEMONIC_cmpxchg && !is_wide) || random_chance(random, 1, 2))
        return;
    state->gpr[X86_RAX] = 0;
    if (is_wide)
        state->gpr[X86_RDX] = 0;
}

/* Seldom, floating-point exceptions are not masked. */
static void unmask_exceptions(struct random *random, struct machine_state *state)
{
    if (random_chance(random, 1, 8))
        state->legacy.mxcsr &= ~0x1f80u | (uint32_t)random_u64(random);
    if (random_chance(random, 1, 8))
        state->legacy.x87_control &= (uint16_t)(~0x3fu | random_u64(random));
}

void insn_lab_draw_state(const struct insn_lab *lab, const struct x86_insn *insn, struct arena_span span,
                         struct random *random, struct machine_state *state_out)
{
    const struct arena_span spans[] = {arena_span_of(&lab->data), arena_span_of(&lab->stack)};
    struct machine_random_options options = {spans, 2, arena_span_of(&lab->stack), 0};

    options.flags = X86_FLAGS_STATUS | X86_FLAG_DF | X86_FLAG_AC | X86_FLAG_ID | X86_FLAG_NT;
    state_out->rip = INSN_LAB_PC;
    machine_state_randomize(state_out, random, &options);
    if (random_chance(random, 3, 4))
        state_out->gpr[X86_RBP] = draw_target(spans[1], random) & ~7ull;
    unmask_exceptions(random, state_out);
    /* The memory operand that modrm names comes last, since its registers are the instruction's choice. */
    for (unsigned is_named = 0; is_named < 2; is_named++) {
        for (unsigned i = 0; i < x86_insn_operand_count(insn); i++) {
            struct x86_operand operand;

            x86_insn_operand(insn, i, &operand);
            if (operand.kind == X86_OPERAND_MEMORY && (operand.visibility == X86_EXPLICIT) == is_named)
                aim(lab, &operand, operand.base == X86_RSP && !is_named ? spans[1] : span, random, state_out);
        }
        if (is_named)
            continue;
        suit(insn, random, state_out);
        suit_comparison(insn, random, state_out);
    }
}

bool insn_lab_completed(const struct run_result *result, const struct x86_insn *insn)
{
    return result->end == RUN_SIGNAL && result->signal == SIGTRAP && result->trap_number == INSN_TRAP_BREAKPOINT &&
           result->state.rip == INSN_LAB_PC + insn->length + 1;
}

#endif
