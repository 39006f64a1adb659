/* SPDX-License-Identifier: MIT */
/*
 * A run goes from a state to the next signal. What the CPU did in each run of a program is kept; followed, each run
 * begins in the same state again, so that only the first difference shows. The code runner is the same for both, and is
 * followed too: by its signal handler, what the engine makes of the program's registers is compared with the CPU's own.
 */
#define _GNU_SOURCE
#include "support/random_following.h"

#include "support/follow_mode.h"
#include "support/interruptions.h"
#include "support/outside_follower.h"
#include "support/random_program.h"
#include "support/step_events.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CODE_ADDRESS    0x41340000ull
#define DATA_ADDRESS    0x41740000ull
#define STACK_ADDRESS   0x41b40000ull
#define CONTROL_ADDRESS 0x41f40000ull

#define RUNS_MAX        6
#define STEPS_MAX       1500
#define TRAP_BREAKPOINT 3
#define TRAP_PAGE       14
#define TRAP_PROTECTION 13
#define INT3            0xcc

#define OUTSIDE_TURNS   4

/* Part of a program, up to a signal. */
struct run {
    struct machine_state initial;
    struct run_result expected, actual;
    size_t first_step, step_count;
};

enum { MEMORY_CODE, MEMORY_DATA, MEMORY_STACK, MEMORY_CONTROL, MEMORY_COUNT };

struct memory {
    struct arena arena;
    struct arena_image before, after;
};

static struct {
    struct memory memory[MEMORY_COUNT];
    struct code_runner runner;
    struct random random;
    struct random_program_place place;
    struct random_program program;
    uint64_t starts[RANDOM_PROGRAM_BLOCKS];
    struct arena_span spans[MEMORY_COUNT];
    struct step_list list;
    struct run runs[RUNS_MAX];
    unsigned run_count;
} lab;

static const char *const memory_names[] = {"code", "data", "stack", "control"};

/* ---- making ---------------------------------------------------------------------------------------------------------
 */

static int make_memory(unsigned which, uint64_t address, size_t size_bytes, enum arena_use use)
{
    struct memory *memory = &lab.memory[which];
    int result = arena_init(&memory->arena, address, size_bytes, use);

    lab.spans[which] = arena_span_of(&memory->arena);
    if (result == 0)
        result = arena_image_init(&memory->before, &memory->arena);
    if (result == 0)
        result = arena_image_init(&memory->after, &memory->arena);
    return result;
}

int random_following_begin(void *context)
{
    /* No clock of the runner's: its signals would be interruptions. The sandbox has a limit too. */
    struct code_runner_options options = {.time_limit_ms = 100000000, .keeps_bases = true};
    int result = make_memory(MEMORY_CODE, CODE_ADDRESS, 0x2000, ARENA_CODE);

    (void)context;
    if (result == 0)
        result = make_memory(MEMORY_DATA, DATA_ADDRESS, 0x4000, ARENA_DATA);
    if (result == 0)
        result = make_memory(MEMORY_STACK, STACK_ADDRESS, 0x8000, ARENA_STACK);
    if (result == 0)
        result = make_memory(MEMORY_CONTROL, CONTROL_ADDRESS, 0x1000, ARENA_DATA);
    if (result == 0)
        result = code_runner_init(&lab.runner, &options);
    if (result == 0)
        result = interruptions_begin(lab.spans[MEMORY_CODE]);
    lab.list.code = lab.spans[MEMORY_CODE];
    lab.list.memory = lab.spans;
    lab.list.memory_count = MEMORY_COUNT;
    lab.list.limit = STEPS_MAX;
    return result != 0 ? result : follow_modes_begin(lab.spans[MEMORY_CODE]);
}

/* ---- drawing --------------------------------------------------------------------------------------------------------
 */

/* What returns find on a stack that no call has pushed to. */
static void fill_stack(void)
{
    struct arena *stack = &lab.memory[MEMORY_STACK].arena;
    uint64_t *words = (uint64_t *)(uintptr_t)stack->base;

    arena_fill(stack, &lab.random);
    for (size_t i = 0; i < stack->size_bytes / sizeof(*words); i++)
        if (random_chance(&lab.random, 63, 64))
            words[i] = random_program_block(&lab.program, &lab.place, random_u64(&lab.random));
}

