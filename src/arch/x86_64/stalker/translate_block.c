/* SPDX-License-Identifier: MIT */
/*
 * Translates a block: decodes it, writes what stands before its first instruction, and copies the instructions that do
 * not change the flow of control. translate_flow.c writes those that do, and so the end of most blocks. Invariant: at
 * each instruction written to hot memory, the trail knows the program's state.
 */
#include "arch/x86_64/engine.h"

#include "arch/engine.h"
#include "arch/host_cpu.h"
#include "arch/x86_64/isa/relocator_parts.h"
#include "arch/x86_64/stalker/exit_code.h"
#include "arch/x86_64/stalker/segment_code.h"
#include "arch/x86_64/stalker/source_check.h"
#include "arch/x86_64/stalker/translate.h"
#include "base/code_memory.h"
#include "stalker/cold_piece.h"
#include "stalker/stalker_engine.h"

#include <asm/errno.h>

/* The state with what holds for the block as far as it is written. */
static __attribute__((noinline)) struct trail_state complete_state(const struct x86_block *decoded,
                                                                   struct app_pc app_pc, struct trail_state state)
{
    state.homes |= decoded->homes;
    if (app_pc.value == decoded->callout_pc.value)
        state.callouts_done = (uint8_t)decoded->callouts_done;
    if (app_pc.value == decoded->count_pc.value)
        state.is_counted = decoded->is_counted;
    if (state.progress == TRAIL_TOLD && !decoded->events.is_told)
        state.progress = TRAIL_UNTOLD;
    return state;
}

/* Several times for each block: a part of both that call it. */
static inline __attribute__((always_inline)) void add_point(struct translation *translation, struct app_pc app_pc,
                                                            bool is_copy, struct trail_state state)
{
    struct x86_block *decoded = x86_block_of(translation);
    const struct block *block = translation->block;
    struct trail_point *point = &decoded->points[decoded->point_count];

    if (decoded->point_count == TRAIL_POINTS_MAX) {
        translation->hot.overflowed = true;
        return;
    }
    if (!decoded->is_bare)
        state = complete_state(decoded, app_pc, state);
    point->cache_offset = (uint32_t)(code_writer_pc(&translation->hot).value - block_code(block).value);
    point->is_copy = is_copy;
    point->app_offset = (int64_t)(app_pc.value - block->start.value);
    point->state = state;
    if (decoded->point_count == 0 || !trail_point_follows(point - 1, point))
        decoded->point_count++;
}

void x86_trail_note(struct translation *translation, struct app_pc app_pc, struct trail_state state)
{
    add_point(translation, app_pc, false, state);
}

/* Notes that what is written next is an instruction as it stands at app_pc, and leaves the registers alone. */
static void note_copy(struct translation *translation, struct app_pc app_pc)
{
    add_point(translation, app_pc, true, trail_plain);
}

/*
 * Where the block's bytes are read: in place or, where they may change while we look, from a copy. Returns how many
 * there are.
 */
static size_t find_source(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    const uint8_t *original = (const uint8_t *)(uintptr_t)translation->block->start.value;
    size_t available = translation_source_bytes(translation, &decoded->is_checked);

    decoded->is_checked |= translation->cache->engine->options.trust < 0;
    decoded->source = original;
    if (!decoded->is_checked)
        return available;
    if (available > sizeof(decoded->copy))
        available = sizeof(decoded->copy);
    __builtin_memcpy(decoded->copy, original, available);
    decoded->source = decoded->copy;
    return available;
}

/* Whether the block ends behind an instruction, at `next`. */
static bool ends_block(struct translation *translation, const struct x86_insn *insn, struct app_pc next)
{
    /* The last: it may have changed what comes next. */
    return insn->flow != X86_FLOW_NEXT || next.value >= translation->quiet_border.value ||
           (insn->properties & X86_MEMORY_WRITE && x86_block_of(translation)->is_checked);
}

