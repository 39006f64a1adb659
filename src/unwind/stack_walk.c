/* SPDX-License-Identifier: MIT */
/*
 * Frame by frame, by the rules of unwind_rule.h, until a frame is met that was there in the walk before, with the same
 * registers. From there on nothing is worked out: if all words that were read then are unchanged, then so is the rest.
 * These reads do not depend on each other, so the CPU does them side by side; that is what makes it fast.
 *
 * Words are only read from the mapping that the stack pointer is in.
 */
#include "unwind/stack_walk.h"

#include "arch/arch.h"
#include "process/mapping_list.h"

#define ADDRESS_BITS 47

struct walk {
    struct unwind_modules *modules;
    struct stack_walker *walker;
    const struct arch_frame_registers *numbers;
    struct stack_bounds bounds;
    struct stack_bounds first_bounds; /* of the stack that it began on */
    struct stack_frame state;
    bool is_exact; /* the pc is that of an instruction, not behind a call */
    uint64_t *pcs;
    size_t count;
    size_t capacity;
    uint64_t generation;
    bool is_remembered; /* nothing but simple frames of one stack so far */
    uint32_t new_count; /* of frames that the memory does not have, the innermost first */
};

/* ---- reading the stack ------------------------------------------------------------------------------------------- */

struct stack_search {
    uint64_t address;
    struct stack_bounds *bounds;
};

static void take_mapping(void *context, const struct mapping *mapping)
{
    struct stack_search *search = context;

    if (search->address >= mapping->start && search->address < mapping->end)
        *search->bounds = (struct stack_bounds){mapping->start, mapping->end};
}

static inline bool is_within(struct stack_bounds bounds, uint64_t address)
{
    return address - bounds.low < bounds.high - bounds.low && address + sizeof(uint64_t) <= bounds.high;
}

/* Makes the bounds those of the stack that the address is in. */
static bool find_bounds(uint64_t address, struct stack_bounds *bounds)
{
    struct stack_search search = {address, bounds};

    if (is_within(*bounds, address))
        return true;
    *bounds = (struct stack_bounds){0, 0};
    return mapping_list_visit(address, address + 1, take_mapping, &search) == 0 && is_within(*bounds, address);
}

static inline uint64_t word_at(uint64_t address)
{
    return *(const uint64_t *)(uintptr_t)address;
}