static void draw_state(struct machine_state *state_out)
{
    struct arena_span spans[] = {lab.spans[MEMORY_DATA], lab.spans[MEMORY_STACK]};
    struct machine_random_options options = {
        .spans = spans,
        .span_count = 2,
        .stack = spans[1],
        .flags = X86_FLAGS_STATUS | X86_FLAG_DF,
    };

    machine_state_randomize(state_out, &lab.random, &options);
    state_out->rip = CODE_ADDRESS;
}

static void let_write_code(bool is_writable)
{
    struct arena *code = &lab.memory[MEMORY_CODE].arena;

    if (mprotect(code->base, code->size_bytes, PROT_READ | PROT_EXEC | (is_writable ? PROT_WRITE : 0)) != 0) {
        perror("mprotect of code");
        exit(1);
    }
}

static void draw_case(uint64_t seed)
{
    struct arena *code = &lab.memory[MEMORY_CODE].arena;

    random_init(&lab.random, seed);
    lab.place = (struct random_program_place){
        .code = CODE_ADDRESS,
        .data = lab.spans[MEMORY_DATA],
        .control = CONTROL_ADDRESS,
        .is_writable = random_chance(&lab.random, 1, 6),
        .traps = random_chance(&lab.random, 1, 2),
    };
    random_program_draw(&lab.program, &lab.random, &lab.place);
    for (unsigned i = 0; i < lab.program.block_count; i++)
        lab.starts[i] = random_program_block(&lab.program, &lab.place, i);
    let_write_code(true);
    memset(code->base, INT3, code->size_bytes);
    memcpy(code->base, lab.program.bytes, lab.program.size);
    arena_fill(&lab.memory[MEMORY_DATA].arena, &lab.random);
    fill_stack();
    memcpy(lab.memory[MEMORY_CONTROL].arena.base, &lab.program.control, sizeof(lab.program.control));
    for (unsigned i = 0; i < MEMORY_COUNT; i++)
        arena_image_capture(&lab.memory[i].before, &lab.memory[i].arena);
    let_write_code(lab.place.is_writable);
    draw_state(&lab.runs[0].initial);
}

static void restore_memory(void)
{
    let_write_code(true);
    for (unsigned i = 0; i < MEMORY_COUNT; i++)
        arena_restore(&lab.memory[i].arena, &lab.memory[i].before);
    let_write_code(lab.place.is_writable);
}

/* ---- what the CPU does
 * ------------------------------------------------------------------------------------------------
 */

static bool is_at_end(const struct run *run)
{
    return run->expected.trap_number == TRAP_BREAKPOINT &&
           run_result_stop_pc(&run->expected) - CODE_ADDRESS >= lab.program.size - 1;
}

/* Where a handler of the signal lets the program go on: behind what raised it, or anywhere. */
static uint64_t go_on_pc(const struct run *run)
{
    const struct x86_insn *last = &lab.list.insns[run->first_step + run->step_count - 1];

    if (run->expected.trap_number == TRAP_BREAKPOINT)
        return run->expected.state.rip;
    return last->length != 0 ? x86_insn_next(last).value
                             : random_program_block(&lab.program, &lab.place, lab.run_count);
}

/*
 * What is known to differ: a branch to an address that no program can have, which is at its target already when the CPU
 * refuses it; and whatever happens to find memory of the engine's.
 */
static bool is_known_to_differ(const struct run_result *result, const struct x86_insn *last)
{
    if (result->trap_number == TRAP_PROTECTION)
        return last->flow == X86_FLOW_RETURN || last->flow == X86_FLOW_JUMP_INDIRECT ||
               last->flow == X86_FLOW_CALL_INDIRECT;
    return result->trap_number == TRAP_PAGE && result->code == SEGV_ACCERR &&
           result->cr2 - CODE_ADDRESS >= lab.spans[MEMORY_CODE].size_bytes;
}

/* Whether the engine has its memory now where the program had none. */
static bool is_in_the_way(const struct run_result *result)
{
    void *page = (void *)(uintptr_t)(result->cr2 & ~(uint64_t)4095);
    unsigned char residence;

    return result->trap_number == TRAP_PAGE && result->code == SEGV_MAPERR && mincore(page, 1, &residence) == 0;
}

