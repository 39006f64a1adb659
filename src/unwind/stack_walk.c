/* SPDX-License-Identifier: MIT */
/*
 * Frame by frame, by the rules of unwind_rule.h, until a frame is met that was there in the walk before
 * (stack_memory.h). What rules cannot tell is worked out from .eh_frame.
 *
 * Words are read without asking only from the thread's own stack: no frame leads out of it but one of a signal handler.
 * Other stacks (of coroutines, of signal handlers) may be gone at any time, all but the part that is in use; a frame
 * that is not one may lead anywhere in them. There each page is looked at by a system call first, and nothing is
 * remembered.
 */
#include "unwind/stack_walk.h"

#include "arch/arch.h"
#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "process/mapping_list.h"
#include "process/memory_probe.h"
#include "unwind/hooked_frames.h"

#include <asm/errno.h>

#define ADDRESS_BITS 47
/* Some frame pointers are kept that far below the frame, and no farther. */
#define PROBED_MAX 16u
/* So far below its known end the stack may be in use: nothing else is mapped that near. */
#define GROWTH_BYTES_MAX ((uint64_t)64 << 20)
/* Hooked functions that jump to each other have returned to one place: no more than that many. */
#define HOOKS_AT_ONE_PLACE_MAX 256u

struct frame_walk {
    struct unwind_view *view;
    struct stack_walker *walker;
    const struct unwind_modules *modules;
    struct full_unwind_storage *storage; /* NULL: there is none left */
    struct stack_bounds bounds;          /* what can be read of the stack that it is on */
    uint64_t pc;
    uint64_t sp;
    uint64_t fp;
    bool is_exact;      /* the pc is that of an instruction, not behind a call */
    bool is_own;        /* it is on the thread's own stack */
    bool is_remembered; /* nothing but simple frames of that stack so far */
    bool is_ended;      /* there is no caller */
    struct stack_addresses *addresses;
    uint32_t place; /* of memory's frames, which may be met yet */
    uint32_t note_count;
};

/* ---- the thread's own stack -------------------------------------------------------------------------------------- */

struct own_search {
    uint64_t sp;
    uint64_t thread_pointer;
    struct stack_bounds main; /* what the kernel calls the stack */
    struct stack_bounds near; /* the mapping with the thread pointer */
};

static void take_mapping(void *context, const struct mapping *mapping)
{
    static const char name[] = "[stack]";
    struct own_search *search = context;

    if (mapping->path_length == sizeof(name) - 1 && memcmp(mapping->path, name, sizeof(name) - 1) == 0)
        search->main = (struct stack_bounds){mapping->start, mapping->end};
    if (search->thread_pointer >= mapping->start && search->thread_pointer < mapping->end)
        search->near = (struct stack_bounds){mapping->start, mapping->end};
}

static inline bool is_between(struct stack_bounds bounds, uint64_t address)
{
    return address - bounds.low < bounds.high - bounds.low;
}

void stack_walker_init(struct stack_walker *walker, uint64_t sp, uint64_t thread_pointer, bool is_main_thread)
{
    struct own_search search = {.sp = sp, .thread_pointer = thread_pointer};

    walker->own = (struct stack_bounds){0, 0};
    walker->may_grow = false;
    walker->depth = 0;
    walker->unknown_pc = 0;
    stack_memory_init(&walker->memory);
    if (mapping_list_visit(0, UINT64_MAX, take_mapping, &search) != 0)
        return;
    /* Threads have their control block at the top of their stack; what is mapped behind it is something else. */
    search.near.high = search.near.low == 0 ? 0 : thread_pointer;
    if (is_between(search.main, sp) || (is_main_thread && !is_between(search.near, sp))) {
        walker->own = search.main;
        walker->may_grow = true;
    } else {
        walker->own = search.near;
    }
}

/* Looks again how large a stack is that grows. */
static __attribute__((noinline)) void follow_growth(struct stack_walker *walker, uint64_t sp)
{
    struct own_search search = {.sp = sp};

    if (sp < walker->own.low && walker->may_grow && walker->own.low - sp < GROWTH_BYTES_MAX &&
        mapping_list_visit(0, UINT64_MAX, take_mapping, &search) == 0 && search.main.low != 0)
        walker->own = search.main;
}

