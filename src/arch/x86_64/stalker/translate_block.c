/* SPDX-License-Identifier: MIT */
/*
 * Translates a block: decodes it, writes what stands before its first instruction, and copies the instructions that do
 * not change the flow of control. translate_flow.c writes those that do, and so the end of most blocks. Invariant: at
 * each instruction written to hot memory, the trail knows the program's state.
 */
#include "arch/x86_64/x86_engine.h"

#include "arch/engine.h"
#include "arch/host_cpu.h"
#include "arch/x86_64/isa/relocator_parts.h"
#include "arch/x86_64/stalker/exit_code.h"
#include "arch/x86_64/stalker/frequent_code.h"
#include "arch/x86_64/stalker/segment_code.h"
#include "arch/x86_64/stalker/source_check.h"
#include "arch/x86_64/stalker/translate.h"

#include <asm/errno.h>

/* Whether the block ends behind an instruction, at `next`. */
static bool ends_block(struct translation *translation, const struct x86_insn *insn, struct app_pc next)
{
    /* The last: it may have changed what comes next. */
    return insn->flow != X86_FLOW_NEXT || next.value >= translation->quiet_border.value ||
           (insn->properties & X86_MEMORY_WRITE && translation->draft->is_checked);
}

/* int3 in one byte, as debuggers and the kernel write it. */
static bool is_breakpoint(const struct x86_insn *insn, const uint8_t *bytes)
{
    return insn->flow == X86_FLOW_TRAP && bytes[0] == 0xcc;
}

static void decode(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    struct block *block = translation->block;
    struct app_pc pc = block->start;
    unsigned options = host_cpu_decode_options();
    size_t available = block_draft_begin(translation), rest;

    struct x86_insn *insn = decoded->insns, *limit = insn + translation->insn_limit;
    const uint8_t *bytes = decoded->draft.source;

    while (insn < limit) {
        int result = x86_decode(bytes, available, pc, options, insn);

        /* The copy ends here, the original does not. */
        if (result == -ENODATA && decoded->draft.source == decoded->draft.copy && insn > decoded->insns)
            break;
        if (result != 0 || (x86_uses_our_segment(insn) && !x86_segment_can_be_put(insn))) {
            decoded->draft.ends_bad = true;
            decoded->draft.ends_unknown = result != 0;
            break;
        }
        rest = is_breakpoint(insn, bytes) ? block_draft_take_breakpoint_back(translation, pc, insn->length) : 0;
        if (rest > 0) {
            bytes = decoded->draft.source + (pc.value - block->start.value);
            available = rest;
            continue;
        }
        pc = x86_insn_next(insn);
        bytes += insn->length;
        available -= insn->length;
        if (ends_block(translation, insn++, pc))
            break;
    }
    decoded->draft.count = (unsigned)(insn - decoded->insns);
    block_set_original(block, decoded->draft.count, pc.value - block->start.value,
                       decoded->draft.count == 0 ? 0 : insn[-1].length);
    x86_event_plan(translation);
    decoded->draft.is_bare = decoded->draft.homes == 0 && decoded->draft.events.is_told;
}

static unsigned insn_length(const struct translation *translation, unsigned which)
{
    const struct x86_block *decoded = (const struct x86_block *)(const void *)translation->draft;

    return decoded->insns[which].length;
}

/* A function that runs natively: its return address is the only thing that differs, and is put back afterwards. */
static void put_native_call(struct translation *translation)
{
    struct code_writer *hot = &translation->hot;
    struct app_pc start = translation->block->start;

    translation->is_open = false;
    x86_take_register(translation);
    x86_pop_mem(hot, thread_field(THREAD_NATIVE_RETURN));
    x86_call_anywhere(hot, cache_pc_of(start.value));
    x86_take_position(translation);
    x86_put_exit(translation, 0, BLOCK_EXIT_NATIVE_RETURN, start);
    /* No point could say where a thread is that has returned: it is met again later. */
    translation->draft->point_count = 0;
}

/* What the operand refers to is out of reach. */
static void put_far_operand(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    struct x86_relocation_point points[8];
    struct x86_relocation_map map;
    struct x86_relocator relocator = {
        .options = {.spill = X86_SPILL_SEGMENT, .segment = X86_GS, .slots = {THREAD_SCRATCH, THREAD_SCRATCH}},
        .storage = {.writer = &translation->hot, .map = &map},
        .start_offset = code_writer_offset(&translation->hot),
    };
    struct trail_state state = trail_plain;
    uint32_t start = (uint32_t)(code_writer_pc(&translation->hot).value - block_code(translation->block).value);
    struct block_draft *draft = translation->draft;
    unsigned before;

    x86_relocation_map_init(&map, points, 8);
    x86_relocator_put_far(&relocator, insn, bytes);
    if (relocator.error != 0)
        translation->hot.overflowed = true;
    for (uint32_t i = 0; i < map.count; i++) {
        state.scratch_register =
            points[i].undo.saved[0].gpr == X86_GPR_NONE ? 0 : (uint8_t)(points[i].undo.saved[0].gpr + 1);
        before = draft->point_count;
        block_draft_note(translation, points[i].app_pc, state);
        /* The bytes are written already: the point is for a place before the next one. */
        if (draft->point_count > before)
            draft->points[before].cache_offset = start + points[i].cache_offset;
    }
}