static void decode(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    struct block *block = translation->block;
    struct app_pc pc = block->start;
    unsigned options = host_cpu_decode_options();
    size_t available = find_source(translation);

    struct x86_insn *insn = decoded->insns, *limit = insn + translation->insn_limit;
    const uint8_t *bytes = decoded->source;

    decoded->point_count = 0;
    decoded->homes = x86_events_in_use(translation) ? X86_GPR_BIT(X86_R11) : 0;
    decoded->ends_bad = false;
    decoded->count_pending = 0;
    decoded->callouts_done = 0;
    decoded->is_counted = false;
    while (insn < limit) {
        int result = x86_decode(bytes, available, pc, options, insn);

        /* The copy ends here, the original does not. */
        if (result == -ENODATA && decoded->is_checked && insn > decoded->insns)
            break;
        if (result != 0 || (x86_uses_our_segment(insn) && !x86_segment_can_be_put(insn))) {
            decoded->ends_bad = true;
            decoded->ends_unknown = result != 0;
            break;
        }
        pc = x86_insn_next(insn);
        bytes += insn->length;
        available -= insn->length;
        if (ends_block(translation, insn++, pc))
            break;
    }
    decoded->count = (unsigned)(insn - decoded->insns);
    block_set_original(block, decoded->count, pc.value - block->start.value, decoded->count == 0 ? 0 : insn[-1].length);
    x86_event_plan(translation);
    decoded->is_bare = decoded->homes == 0 && decoded->events.is_told;
}

static unsigned insn_length(const struct translation *translation, unsigned which)
{
    const struct x86_block *decoded = translation->insns;

    return decoded->insns[which].length;
}

/*
 * Which of the registers that indirect branches use the block may need. One that is overwritten is dead only if nothing
 * before can raise a signal: its handler would see the register.
 */
static x86_gpr_set live_at_start(const struct x86_block *decoded)
{
    x86_gpr_set undecided = BRANCH_SET, live = 0;

    for (unsigned i = 0; i < decoded->count && undecided != 0; i++) {
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
    x86_block_of(translation)->point_count = 0;
}

static void put_change_of_cache(struct translation *translation)
{
    struct app_pc start = translation->block->start;

    x86_trail_note(translation, start, trail_plain);
    x86_put_exit(translation, 0, BLOCK_EXIT_CHANGE_CACHE, start);
}

/* Of a block that was not decoded nothing is known but where it begins. */
static void forget_decoded(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);

    decoded->count = 0;
    decoded->point_count = 0;
    decoded->is_checked = false;
    decoded->callouts_done = 0;
    decoded->homes = x86_events_in_use(translation) ? X86_GPR_BIT(X86_R11) : 0;
    x86_event_plan(translation);
    decoded->is_bare = false;
}

/* The block's entry is behind it. */
static void put_hot_landing(struct translation *translation)
{
    struct block *block = translation->block;
    struct cache_pc landing = block->entry;

    x86_put_landing(translation, NULL, block,
                    translation->is_observed ? BRANCH_SET : live_at_start(x86_block_of(translation)));
    block->entry = code_writer_pc(&translation->hot);
    block_set_landing(block, landing);
    block->landing_bytes = (uint8_t)(block->entry.value - landing.value);
}