/* ---- reading the stack ------------------------------------------------------------------------------------------- */

/* The walk goes on at that stack pointer. */
static void enter_stack(struct frame_walk *walk)
{
    walk->is_own = is_between(walk->walker->own, walk->sp);
    walk->bounds = walk->is_own ? walk->walker->own : (struct stack_bounds){0, 0};
}

/* Whether the words from `low` up to before `high` can be read, now. */
static bool can_read(struct frame_walk *walk, uint64_t low, uint64_t high)
{
    struct stack_bounds pages;
    uint64_t page_bytes;

    if (low >= walk->bounds.low && high <= walk->bounds.high)
        return true;
    page_bytes = memory_page_size();
    pages = (struct stack_bounds){align_down(low, page_bytes), align_up(high, page_bytes)};
    if (walk->is_own || pages.high <= pages.low || pages.high - pages.low > PROBED_MAX * page_bytes)
        return false;
    for (uint64_t page = pages.low; page < pages.high; page += page_bytes)
        if (!is_between(walk->bounds, page) && !memory_probe(page))
            return false;
    walk->bounds = pages;
    return true;
}

/* For full_unwind: other stacks, too. */
static bool read_stack(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    const struct frame_walk *walk = context;
    uint64_t last = address + size_bytes - 1;

    if (last < address)
        return false;
    if ((!is_between(walk->walker->own, address) || !is_between(walk->walker->own, last)) &&
        (!memory_probe(address & ~(uint64_t)7) || !memory_probe(last & ~(uint64_t)7)))
        return false;
    memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
    return true;
}

/* ---- one frame --------------------------------------------------------------------------------------------------- */

enum step_result {
    STEP_DONE,
    STEP_END,
    STEP_NEEDS_ALL, /* registers that rules do not follow */
};

static inline bool is_code_address(uint64_t pc)
{
    return (pc - 1) >> ADDRESS_BITS == 0;
}

static inline void add_address(struct frame_walk *walk, uint64_t pc)
{
    walk->addresses->pcs[walk->addresses->count++] = pc;
}

/* By a rule of kind UNWIND_SP or UNWIND_FP. */
static enum step_result step_simply(struct frame_walk *walk, uint32_t rule)
{
    uint64_t frame = (unwind_rule_kind(rule) == UNWIND_SP ? walk->sp : walk->fp) + unwind_rule_frame_bytes(rule);
    uint64_t pointer_bytes = unwind_rule_pointer_bytes(rule), pc;
    uint64_t lowest = frame - (pointer_bytes < UNWIND_WORD ? UNWIND_WORD : pointer_bytes);

    if (frame <= walk->sp || !can_read(walk, lowest, frame))
        return STEP_END;
    pc = stack_word(frame - UNWIND_WORD);
    if (!is_code_address(pc))
        return STEP_END;
    walk->pc = pc;
    walk->sp = frame;
    walk->fp = pointer_bytes == 0 ? walk->fp : stack_word(frame - pointer_bytes);
    walk->is_exact = false;
    return STEP_DONE;
}

/*
 * If a hook has put its own address where the walk is: where it would be without. Nothing of such frames is remembered,
 * for what is in the stack stays the same when somebody else calls the function. Whether there was one.
 */
static bool undo_hooks(struct frame_walk *walk)
{
    const struct hooked_frames *hooked = atomic_load_explicit(&walk->modules->hooked, memory_order_acquire);
    struct hooked_place place = {walk->pc, walk->sp, walk->fp, walk->is_exact};
    unsigned count = 0;

    if (hooked == NULL)
        return false;
    while (count < HOOKS_AT_ONE_PLACE_MAX && hooked->undo(hooked->context, &place))
        count++;
    if (count == 0)
        return false;
    walk->pc = place.pc;
    walk->sp = place.sp;
    walk->fp = place.fp;
    walk->is_exact = place.is_exact;
    walk->is_remembered = false;
    walk->place = 0;
    enter_stack(walk);
    return true;
}

/* In the code of the present frame: a call may be the last thing in it. */
static inline uint64_t lookup_pc(const struct frame_walk *walk)
{
    return walk->pc - (walk->is_exact ? 0 : 1);
}