/* False: it is not fit to be compared. */
static bool run_natively(void)
{
    struct step_list *list = &lab.list;

    step_list_begin(list);
    for (lab.run_count = 0; lab.run_count < RUNS_MAX;) {
        struct run *run = &lab.runs[lab.run_count++];

        run->first_step = list->count;
        step_list_run(list, &lab.runner, &run->initial, &run->expected);
        if (!list->is_fit || is_known_to_differ(&run->expected, &list->insns[list->count - 1]))
            return false;
        run->step_count = list->count - run->first_step;
        if (is_at_end(run) || lab.run_count == RUNS_MAX)
            break;
        run[1].initial = run->expected.state;
        run[1].initial.rip = go_on_pc(run);
        /* The stack may be lost by now, which is no reason for all that follows to fault. */
        run[1].initial.gpr[X86_RSP] = lab.runs[0].initial.gpr[X86_RSP];
    }
    for (unsigned i = 0; i < MEMORY_COUNT; i++)
        arena_image_capture(&lab.memory[i].after, &lab.memory[i].arena);
    return true;
}

/* ---- comparing
 * -------------------------------------------------------------------------------------------------------- */

static struct step_span span_of(const struct run *run)
{
    struct step_span span = {
        .steps = &lab.list.steps[run->first_step], .insns = &lab.list.insns[run->first_step], .count = run->step_count};

    span.insn_count = span.count - (span.insns[span.count - 1].length == 0);
    return span;
}

static bool compare_end(const struct run *run)
{
    char report[2000], expected[200], actual[200];
    struct machine_ignore ignore = machine_ignore_default;
    bool is_same = run_result_equal_end(&run->expected, &run->actual);

    if (!is_same) {
        run_result_describe(&run->expected, expected, sizeof(expected));
        run_result_describe(&run->actual, actual, sizeof(actual));
        printf("ended by %s, expected %s\n", actual, expected);
    }
    ignore.rflags |= lab.list.steps[run->first_step + run->step_count - 1].undefined;
    if (machine_state_compare(&run->expected.state, &run->actual.state, &ignore, report, sizeof(report)) != 0) {
        printf("state at the end:\n%s", report);
        is_same = false;
    }
    return is_same;
}

static bool report_step(const struct step_span *span, size_t number, const struct step *actual)
{
    printf("before instruction %zu, expected and observed:\n", number);
    step_print(&span->steps[number], NULL);
    step_print(actual, &span->steps[number]);
    return false;
}

/*
 * The instructions that callouts saw at least: one that ends following does so when its block ends, or later. With
 * signals from elsewhere only what they saw is looked at, not how much that is.
 */
static size_t callouts_at_least(const struct follow_mode *mode, const struct step_span *span, size_t act_after)
{
    if (mode->interrupts)
        return 0;
    if (mode->act == FOLLOW_MODE_UNFOLLOWS || mode->act == FOLLOW_MODE_PAUSES)
        return act_after < span->insn_count ? act_after : span->insn_count;
    return span->insn_count;
}

/* Under rep, any number of repetitions may be done. */
static bool is_interrupted_repetition(const struct step_span *span, size_t step, const struct step *interruption)
{
    return span->insns[step].length != 0 && span->insns[step].properties & X86_REPEATED &&
           span->steps[step].rip == interruption->rip;
}

/* The same step, but for flags that nobody needs any more, since the instruction overwrites all of them. */
static bool is_interrupted_before(const struct step_span *span, size_t step, const struct step *interruption)
{
    const struct x86_insn *insn = &span->insns[step];
    struct step expected = span->steps[step];

    if (insn->length != 0 && (insn->flags.written & ~insn->flags.kept & ~insn->flags.read) == X86_FLAGS_STATUS)
        expected.undefined |= X86_FLAGS_STATUS;
    return step_equal(&expected, interruption);
}

/*
 * A signal that comes between a callout and its instruction has the thread return to both, and so does one that
 * interrupts a rep instruction.
 */