static void open_block(struct translation *translation)
{
    struct block *block = translation->block;
    struct code_writer *hot = &translation->hot;

    if (!translation->is_decoded)
        forget_decoded(translation);
    /* Somebody may look at all registers before the block overwrites them, or find that it is another one by now. */
    translation->is_observed |= !translation->is_decoded || x86_block_of(translation)->is_checked;
    block->entry = code_writer_pc(hot);
    if (translation->lands)
        put_hot_landing(translation);
    if (translation->changes_cache)
        put_change_of_cache(translation);
    else if (x86_block_of(translation)->is_checked)
        x86_put_source_check(translation);
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
    struct x86_block *decoded = x86_block_of(translation);
    unsigned before;

    x86_relocation_map_init(&map, points, 8);
    x86_relocator_put_far(&relocator, insn, bytes);
    if (relocator.error != 0)
        translation->hot.overflowed = true;
    for (uint32_t i = 0; i < map.count; i++) {
        state.scratch_register =
            points[i].undo.saved[0].gpr == X86_GPR_NONE ? 0 : (uint8_t)(points[i].undo.saved[0].gpr + 1);
        before = decoded->point_count;
        x86_trail_note(translation, points[i].app_pc, state);
        /* The bytes are written already: the point is for a place before the next one. */
        if (decoded->point_count > before)
            decoded->points[before].cache_offset = start + points[i].cache_offset;
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
    x86_trail_note(translation, next, trail_plain);
    x86_nops(&translation->hot, 1);
}

void x86_put_plain(struct translation *translation, const struct x86_insn *insn, const uint8_t *bytes)
{
    if ((insn->gpr_read | insn->gpr_written) & X86_GPR_BIT(X86_R11) && x86_events_in_use(translation)) {
        x86_trail_note(translation, insn->pc, trail_plain);
        x86_take_register(translation);
    }
    note_copy(translation, insn->pc);
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
    const uint8_t *bytes = x86_block_of(translation)->source + (insn->pc.value - translation->block->start.value);

    if (!x86_puts_nothing_between(translation))
        x86_put_events_before(translation, which);
    if (x86_block_of(translation)->count_pending != 0 && (insn->flow != X86_FLOW_NEXT || x86_overwrites_flags(insn)))
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

    note_copy(translation, app_pc_of(start));
    code_writer_put_bytes(&translation->hot, decoded->source + (start - translation->block->start.value), size);
}

static void put_all(struct translation *translation)
{
    const struct x86_block *decoded = x86_block_of(translation);
    unsigned count = decoded->count, first = 0, end;
    bool joins = x86_puts_nothing_between(translation);

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

/* Where the block's hot code is; and the points so far, in as few bytes as they take. */
static void keep_place(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    struct block *block = translation->block;
    struct code_place_record *place = &translation->places[translation->block_count - 1];
    uint64_t start = block_code(block).value;
    size_t bytes = trail_encode(decoded->points, decoded->point_count, decoded->trail, sizeof(decoded->trail));
    uint8_t *kept = cache_slab_note(translation->slab, bytes, 1, &place->trail);

    if (kept == NULL || (bytes == 0 && decoded->point_count != 0)) {
        translation->hot.overflowed = true;
        return;
    }
    __builtin_memcpy(kept, decoded->trail, bytes);
    place->start = (uint32_t)(start - cache_range_start(&translation->slab->hot_range));
    place->block = block->index;
    place->trail_bytes = (uint16_t)bytes;
    place->size_bytes = (uint16_t)(code_writer_pc(&translation->hot).value - start);
}

static void close_block(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);
    struct block *block = translation->block;
    struct app_pc end = block_end(block);

    if (translation->is_open && translation->is_decoded) {
        x86_put_counts(translation, end, false);
        x86_trail_note(translation, end, trail_plain);
        x86_take_position(translation);
        x86_trail_note(translation, end, trail_plain);
        x86_put_events_at_end(translation, end, NULL);
        if (decoded->ends_bad)
            x86_put_exit(translation, 0, decoded->ends_unknown ? BLOCK_EXIT_NO_CODE : BLOCK_EXIT_LEAVE, end);
        else
            x86_put_exit(translation, 0, translation_continue(translation, end), end);
    }
    keep_place(translation);
}

static void cut(struct translation *translation)
{
    struct x86_block *decoded = x86_block_of(translation);

    decoded->count = translation->block->insn_count;
    decoded->ends_bad = false;
}

static void put_cold_landing(struct translation *translation, struct block *block)
{
    struct code_writer *cold = &translation->cold;
    struct cold_piece piece;

    block_set_landing(block, code_writer_pc(cold));
    cold_piece_begin(&piece, block, cold);
    x86_put_landing(translation, &piece, block, BRANCH_SET);
    x86_jmp_pc(cold, block->entry, X86_REACH_NEAR);
    if (cold_piece_end(&piece, translation->slab, cold) != 0)
        cold->overflowed = true;
}

/* The vsyscall page: gettimeofday, time, getcpu. The kernel does their work when it is asked to execute them. */
static const uint64_t vsyscalls[] = {0xffffffffff600000, 0xffffffffff600400, 0xffffffffff600800, 0};

const struct engine_emit x86_emit = {
    .unreadable_functions = vsyscalls,
    .insns_bytes = sizeof(struct x86_block),
    .decode = decode,
    .insn_length = insn_length,
    .open = open_block,
    .put = put,
    .put_all = put_all,
    .put_native = put_native_call,
    .cut = cut,
    .close = close_block,
    .put_callout = x86_put_callout,
    .put_code = x86_put_code,
    .put_count = x86_put_count,
    .put_return = x86_put_return_here,
    .put_call_piece = x86_put_call_piece,
    .put_landing = put_cold_landing,
    .link = x86_link,
};