static bool step_fully(struct frame_walk *walk, struct unwind_registers *registers)
{
    const struct arch_frame_registers *numbers = walk->modules->registers;
    const struct full_unwind unwind = {numbers, {read_stack, walk}, walk->storage};
    struct eh_frame_entry entry;

    if (walk->storage == NULL || !unwind_view_entry(walk->view, lookup_pc(walk), &entry) ||
        full_unwind_step(&unwind, &entry, lookup_pc(walk), registers) != 1)
        return false;
    walk->pc = registers->values[numbers->return_address];
    walk->sp = registers->values[numbers->stack_pointer];
    walk->fp = unwind_registers_know(registers, numbers->frame_pointer) ? registers->values[numbers->frame_pointer] : 0;
    walk->is_exact = entry.is_signal_frame;
    walk->is_remembered = false;
    walk->place = 0;
    enter_stack(walk);
    return true;
}

/* What is known of registers while frames are undone by rules. */
static struct unwind_registers present_registers(const struct frame_walk *walk)
{
    struct unwind_registers registers;

    registers.known = 0;
    unwind_registers_set(&registers, walk->modules->registers->return_address, walk->pc);
    unwind_registers_set(&registers, walk->modules->registers->stack_pointer, walk->sp);
    unwind_registers_set(&registers, walk->modules->registers->frame_pointer, walk->fp);
    return registers;
}

static enum step_result step_by_entry(struct frame_walk *walk)
{
    struct unwind_registers registers = present_registers(walk);

    if (!step_fully(walk, &registers))
        return STEP_NEEDS_ALL;
    return is_code_address(walk->pc) ? STEP_DONE : STEP_END;
}

/* The rule for the present frame, whose address is the last; hooks are undone first. */
static uint32_t find_rule_of_original(struct frame_walk *walk)
{
    uint32_t rule = unwind_view_rule(walk->view, lookup_pc(walk));

    if (unwind_rule_kind(rule) == UNWIND_UNKNOWN && undo_hooks(walk)) {
        walk->addresses->pcs[walk->addresses->count - 1] = walk->pc;
        rule = unwind_view_rule(walk->view, lookup_pc(walk));
    }
    return rule;
}

/* The same. Code that nobody describes often keeps its frame pointer all the same. */
static uint32_t find_rule(struct frame_walk *walk)
{
    uint32_t rule = find_rule_of_original(walk);

    if (unwind_rule_kind(rule) != UNWIND_UNKNOWN)
        return rule;
    walk->walker->unknown_pc = lookup_pc(walk);
    return unwind_rule(UNWIND_FP, 2, 2);
}

static void note_frame(struct frame_walk *walk, uint32_t rule)
{
    struct stack_notes *notes = &walk->walker->memory.notes;

    if (walk->note_count == STACK_MEMORY_FRAMES) {
        walk->is_remembered = false;
        walk->place = 0;
        return;
    }
    notes->sp[walk->note_count] = walk->sp;
    notes->fp[walk->note_count] = walk->fp;
    notes->rule[walk->note_count++] = rule;
}

/* Any frame. Apart, as all that is rare: the way that is not should need little stack and few instructions. */
static __attribute__((noinline)) enum step_result step(struct frame_walk *walk)
{
    uint32_t rule = find_rule(walk);
    enum step_result result;

    if (walk->is_remembered && !walk->is_exact)
        note_frame(walk, rule);
    walk->is_ended = unwind_rule_kind(rule) == UNWIND_END;
    if (walk->is_ended)
        return STEP_END;
    result = unwind_rule_kind(rule) == UNWIND_FULL ? step_by_entry(walk) : step_simply(walk, rule);
    if (result == STEP_DONE)
        add_address(walk, walk->pc);
    return result;
}

/* ---- all frames -------------------------------------------------------------------------------------------------- */

/*
 * Goes over simple frames, up to one that is remembered, or one that is not simple; at most that many. Whether that is
 * remembered. All in local variables, and not more of them than there are registers: this is where the time goes.
 */