static size_t skip_repeated(const struct step_span *span, size_t step, size_t observed)
{
    const struct follow_observation *observation = &follow_observation;

    while (step > 0 && observed < observation->step_count &&
           (is_interrupted_before(span, step - 1, &observation->steps[observed]) ||
            is_interrupted_repetition(span, step - 1, &observation->steps[observed])) &&
           (step == span->insn_count || !step_equal(&span->steps[step], &observation->steps[observed])))
        observed++;
    return observed;
}

static bool compare_callouts(const struct step_span *span, size_t at_least, bool may_repeat)
{
    const struct follow_observation *observation = &follow_observation;
    size_t observed = 0, step = 0;

    for (; step < span->insn_count && observed < observation->step_count; step++, observed++) {
        if (may_repeat)
            observed = skip_repeated(span, step, observed);
        if (observed < observation->step_count && !step_equal(&span->steps[step], &observation->steps[observed]))
            return report_step(span, step, &observation->steps[observed]);
    }
    if (may_repeat)
        observed = skip_repeated(span, step, observed);
    if (step >= at_least && observed >= observation->step_count)
        return true;
    printf("%zu callouts, %zu of them expected, expected %zu of %zu\n", observation->step_count, step, at_least,
           span->insn_count);
    return false;
}

/* Probes are at blocks, and see some of the steps; where blocks are empty, several see the same one. */
static bool compare_probes(const struct step_span *span)
{
    const struct follow_observation *observation = &follow_observation;
    size_t step = 0;

    for (size_t i = 0; i < observation->step_count; i++) {
        while (step < span->count && !step_equal(&span->steps[step], &observation->steps[i]))
            step++;
        if (step < span->count)
            continue;
        printf("probe %zu saw what never was:\n", i);
        step_print(&observation->steps[i], NULL);
        return false;
    }
    return true;
}

/* Signals come between two steps. */
static bool compare_interruptions(const struct step_span *span)
{
    size_t step = 0;

    for (size_t i = 0; i < interruptions.count; i++) {
        const struct step *interruption = &interruptions.steps[i];

        while (step < span->count && !is_interrupted_before(span, step, interruption) &&
               !is_interrupted_repetition(span, step, interruption))
            step++;
        if (step < span->count)
            continue;
        printf("a signal came at what never was:\n");
        step_print(interruption, NULL);
        return false;
    }
    return true;
}

/* Each instruction counts once, but those of the last block that the run ended in may have been counted or not. */
static bool compare_counts(const struct step_span *span, uint64_t counted)
{
    size_t at_least = span->insn_count;

    while (at_least > 0 && (at_least == span->insn_count ||
                            span->steps[at_least].rip == x86_insn_next(&span->insns[at_least - 1]).value))
        at_least--;
    if (counted >= at_least && counted <= span->insn_count)
        return true;
    printf("%llu instructions counted, expected %zu to %zu\n", (unsigned long long)counted, at_least, span->insn_count);
    return false;
}

/* Where a signal interrupts a block, the rest of it is told twice. */
static bool has_comparable_events(const struct follow_mode *mode)
{
    return mode->events != 0 && mode->act == FOLLOW_MODE_LOOKS && !mode->excludes && !mode->interrupts;
}

static bool compare_run(unsigned number, const struct run *run, size_t act_after)
{
    const struct follow_mode *mode = &follow_modes[number];
    struct step_span span = span_of(run);
    struct event_list *events = &follow_observation.events;
    bool is_same = compare_end(run);

    if (mode->puts == FOLLOW_MODE_PUTS_CALLOUTS || mode->puts == FOLLOW_MODE_PUTS_CALLOUTS_VECTORS)
        is_same = compare_callouts(&span, callouts_at_least(mode, &span, act_after), mode->interrupts) && is_same;
    if (mode->puts >= FOLLOW_MODE_PUTS_COUNTS && mode->puts <= FOLLOW_MODE_PUTS_COUNTS_FAR && !mode->interrupts)
        is_same = compare_counts(&span, follow_mode_counted(number)) && is_same;
    if (mode->interrupts)
        is_same = compare_interruptions(&span) && is_same;
    if (mode->probes)
        is_same = compare_probes(&span) && is_same;
    if (has_comparable_events(mode) && span.insn_count != 0) {
        event_list_filter(events, mode->events, CODE_ADDRESS, CODE_ADDRESS + lab.spans[MEMORY_CODE].size_bytes);
        is_same = step_events_compare(&span, events, mode->events) && is_same;
    }
    return is_same;
}

