/* SPDX-License-Identifier: MIT */
/*
 * Indirect branches: the low 16 bits of the original target pick an entry of a table of landings, and the landing finds
 * out whether it is the right one. None of it touches flags, so that there is no need to know whether they are live;
 * where a landing is wrong, or missing, a gate looks the target up in the map.
 *
 * While a branch is under way the target is in rcx, and the program's values of both registers are at home. rdi has the
 * index in its low 16 bits and, above them, the number of the block's first exit, for those who want to know where the
 * branch came from: the jump's address is cut to 32 bits, and its constant takes the number away again.
 */
#include "arch/host_cpu.h"
#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/landing_check.h"
#include "arch/x86_64/stalker/translate.h"
#include "arch/x86_64/x86_engine.h"
#include "gait/cpu_context.h"
#include "stalker/code_place.h"
#include "stalker/stalker_engine.h"

static const struct trail_state saved = {.homes = BRANCH_SET};

void x86_put_branch_save(struct translation *translation, const struct x86_insn *insn)
{
    struct code_writer *hot = &translation->hot;

    block_draft_note(translation, insn->pc, trail_plain);
    x86_put_to_home(hot, TARGET_REGISTER);
    x86_put_to_home(hot, INDEX_REGISTER);
    block_draft_note(translation, insn->pc, saved);
}

void x86_put_branch_indirect(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    uint64_t from = (uint64_t)block_exit_number(translation->block, 0) << BRANCH_INDEX_BITS;
    uint32_t table = (uint32_t)(uintptr_t)translation->cache->indirect.entries - (uint32_t)from * 8;
    /* mov di, cx; jmp qword ptr [edi * 8 + table] */
    static const uint8_t branch[] = {0x66, 0x89, 0xcf, 0x67, 0xff, 0x24, 0xfd};

    x86_mov_reg_imm(hot, X86_SIZE_64, INDEX_REGISTER, from);
    code_writer_put_bytes(hot, branch, sizeof(branch));
    code_writer_put_u32(hot, table);
}

static struct code_writer *writer_of(struct translation *translation, const struct cold_piece *piece)
{
    return piece == NULL ? &translation->hot : &translation->cold;
}

static void note(struct translation *translation, struct cold_piece *piece, struct trail_state state)
{
    if (piece == NULL) {
        block_draft_note(translation, translation->block->start, state);
        return;
    }
    if (code_cache_has_events(translation->cache))
        state.homes |= X86_GPR_BIT(POSITION_REGISTER);
    state.progress = TRAIL_UNTOLD;
    cold_piece_note(piece, &translation->cold, piece->block->start, state);
}

static void restore(struct translation *translation, struct cold_piece *piece, enum x86_gpr gpr,
                    struct trail_state *state)
{
    x86_put_from_home(writer_of(translation, piece), gpr);
    state->homes &= (x86_gpr_set)~X86_GPR_BIT(gpr);
    note(translation, piece, *state);
}

/*
 * Whether the stack pointer is at or above where an excluded call is over: then the highest byte of the difference is
 * 0. rcx and rdi are at home.
 */
static void put_quiet_check(struct translation *translation, struct code_writer *writer, const struct block *block)
{
    struct x86_label over, inside;

    (void)translation;
    x86_label_init(&over);
    x86_label_init(&inside);
    x86_mov_reg_mem(writer, X86_SIZE_64, TARGET_REGISTER, thread_field(THREAD_QUIET_SP));
    x86_unary_reg(writer, X86_NOT, X86_SIZE_64, TARGET_REGISTER);
    x86_lea(writer, X86_SIZE_64, TARGET_REGISTER, x86_mem_index(X86_RSP, TARGET_REGISTER, 1, 1));
    x86_bswap(writer, X86_SIZE_64, TARGET_REGISTER);
    x86_extend_reg_reg(writer, X86_MOVZX_8, X86_SIZE_32, TARGET_REGISTER, TARGET_REGISTER);
    x86_loop_label(writer, X86_JRCXZ, X86_SIZE_64, &over);
    x86_jmp_label(writer, &inside, X86_REACH_SHORT);
    x86_label_bind(&over, writer);
    x86_mov_reg_mem(writer, X86_SIZE_64, INDEX_REGISTER, register_home(INDEX_REGISTER));
    x86_mov_reg_mem(writer, X86_SIZE_64, TARGET_REGISTER, register_home(TARGET_REGISTER));
    x86_mov_mem_imm(writer, X86_SIZE_32, thread_field(THREAD_EXIT), (int32_t)block_exit_number(block, 0));
    x86_jmp_mem(writer, thread_field(THREAD_GATE_QUIET_END));
    x86_label_bind(&inside, writer);
}

/*
 * Which of the registers that indirect branches use the block may need. One that is overwritten is dead only if nothing
 * before can raise a signal: its handler would see the register.
 */
static x86_gpr_set live_at_start(const struct x86_block *decoded)
{
    x86_gpr_set undecided = BRANCH_SET, live = 0;

    for (unsigned i = 0; i < decoded->draft.count && undecided != 0; i++) {
        const struct x86_insn *insn = &decoded->insns[i];

        live |= undecided & insn->gpr_read;
        undecided &= (x86_gpr_set)~insn->gpr_read;
        if (insn->flow != X86_FLOW_NEXT ||
            insn->properties & (X86_MAY_FAULT | X86_MEMORY_READ | X86_MEMORY_WRITE | X86_PRIVILEGED))
            break;
        undecided &= (x86_gpr_set) ~(insn->gpr_written & ~insn->gpr_kept);
    }
    return live | undecided;
}

void x86_put_landing(struct translation *translation, struct cold_piece *piece, const struct block *block)
{
    struct code_writer *writer = writer_of(translation, piece);
    x86_gpr_set live =
        piece != NULL || translation->is_observed ? BRANCH_SET : live_at_start(x86_block_of(translation));
    struct trail_state state = saved;

    state.pc = TRAIL_PC_IN_CHECK;
    note(translation, piece, state);
    x86_put_landing_check(writer, &translation->cold, block->start);
    state.pc = TRAIL_PC_HERE;
    note(translation, piece, state);
    if (translation->cache->configuration.is_quiet && !exclusion_holds(translation->cache->engine, block->start))
        put_quiet_check(translation, writer, block);
    if (live & X86_GPR_BIT(INDEX_REGISTER))
        restore(translation, piece, INDEX_REGISTER, &state);
    if (live & X86_GPR_BIT(TARGET_REGISTER))
        restore(translation, piece, TARGET_REGISTER, &state);
}

static uint32_t landing_source(const struct gait_cpu_context *cpu)
{
    return (uint32_t)(cpu->registers[INDEX_REGISTER] >> BRANCH_INDEX_BITS);
}

/* An address that is not canonical. */
static bool refuses(uint64_t target)
{
    unsigned spare_bits = 64 - host_cpu_address_bits();

    return (uint64_t)((int64_t)(target << spare_bits) >> spare_bits) != target;
}

const struct engine_place x86_place = {
    .sp_register = X86_RSP,
    .position_register = POSITION_REGISTER,
    .target_register = TARGET_REGISTER,
    .pc_register = X86_RCX,
    .landing_target = x86_landing_check_target,
    .landing_source = landing_source,
    .refuses = refuses,
};