static inline __attribute__((always_inline)) bool step_over_simple(struct frame_walk *walk, bool is_noted,
                                                                   size_t count_max)
{
    struct stack_memory *memory = &walk->walker->memory;
    struct rule_cache *cache = &walk->view->cache;
    uint64_t *pcs = walk->addresses->pcs + walk->addresses->count;
    /* From the next note on: all its arrays at once. */
    struct stack_notes *notes = (struct stack_notes *)(memory->notes.sp + walk->note_count);
    uint64_t pc = walk->pc, sp = walk->sp, fp = walk->fp, high = walk->bounds.high;
    uint32_t last = walk->place, met = 0;
    size_t count = 0;

    while (count < count_max) {
        uint64_t frame, pointer_bytes, caller, entry;
        uint32_t rule;

        met = is_noted ? stack_memory_find(memory, pc, sp, fp, last) : 0;
        entry = rule_cache_look(cache, pc);
        /* With some bits of the address behind it, which nobody looks at: to cut them off would take its time. */
        rule = (uint32_t)entry;
        if (met != 0 || !rule_cache_is_for(entry, pc) || unwind_rule_kind(rule) - UNWIND_SP > 1)
            break;
        frame = sp + unwind_rule_frame_bytes(rule);
        /* A jump, which is guessed: choosing a register, as compilers like to, would take its time in each frame. */
        if (__builtin_expect(unwind_rule_kind(rule) == UNWIND_FP, 0)) {
            frame = fp + unwind_rule_frame_bytes(rule);
            __asm__("" : "+r"(frame));
        }
        pointer_bytes = unwind_rule_pointer_bytes(rule);
        /* A frame that is below the one before it is far above it, in unsigned numbers. */
        if (frame == sp || frame - sp > high - sp || pointer_bytes > frame - sp)
            break;
        caller = stack_word(frame - UNWIND_WORD);
        if (!is_code_address(caller))
            break;
        if (is_noted) {
            notes->sp[count] = sp;
            notes->fp[count] = fp;
            notes->rule[count] = rule;
        }
        fp = pointer_bytes == 0 ? fp : stack_word(frame - pointer_bytes);
        sp = frame;
        pc = caller;
        pcs[count++] = pc;
    }
    walk->addresses->count += count;
    walk->note_count += is_noted ? (uint32_t)count : 0;
    walk->pc = pc;
    walk->sp = sp;
    walk->fp = fp;
    walk->place = met != 0 ? met : last;
    return met != 0;
}

static bool step_over_noted(struct frame_walk *walk)
{
    size_t room = walk->addresses->capacity - walk->addresses->count;
    size_t notes_left = STACK_MEMORY_FRAMES - walk->note_count;

    return step_over_simple(walk, true, room < notes_left ? room : notes_left);
}

static __attribute__((noinline)) bool step_over_others(struct frame_walk *walk)
{
    return step_over_simple(walk, false, walk->addresses->capacity - walk->addresses->count);
}

/*
 * At a frame that the memory has. True: those outside of it are as they were, too, and the walk is at the outermost
 * that is remembered. Else it is where it was.
 */
static bool repeat_known(struct frame_walk *walk)
{
    const struct stack_memory *memory = &walk->walker->memory;
    size_t room = walk->addresses->capacity - walk->addresses->count;
    uint32_t wanted = room < walk->place - 1 ? (uint32_t)room : walk->place - 1;
    uint32_t changed = stack_memory_repeat(memory, walk->place, wanted, walk->addresses->pcs + walk->addresses->count);

    if (changed != 0) {
        /* Farther out there may be some that are the same again. */
        walk->place = changed - 1;
        return false;
    }
    walk->addresses->count += wanted;
    walk->is_ended = memory->is_whole;
    walk->pc = memory->frames[1].pc;
    walk->sp = memory->frames[1].sp;
    walk->fp = memory->frames[1].fp;
    /* What is behind it is not remembered. */
    walk->is_remembered = false;
    walk->place = 0;
    return true;
}

/* Up to the end, or until there is no more room. Which of the memory's frames was met, from which on all are as before.
 */
static enum step_result walk_frames(struct frame_walk *walk, uint32_t *known_out)
{
    enum step_result result = STEP_DONE;