static bool compare_memory(void)
{
    bool is_same = true;

    for (unsigned i = 0; i < MEMORY_COUNT; i++) {
        size_t offset;

        if (arena_equals(&lab.memory[i].arena, &lab.memory[i].after, &offset))
            continue;
        printf("%s differs at %p\n", memory_names[i], (void *)(lab.memory[i].arena.base + offset));
        is_same = false;
    }
    return is_same;
}

static bool follow_run(unsigned mode, struct run *run)
{
    size_t act_after = 1 + random_below(&lab.random, run->step_count);

    follow_mode_follow(mode, act_after);
    if (follow_modes[mode].interrupts)
        interruptions_start();
    code_runner_run(&lab.runner, &run->initial, &run->actual);
    if (follow_modes[mode].interrupts)
        interruptions_stop();
    follow_mode_unfollow(mode);
    return is_in_the_way(&run->expected) || compare_run(mode, run, act_after);
}

/* Flags that a return from a signal does not load; so it depends on the handler what becomes of them. */
static bool has_odd_flags(void)
{
    for (size_t i = 0; i < lab.list.count; i++)
        if (lab.list.steps[i].rflags & (X86_FLAG_ID | X86_FLAG_NT))
            return true;
    return false;
}

/* Probes read the return address. */
static bool has_stack(void)
{
    struct arena_span stack = lab.spans[MEMORY_STACK];

    for (size_t i = 0; i < lab.list.count; i++)
        if (lab.list.steps[i].gpr[X86_RSP] - stack.address > stack.size_bytes - 8)
            return false;
    return true;
}

/* Runs the whole program. False: it did not end as it should. */
static bool run_followed_outside(void)
{
    restore_memory();
    for (unsigned i = 0; i < lab.run_count; i++) {
        code_runner_run(&lab.runner, &lab.runs[i].initial, &lab.runs[i].actual);
        if (!is_in_the_way(&lab.runs[i].expected) && !compare_end(&lab.runs[i]))
            return false;
    }
    return compare_memory();
}

/* Often, since a program is shorter than a turn. */
static bool try_from_outside(unsigned mode)
{
    bool is_same = true;

    follow_mode_renew(mode, lab.starts, lab.program.block_count);
    follow_mode_start_outside(mode);
    while (is_same && outside_follower_turns() < OUTSIDE_TURNS)
        is_same = run_followed_outside();
    follow_mode_stop_outside();
    return is_same;
}

static bool try_mode(unsigned mode)
{
    if (follow_modes[mode].outside)
        return has_odd_flags() || try_from_outside(mode);
    if ((follow_modes[mode].probes && !has_stack()) || (follow_modes[mode].interrupts && has_odd_flags()))
        return true;
    restore_memory();
    follow_mode_renew(mode, lab.starts, lab.program.block_count);
    for (unsigned i = 0; i < lab.run_count; i++) {
        if (follow_run(mode, &lab.runs[i]))
            continue;
        printf("in run %u of %u, which begins at %llx\n", i + 1, lab.run_count,
               (unsigned long long)lab.runs[i].initial.rip);
        return false;
    }
    return compare_memory();
}

enum sandbox_verdict random_following_run(void *context, const struct sandbox_case *now)
{
    const struct random_following *following = context;

    draw_case(now->seed);
    if (following->shows_program)
        random_program_print(&lab.program, &lab.place);
    snprintf(now->text, now->text_bytes, "natively");
    if (!run_natively())
        return SANDBOX_SKIPPED;
    for (unsigned mode = 0; mode < follow_mode_count; mode++) {
        if (follow_modes[mode].outside && !following->from_outside)
            continue;
        snprintf(now->text, now->text_bytes, "followed, %s; alone: %s%llu", follow_modes[mode].name,
                 following->repetition, (unsigned long long)now->number);
        if (try_mode(mode))
            continue;
        if (!following->shows_program)
            random_program_print(&lab.program, &lab.place);
        fflush(stdout);
        return SANDBOX_FAILED;
    }
    return SANDBOX_PASSED;
}