/* For full_unwind: other stacks, too. */
static bool read_stack(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct walk *walk = context;
    uint64_t last = address + size_bytes - 1;

    if (!find_bounds(address, &walk->bounds) || last < address || last >= walk->bounds.high)
        return false;
    __builtin_memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

/* ---- what was there before --------------------------------------------------------------------------------------- */

/* How many of the remembered frames outside of frame `from` are as they were, from there on outwards. */
static uint32_t count_unchanged(const struct stack_memory *memory, uint32_t from)
{
    uint32_t i = from;

    while (i > 0) {
        uint64_t difference = word_at(memory->sp[i - 1] - UNWIND_WORD) ^ memory->pc[i - 1];

        difference |= word_at(memory->fp_place[i - 1]) ^ memory->fp_value[i - 1];
        if (difference != 0)
            break;
        i--;
    }
    return from - i;
}

/* Where the memory has the present frame. Moves *place towards the outermost; false: it has not. */
static inline bool is_known(const struct stack_memory *memory, const struct stack_frame *state, uint32_t *place)
{
    while (*place > 0 && memory->sp[*place - 1] < state->sp)
        (*place)--;
    return *place > 0 && memory->sp[*place - 1] == state->sp && memory->pc[*place - 1] == state->pc &&
           ((memory->fp[*place - 1] ^ state->fp) & memory->fp_mask[*place - 1]) == 0;
}

/* What has to be the same in the stack for a frame to be. */
static void set_places(struct stack_memory *memory, uint32_t which, const struct stack_frame *frame)
{
    bool is_needed = memory->fp_mask[which] != 0;

    memory->fp_place[which] = is_needed ? frame->fp_place : frame->sp - UNWIND_WORD;
    memory->fp_value[which] = is_needed ? frame->fp_value : frame->pc;
}

/* ---- one frame --------------------------------------------------------------------------------------------------- */

/* The frame is at that address; the pointer is so far below it, or unchanged. */
static inline bool undo_frame(struct walk *walk, uint64_t frame, uint64_t pointer_bytes)
{
    struct stack_frame *state = &walk->state;
    uint64_t place = frame - (pointer_bytes == 0 ? UNWIND_WORD : pointer_bytes);

    if (frame <= state->sp || !is_within(walk->bounds, frame - UNWIND_WORD) || !is_within(walk->bounds, place))
        return false;
    state->pc = word_at(frame - UNWIND_WORD);
    state->fp_place = place;
    state->fp_value = word_at(place);
    if (pointer_bytes != 0)
        state->fp = state->fp_value;
    state->sp = frame;
    walk->is_exact = false;
    return true;
}

/* Code that nobody describes often keeps its frame pointer all the same. */
static bool undo_by_pointer(struct walk *walk)
{
    if (walk->state.fp < walk->state.sp || walk->state.fp % UNWIND_WORD != 0)
        return false;
    return undo_frame(walk, walk->state.fp + 2 * UNWIND_WORD, 2 * UNWIND_WORD);
}

static bool step_fully(struct walk *walk, uint64_t lookup_pc, struct unwind_registers *registers)
{
    const struct unwind_memory memory = {read_stack, walk};
    struct eh_frame_entry entry;

    if (!unwind_modules_entry(walk->modules, lookup_pc, &entry) ||
        full_unwind_step(&entry, lookup_pc, walk->numbers, &memory, registers) != 1)
        return false;
    walk->state = (struct stack_frame){
        .pc = registers->values[walk->numbers->return_address],
        .sp = registers->values[walk->numbers->stack_pointer],
        .fp = unwind_registers_know(registers, walk->numbers->frame_pointer)
                  ? registers->values[walk->numbers->frame_pointer]
                  : 0,
    };
    walk->is_exact = entry.is_signal_frame;
    walk->is_remembered = false;
    return find_bounds(walk->state.sp, &walk->bounds);
}

/* What is known of registers while frames are undone by rules. */
static struct unwind_registers present_registers(const struct walk *walk)
{
    struct unwind_registers registers = {.known = 0};

    unwind_registers_set(&registers, walk->numbers->return_address, walk->state.pc);
    unwind_registers_set(&registers, walk->numbers->stack_pointer, walk->state.sp);
    unwind_registers_set(&registers, walk->numbers->frame_pointer, walk->state.fp);
    return registers;
}

enum step_result {
    STEP_DONE,
    STEP_END,
    STEP_NEEDS_ALL, /* registers that rules do not follow */
};

static enum step_result step(struct walk *walk, uint64_t lookup_pc, uint32_t rule)
{
    struct unwind_registers registers;
    bool is_done = false;

    switch (unwind_rule_kind(rule)) {
    case UNWIND_SP:
        is_done = undo_frame(walk, walk->state.sp + unwind_rule_frame_bytes(rule), unwind_rule_pointer_bytes(rule));
        break;
    case UNWIND_FP:
        is_done = undo_frame(walk, walk->state.fp + unwind_rule_frame_bytes(rule), unwind_rule_pointer_bytes(rule));
        break;
    case UNWIND_FULL:
        registers = present_registers(walk);
        return step_fully(walk, lookup_pc, &registers) ? STEP_DONE : STEP_NEEDS_ALL;
    case UNWIND_UNKNOWN:
        is_done = undo_by_pointer(walk);
        break;
    case UNWIND_PLT:
    case UNWIND_END:
        break;
    }
    return is_done && walk->state.pc != 0 && walk->state.pc >> ADDRESS_BITS == 0 ? STEP_DONE : STEP_END;
}

/* ---- all frames -------------------------------------------------------------------------------------------------- */

/* A frame that is not in the memory, or not any more at that place. */
static void note_frame(struct walk *walk, const struct stack_frame *frame)
{
    if (walk->new_count < STACK_MEMORY_FRAMES)
        walk->walker->memory.new_frames[walk->new_count++] = *frame;
    else
        walk->is_remembered = false;
}

/*
 * At a frame that the memory has. Goes over those that are as they were; if that is not all, the last of them is where
 * the walk is then, and the ones before it are noted anew. How many, from the outermost on, are other ones now.
 */
static uint32_t take_known(struct walk *walk, uint32_t place)
{
    struct stack_memory *memory = &walk->walker->memory;
    uint32_t unchanged = count_unchanged(memory, place - 1), first = place - 1 - unchanged;

    for (uint32_t i = place - 1; i > first && walk->count < walk->capacity; i--)
        walk->pcs[walk->count++] = memory->pc[i - 1];
    /* The frame before it may be another one, which had kept the pointer elsewhere. */
    set_places(memory, place - 1, &walk->state);
    for (uint32_t i = place - 1; first > 0 && i >= first; i--) {
        walk->state = (struct stack_frame){memory->pc[i],       memory->sp[i],       memory->fp[i],
                                           memory->fp_place[i], memory->fp_value[i], memory->rule[i]};
        if (i > first)
            note_frame(walk, &walk->state);
    }
    if (first == 0)
        walk->state = (struct stack_frame){.pc = memory->pc[0], .sp = memory->sp[0], .fp = memory->fp[0]};
    return first;
}

/* Whether what is farther out depends on the pointer that a frame has, if it does on the one that its caller has. */
static bool needs_pointer(uint32_t rule, bool caller_does)
{
    switch (unwind_rule_kind(rule)) {
    case UNWIND_SP:
        return caller_does && unwind_rule_pointer_bytes(rule) == 0;
    case UNWIND_END:
        return false;
    default:
        return true;
    }
}

/* Keeps `kept` outermost frames, and has the new ones behind them. */
static void remember(struct walk *walk, uint32_t kept)
{
    struct stack_memory *memory = &walk->walker->memory;
    uint32_t count = kept + walk->new_count;
    /* Of what lies behind the outermost frame nothing is known. */
    bool is_needed = kept == 0 || memory->fp_mask[kept - 1] != 0;

    memory->count = 0;
    memory->generation = walk->generation;
    memory->bounds = walk->first_bounds;
    if (count > STACK_MEMORY_FRAMES)
        return;
    for (uint32_t place = kept; place < count; place++) {
        const struct stack_frame *frame = &memory->new_frames[count - 1 - place];

        is_needed = needs_pointer(frame->rule, is_needed);
        memory->pc[place] = frame->pc;
        memory->sp[place] = frame->sp;
        memory->fp[place] = frame->fp;
        memory->fp_mask[place] = is_needed ? UINT64_MAX : 0;
        memory->rule[place] = frame->rule;
        set_places(memory, place, frame);
    }
    atomic_signal_fence(memory_order_seq_cst);
    memory->count = count;
}

/* With all registers from the first frame on, which is as good as it gets. */
static void walk_fully(struct walk *walk, const struct stack_start *start)
{
    struct unwind_registers registers = *start->registers;

    walk->bounds = walk->first_bounds;
    walk->state.pc = registers.values[walk->numbers->return_address];
    walk->is_exact = !start->is_behind_call;
    walk->count = 0;
    walk->pcs[walk->count++] = walk->state.pc;
    while (walk->count < walk->capacity && step_fully(walk, walk->state.pc - (walk->is_exact ? 0 : 1), &registers) &&
           walk->state.pc != 0)
        walk->pcs[walk->count++] = walk->state.pc;
}

/* How many remembered frames there are that the walk may meet. */
static uint32_t count_remembered(const struct walk *walk)
{
    const struct stack_memory *memory = &walk->walker->memory;

    if (!walk->is_remembered || memory->generation != walk->generation || memory->bounds.low != walk->bounds.low ||
        memory->bounds.high != walk->bounds.high)
        return 0;
    return memory->count;
}

/*
 * Goes over simple frames, up to one that is remembered or one that is not simple. How many of the memory's frames,
 * from the outermost on, are met then; 0: none. All in local variables, and each word stored on its own: a structure
 * that is written by words and copied at once makes the CPU wait.
 */
static uint32_t walk_simply(struct walk *walk, uint32_t place)
{
    struct stack_memory *memory = &walk->walker->memory;
    struct stack_frame state = walk->state;
    struct stack_bounds bounds = walk->bounds;
    bool is_exact = walk->is_exact, is_met = false;

    while (walk->count < walk->capacity) {
        is_met = !is_exact && is_known(memory, &state, &place);
        if (is_met || !rule_cache_find(&walk->modules->cache, state.pc - (is_exact ? 0 : 1), &state.rule) ||
            unwind_rule_kind(state.rule) > UNWIND_FP || walk->new_count == STACK_MEMORY_FRAMES)
            break;

        uint64_t frame =
            (unwind_rule_kind(state.rule) == UNWIND_SP ? state.sp : state.fp) + unwind_rule_frame_bytes(state.rule);
        uint64_t pointer_bytes = unwind_rule_pointer_bytes(state.rule);
        uint64_t fp_place = frame - (pointer_bytes == 0 ? UNWIND_WORD : pointer_bytes);

        if (frame <= state.sp || !is_within(bounds, frame - UNWIND_WORD) || !is_within(bounds, fp_place))
            break;
        if (!is_exact) {
            struct stack_frame *noted = &memory->new_frames[walk->new_count++];

            noted->pc = state.pc;
            noted->sp = state.sp;
            noted->fp = state.fp;
            noted->fp_place = state.fp_place;
            noted->fp_value = state.fp_value;
            noted->rule = state.rule;
        }
        is_exact = false;
        state.pc = word_at(frame - UNWIND_WORD);
        state.sp = frame;
        state.fp_place = fp_place;
        state.fp_value = word_at(fp_place);
        state.fp = pointer_bytes == 0 ? state.fp : state.fp_value;
        walk->pcs[walk->count++] = state.pc;
    }
    walk->state = state;
    walk->is_exact = is_exact;
    return is_met ? place : 0;
}

/* By the rules' help or, where they have none, by what else there is. */
static enum step_result step_and_note(struct walk *walk)
{
    uint64_t lookup_pc = walk->state.pc - (walk->is_exact ? 0 : 1);
    enum step_result result;

    walk->state.rule = unwind_modules_rule(walk->modules, lookup_pc);
    if (walk->is_remembered && !walk->is_exact)
        note_frame(walk, &walk->state);
    result = step(walk, lookup_pc, walk->state.rule);
    if (result == STEP_DONE)
        walk->pcs[walk->count++] = walk->state.pc;
    return result;
}

static void walk_frames(struct walk *walk, const struct stack_start *start)
{
    enum step_result result = STEP_DONE;
    bool may_remember = walk->is_remembered;
    uint32_t place = count_remembered(walk), known = 0;

    walk->pcs[walk->count++] = walk->state.pc;
    while (result == STEP_DONE && walk->count < walk->capacity) {
        uint32_t met = walk->is_remembered ? walk_simply(walk, place) : 0;

        if (met != 0 && (place = take_known(walk, met)) == 0) {
            known = met;
            /* What is behind the outermost frame that is remembered is not. */
            walk->is_remembered = false;
        }
        if (met == 0 || known != 0)
            result = walk->count < walk->capacity ? step_and_note(walk) : STEP_END;
    }
    if (result == STEP_NEEDS_ALL)
        walk_fully(walk, start);
    else if (may_remember)
        remember(walk, known);
}

size_t stack_walk(struct unwind_modules *modules, struct stack_walker *walker, const struct stack_start *start,
                  uint64_t *pcs_out, size_t capacity)
{
    const struct arch_frame_registers *numbers = modules->registers;
    const uint64_t *registers = start->registers->values;
    bool was_outside = unwind_modules_enter(&walker->reader);
    struct walk walk = {
        .modules = modules,
        .walker = walker,
        .numbers = numbers,
        .bounds = walker->bounds,
        .state = {registers[numbers->return_address], registers[numbers->stack_pointer],
                  registers[numbers->frame_pointer], 0, 0, 0},
        .is_exact = !start->is_behind_call,
        .pcs = pcs_out,
        .capacity = capacity,
        .generation = atomic_load_explicit(&modules->generation, memory_order_acquire),
        /* A walk that interrupts another one leaves what that uses alone. */
        .is_remembered = was_outside,
    };

    if (capacity > 0 && find_bounds(walk.state.sp, &walk.bounds)) {
        walk.first_bounds = walk.bounds;
        if (was_outside)
            walker->bounds = walk.bounds;
        walk_frames(&walk, start);
    }
    unwind_modules_leave(&walker->reader, was_outside);
    return walk.count;
}