    add_address(walk, walk->pc);
    while (result == STEP_DONE && walk->addresses->count < walk->addresses->capacity) {
        while (!walk->is_exact && (walk->is_remembered ? step_over_noted(walk) : step_over_others(walk))) {
            uint32_t place = walk->place;

            if (repeat_known(walk)) {
                *known_out = place;
                break;
            }
        }
        if (walk->is_ended)
            return STEP_END;
        if (walk->addresses->count < walk->addresses->capacity)
            result = step(walk);
    }
    if (walk->addresses->count == walk->addresses->capacity)
        (void)find_rule_of_original(walk);
    return result;
}

/* Adds the address of the present frame, whose registers these are, with hooks undone. */
static void add_original(struct frame_walk *walk, struct unwind_registers *registers)
{
    const struct arch_frame_registers *numbers = walk->modules->registers;

    add_address(walk, walk->pc);
    (void)find_rule_of_original(walk);
    unwind_registers_set(registers, numbers->return_address, walk->pc);
    unwind_registers_set(registers, numbers->stack_pointer, walk->sp);
}

/* With all registers from the first frame on, which is as good as it gets. */
static __attribute__((noinline)) void walk_fully(struct frame_walk *walk, const struct stack_start *start)
{
    struct unwind_registers registers = *start->registers;

    walk->pc = start->pc;
    walk->sp = start->sp;
    walk->is_exact = !start->is_behind_call;
    walk->addresses->count = 0;
    enter_stack(walk);
    do
        add_original(walk, &registers);
    while (walk->addresses->count < walk->addresses->capacity && step_fully(walk, &registers) &&
           is_code_address(walk->pc));
}

static int walk_all(struct frame_walk *walk, const struct stack_start *start)
{
    struct stack_memory *memory = &walk->walker->memory;
    bool may_remember = walk->is_remembered;
    uint32_t known = 0;

    if (may_remember && memory->generation != walk->view->generation) {
        memory->count = 0;
        memory->generation = walk->view->generation;
    }
    walk->place = may_remember ? memory->count : 0;
    if (walk_frames(walk, &known) == STEP_NEEDS_ALL) {
        if (start->registers == NULL)
            return -ENODATA;
        walk_fully(walk, start);
        return 0;
    }
    if (may_remember)
        stack_memory_update(memory, known, walk->note_count, walk->addresses->pcs + (start->is_behind_call ? 0 : 1),
                            walk->is_ended && walk->is_remembered);
    return 0;
}

/* Whether the walk that seems to be under way was left by a jump out of a signal handler. */
static __attribute__((noinline)) bool is_abandoned(const struct stack_walker *walker, uint64_t frame)
{
    return is_between(walker->own, frame) && is_between(walker->own, walker->frame) && frame >= walker->frame;
}

int stack_walk(struct unwind_modules *modules, struct stack_walker *walker, const struct stack_start *start,
               struct stack_addresses *addresses)
{
    uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    bool was_outside = unwind_modules_enter(&walker->reader);
    bool is_outermost = was_outside || is_abandoned(walker, frame);
    unsigned depth = is_outermost ? 0 : walker->depth;
    struct frame_walk walk;
    int result = 0;

    if (is_outermost)
        walker->frame = frame;
    walker->depth = depth + 1;
    walk.view = unwind_modules_view(modules);
    walk.walker = walker;
    walk.modules = modules;
    walk.storage = depth < STACK_WALKS_MAX ? &walker->storage[depth] : NULL;
    walk.pc = start->pc;
    walk.sp = start->sp;
    walk.fp = start->fp;
    walk.is_exact = !start->is_behind_call;
    walk.is_ended = false;
    walk.addresses = addresses;
    walk.note_count = 0;
    addresses->count = 0;
    if (walk.sp < walker->own.low && is_outermost)
        follow_growth(walker, walk.sp);
    enter_stack(&walk);
    /* A walk that interrupts another one leaves what that uses alone. */
    walk.is_remembered = is_outermost && walk.is_own;
    if (addresses->capacity > 0 && walk.sp % UNWIND_WORD == 0)
        result = walk_all(&walk, start);
    walker->depth = depth;
    unwind_modules_leave(&walker->reader, is_outermost);
    return result;
}