static bool may_begin_steps(const struct x86_insn *insn)
{
    return insn->mnemonic == X86_MNEMONIC_popf || insn->mnemonic == X86_MNEMONIC_popfq;
}

/*
 * Where single stepping can begin. The first trap comes one instruction later: at this one, which is nobody's, it tells
 * where the program's next one is.
 */
static void put_step(struct translation *translation, struct app_pc next)
{
    block_draft_note(translation, next, trail_plain);
    x86_nops(&translation->hot, 1);
}

void x86_put_plain(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    if ((insn->gpr_read | insn->gpr_written) & X86_GPR_BIT(X86_R11) && code_cache_has_events(translation->cache)) {
        block_draft_note(translation, insn->pc, trail_plain);
        x86_take_register(translation);
    }
    block_draft_note_copy(translation, insn->pc);
    if (!(insn->properties & X86_PC_RELATIVE))
        code_writer_put_bytes(&translation->hot, bytes, insn->length);
    else if (!x86_relocator_put_near(&translation->hot, insn, bytes))
        put_far_operand(translation, insn, bytes);
    if (may_begin_steps(insn))
        put_step(translation, x86_insn_next(insn));
}

static void put(struct translation *translation, unsigned which)
{
    const struct x86_insn *insn = &x86_block_of(translation)->insns[which];
    const uint8_t *bytes = translation->draft->source + (insn->pc.value - translation->block->start.value);

    if (!block_draft_joins(translation))
        x86_put_events_before(translation, which);
    if (translation->draft->count_pending != 0 && (insn->flow != X86_FLOW_NEXT || x86_overwrites_flags(insn)))
        x86_put_counts(translation, insn->pc, x86_overwrites_flags(insn));
    if (x86_uses_our_segment(insn))
        x86_put_segment_use(translation, insn, bytes);
    else if (insn->flow == X86_FLOW_NEXT)
        x86_put_plain(translation, insn, bytes);
    else
        x86_put_flow(translation, insn, bytes);
}

/* Whether nothing but a copy of the instruction will stand in the cache. */
static bool is_copied(const struct x86_insn *insn)
{
    return insn->flow == X86_FLOW_NEXT && !(insn->properties & X86_PC_RELATIVE) && !x86_uses_our_segment(insn) &&
           !may_begin_steps(insn);
}

static void put_copies(struct translation *translation, unsigned first, unsigned end)
{
    const struct x86_block *decoded = x86_block_of(translation);
    uint64_t start = decoded->insns[first].pc.value;
    uint64_t size = x86_insn_next(&decoded->insns[end - 1]).value - start;

    block_draft_note_copy(translation, app_pc_of(start));
    code_writer_put_bytes(&translation->hot, decoded->draft.source + (start - translation->block->start.value), size);
}

static void put_all(struct translation *translation)
{
    const struct x86_block *decoded = x86_block_of(translation);
    unsigned count = decoded->draft.count, first = 0, end;
    bool joins = block_draft_joins(translation);

    while (first < count) {
        for (end = first; joins && end < count && is_copied(&decoded->insns[end]); end++)
            ;
        if (end > first)
            put_copies(translation, first, end);
        else
            put(translation, end++);
        first = end;
    }
}

/* The vsyscall page: gettimeofday, time, getcpu. The kernel does their work when it is asked to execute them. */
static const uint64_t vsyscalls[] = {0xffffffffff600000, 0xffffffffff600400, 0xffffffffff600800, 0};

/* The displacement of a jump through the table has 32 bits, with their sign. */
static const struct indirect_form indirect = {.within = {0x10000, 0x7fff0000}};

const struct engine_emit x86_emit = {
    .draft_bytes = sizeof(struct x86_block),
    .branch_bytes = BRANCH_BYTES,
    .placeholder_bytes = JUMP_BYTES,
    .stub_bytes = STUB_BYTES,
    .indirect = &indirect,
    .unreadable_functions = vsyscalls,
    .decode = decode,
    .insn_length = insn_length,
    .put_source_check = x86_put_source_check,
    .put_landing = x86_put_landing,
    .put = put,
    .put_all = put_all,
    .put_native = put_native_call,
    .put_callout = x86_put_callout,
    .put_code = x86_put_code,
    .put_count = x86_put_count,
    .put_return = x86_put_return_here,
    .put_counts = x86_put_counts,
    .take_position = x86_take_position,
    .put_events_at_end = x86_put_events_at_end,
    .put_exit = x86_put_exit,
    .put_stub = x86_write_stub,
    .put_jump = x86_put_near_jump,
    .put_far_jump = x86_jmp_absolute,
    .branch_reaches = x86_branch_reaches,
    .make_branch = x86_make_branch,
    .put_call_piece = x86_put_call_piece,
};
