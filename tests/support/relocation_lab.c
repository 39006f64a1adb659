/* SPDX-License-Identifier: MIT */
/*
 * The original stands in the code arena, copies in an arena nearby or in one that displacements do not reach. With
 * spills on the stack the copy may change bytes below the red zone: runs in which these matter are told apart by
 * running the original twice, with different bytes there.
 */
#include "support/relocation_lab.h"

#include "support/relocation_run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CODE_OFFSET   0x800
#define FAR_DISTANCE  0x345678000ull
#define SLOT_DISTANCE 0x501234000ull
#define STEP_LIMIT    400

/* The CPU's number for a general protection fault. */
#define TRAP_PROTECTION 13

/* What a copy may write below the red zone. */
#define SPILL_BYTES 176

int relocation_lab_init(struct relocation_lab *lab)
{
    struct code_runner_options options = {.time_limit_ms = 10, .step_limit = STEP_LIMIT};
    int result;

    memset(lab, 0, sizeof(*lab));
    if ((result = arena_init(&lab->code, ARENA_BASE, 0x1000, ARENA_CODE)) != 0 ||
        (result = arena_init(&lab->data, ARENA_BASE + 0x400000, 0x1000, ARENA_DATA)) != 0 ||
        (result = arena_init(&lab->stack, ARENA_BASE + 0x800000, 0x2000, ARENA_STACK)) != 0 ||
        (result = arena_init(&lab->near, ARENA_BASE + 0xc00000, 0x4000, ARENA_CODE)) != 0 ||
        (result = arena_init(&lab->far, ARENA_BASE + FAR_DISTANCE, 0x4000, ARENA_CODE)) != 0 ||
        (result = arena_init(&lab->slots, ARENA_BASE + SLOT_DISTANCE, 0x1000, ARENA_DATA)) != 0 ||
        (result = arena_image_init(&lab->data_before, &lab->data)) != 0 ||
        (result = arena_image_init(&lab->data_after, &lab->data)) != 0 ||
        (result = arena_image_init(&lab->stack_before, &lab->stack)) != 0 ||
        (result = arena_image_init(&lab->stack_after, &lab->stack)) != 0 ||
        (result = arena_image_init(&lab->code_image, &lab->code)) != 0 ||
        (result = arena_image_init(&lab->near_image, &lab->near)) != 0 ||
        (result = arena_image_init(&lab->far_image, &lab->far)) != 0)
        return result;
    options.gs_base = (uint64_t)lab->slots.base;
    return code_runner_init(&lab->runner, &options);
}

bool relocation_lab_ready(struct relocation_lab *lab)
{
    int result = relocation_lab_init(lab);

    if (result != 0)
        printf("no laboratory: %s\n", strerror(-result));
    return result == 0;
}

void relocation_lab_deinit(struct relocation_lab *lab)
{
    code_runner_deinit(&lab->runner);
    arena_image_deinit(&lab->data_before);
    arena_image_deinit(&lab->data_after);
    arena_image_deinit(&lab->stack_before);
    arena_image_deinit(&lab->stack_after);
    arena_image_deinit(&lab->code_image);
    arena_image_deinit(&lab->near_image);
    arena_image_deinit(&lab->far_image);
    arena_deinit(&lab->code);
    arena_deinit(&lab->data);
    arena_deinit(&lab->stack);
    arena_deinit(&lab->near);
    arena_deinit(&lab->far);
    arena_deinit(&lab->slots);
}

uint64_t relocation_lab_code_pc(const struct relocation_lab *lab)
{
    return (uint64_t)lab->code.base + CODE_OFFSET;
}

void relocation_lab_place(struct relocation_lab *lab, const uint8_t *bytes, size_t size)
{
    memset(lab->code.base, 0xcc, lab->code.size_bytes);
    memcpy(lab->code.base + CODE_OFFSET, bytes, size);
}

void relocation_lab_randomize(struct relocation_lab *lab, struct random *random, struct machine_state *state_out)
{
    struct arena_span spans[] = {arena_span_of(&lab->data), arena_span_of(&lab->data), arena_span_of(&lab->stack)};
    struct machine_random_options options = {
        .spans = spans,
        .span_count = 3,
        .stack = arena_span_of(&lab->stack),
        .flags = X86_FLAGS_STATUS | X86_FLAG_DF,
    };

    arena_fill(&lab->data, random);
    arena_fill(&lab->stack, random);
    machine_state_randomize(state_out, random, &options);
    arena_image_capture(&lab->data_before, &lab->data);
    arena_image_capture(&lab->stack_before, &lab->stack);
}

static struct arena *copy_arena(struct relocation_lab *lab, const struct relocation_setup *setup)
{
    return setup->is_far ? &lab->far : &lab->near;
}

int relocation_lab_copy(struct relocation_lab *lab, const struct relocation_setup *setup, size_t size)
{
    struct arena *arena = copy_arena(lab, setup);
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &lab->map, lab->fixups, RELOCATION_LAB_FIXUPS};
    int result;

    lab->options = setup->options;
    lab->options.segment = X86_GS;
    lab->options.slots[0] = 0x10;
    lab->options.slots[1] = 0x18;
    memset(arena->base, 0xcc, arena->size_bytes);
    code_writer_init(&writer, arena->base, arena->size_bytes, cache_pc_of((uint64_t)arena->base));
    x86_relocation_map_init(&lab->map, lab->points, RELOCATION_LAB_POINTS);
    result = relocation_run(&lab->options, &storage, lab->code.base + CODE_OFFSET, size,
                            app_pc_of(relocation_lab_code_pc(lab)));
    lab->copy_size = code_writer_offset(&writer);
    arena_image_capture(&lab->code_image, &lab->code);
    arena_image_capture(&lab->near_image, &lab->near);
    arena_image_capture(&lab->far_image, &lab->far);
    return result;
}

/* Code that changes itself, or the copy, means something else in the copy: not a matter of relocation. */
static bool changed_code(struct relocation_lab *lab)
{
    size_t offset;

    if (arena_equals(&lab->code, &lab->code_image, &offset) && arena_equals(&lab->near, &lab->near_image, &offset) &&
        arena_equals(&lab->far, &lab->far_image, &offset))
        return false;
    arena_restore(&lab->code, &lab->code_image);
    arena_restore(&lab->near, &lab->near_image);
    arena_restore(&lab->far, &lab->far_image);
    return true;
}

static void restore(struct relocation_lab *lab)
{
    arena_restore(&lab->data, &lab->data_before);
    arena_restore(&lab->stack, &lab->stack_before);
}

static bool is_in_copy(const struct relocation_lab *lab, uint64_t pc)
{
    return pc - lab->map.cache_start.value < lab->copy_size;
}

static struct relocation_spill_memory spill_memory(const struct relocation_lab *lab)
{
    return (struct relocation_spill_memory){
        .is_segment = lab->options.spill == X86_SPILL_SEGMENT,
        .thread_base = (uint64_t)lab->slots.base,
        .slots = {lab->options.slots[0], lab->options.slots[1]},
    };
}

static uint64_t behind(const struct relocation_lab *lab, struct app_pc pc)
{
    struct x86_insn insn;
    const uint8_t *bytes = lab->code.base + (pc.value - (uint64_t)lab->code.base);

    if (x86_decode(bytes, X86_MAX_INSN_BYTES, pc, lab->options.decode_options, &insn) != 0)
        return 0;
    return x86_insn_next(&insn).value;
}

/* Replaces a state in the copy by the one that it stands for. */
static bool recover(const struct relocation_lab *lab, struct run_result *result)
{
    struct relocation_spill_memory memory = spill_memory(lab);
    uint64_t stop = run_result_stop_pc(result);
    struct app_pc pc;

    if (!is_in_copy(lab, stop))
        return true;
    if (relocation_run_recover(&lab->map, &memory, cache_pc_of(stop), result->state.gpr, &pc) != 0)
        return false;
    /* After int3, which may have prefixes, the pc is behind it. */
    result->state.rip = stop == result->state.rip ? pc.value : behind(lab, pc);
    if (result->fault_address == stop)
        result->fault_address = pc.value;
    return true;
}

/* rsp at each instruction of the original, and whether it always pointed well into the stack. */
struct sp_trace {
    const struct relocation_lab *lab;
    uint64_t values[STEP_LIMIT + 1];
    unsigned count;
    bool may_stray;
    bool is_outside;
};

static bool trace_sp(void *context, const struct run_step *step)
{
    struct sp_trace *trace = context;
    uint64_t sp = step->gpr[X86_RSP], base = (uint64_t)trace->lab->stack.base;

    if (trace->count > STEP_LIMIT || sp - base < 1024 || sp - base > trace->lab->stack.size_bytes - 512) {
        trace->is_outside = !trace->may_stray;
        return trace->may_stray;
    }
    trace->values[trace->count++] = sp;
    return true;
}

/*
 * Bytes for what a copy with spills on the stack may change, so that runs which read it show. Zeros first: they are
 * neither the random bytes that were there nor, as an address, one that cannot be.
 */
static const uint8_t spill_fills[] = {0, 0xff, 0x01, 0x80, 0x7f, 0x40, 0xaa, 0x0f};

static void fill_spills(const struct relocation_lab *lab, const struct sp_trace *trace, uint8_t fill)
{
    for (unsigned i = 0; i < trace->count; i++) {
        uint8_t *top = lab->stack.base + (trace->values[i] - (uint64_t)lab->stack.base) - 128;

        memset(top - SPILL_BYTES, fill, SPILL_BYTES);
    }
}

/* A call of an address that is none leaves its return address below rsp in the copy: see relocator.h. */
static void forgive_failed_call(struct arena *arena, const struct arena_image *after, const struct run_result *expected)
{
    uint64_t slot = expected->state.gpr[X86_RSP] - 8 - (uint64_t)arena->base;

    if (expected->trap_number == TRAP_PROTECTION && slot <= arena->size_bytes - 8)
        memcpy(arena->base + slot, after->bytes + slot, 8);
}

static bool memories_equal(struct relocation_lab *lab, char *report, size_t report_bytes)
{
    size_t offset;

    if (!arena_equals(&lab->data, &lab->data_after, &offset)) {
        snprintf(report, report_bytes, "data differ at offset 0x%zx", offset);
        return false;
    }
    if (!arena_equals(&lab->stack, &lab->stack_after, &offset)) {
        snprintf(report, report_bytes, "the stacks differ at offset 0x%zx", offset);
        return false;
    }
    return true;
}

static bool results_equal(const struct run_result *expected, const struct run_result *actual, char *report,
                          size_t report_bytes)
{
    char first[128], second[128];
    struct run_result plain = *actual;

    if (!run_result_equal_end(expected, &plain)) {
        run_result_describe(expected, first, sizeof(first));
        run_result_describe(actual, second, sizeof(second));
        snprintf(report, report_bytes, "the original: %s; the copy: %s", first, second);
        return false;
    }
    return machine_state_compare(&expected->state, &actual->state, NULL, report, report_bytes) == 0;
}

/* Runs the original; with spills on the stack twice, to see whether it depends on what the copy may change. */
static enum relocation_verdict run_original(struct relocation_lab *lab, struct machine_state *initial,
                                            struct sp_trace *trace, struct run_result *expected)
{
    struct run_result again;
    char ignored[256];
    uint64_t traced_sp = 0;

    initial->rip = relocation_lab_code_pc(lab);
    restore(lab);
    if (lab->options.spill == X86_SPILL_STACK) {
        trace->lab = lab;
        trace->values[trace->count++] = initial->gpr[X86_RSP];
        code_runner_trace(&lab->runner, initial, trace_sp, trace, &again);
        if (trace->is_outside || again.end == RUN_STEP_LIMIT || again.end == RUN_STOPPED)
            return RELOCATION_UNTOLD;
        traced_sp = again.state.gpr[X86_RSP];
        restore(lab);
        fill_spills(lab, trace, 0);
        code_runner_run(&lab->runner, initial, &again);
        fill_spills(lab, trace, 0);
        arena_image_capture(&lab->data_after, &lab->data);
        arena_image_capture(&lab->stack_after, &lab->stack);
        restore(lab);
    }
    code_runner_run(&lab->runner, initial, expected);
    if (changed_code(lab) || expected->end != RUN_SIGNAL)
        return RELOCATION_UNTOLD;
    if (lab->options.spill == X86_SPILL_SEGMENT)
        return RELOCATION_EQUAL;
    /* pushf shows that it is traced: what was made of that is no trace of this run. */
    if (traced_sp != expected->state.gpr[X86_RSP])
        return RELOCATION_UNTOLD;
    fill_spills(lab, trace, 0);
    return results_equal(expected, &again, ignored, sizeof(ignored)) && memories_equal(lab, ignored, sizeof(ignored))
               ? RELOCATION_EQUAL
               : RELOCATION_UNTOLD;
}

/* A closer look, where a copy was found different: whether the original would have been, with other bytes there. */
static bool end_needs_spills(struct relocation_lab *lab, struct machine_state *initial, const struct sp_trace *trace,
                             const struct run_result *expected)
{
    static struct run_result again;
    char ignored[256];

    if (lab->options.spill == X86_SPILL_SEGMENT)
        return false;
    initial->rip = relocation_lab_code_pc(lab);
    for (unsigned i = 0; i < sizeof(spill_fills); i++) {
        restore(lab);
        fill_spills(lab, trace, spill_fills[i]);
        code_runner_run(&lab->runner, initial, &again);
        fill_spills(lab, trace, 0);
        if (!results_equal(expected, &again, ignored, sizeof(ignored)) ||
            !memories_equal(lab, ignored, sizeof(ignored)))
            return true;
    }
    return false;
}

enum relocation_verdict relocation_lab_compare(struct relocation_lab *lab, const struct relocation_setup *setup,
                                               char *report, size_t report_bytes)
{
    struct machine_state initial = setup->initial;
    struct sp_trace trace = {.may_stray = setup->sp_may_stray};
    static struct run_result expected, actual;
    enum relocation_verdict verdict = run_original(lab, &initial, &trace, &expected);

    if (verdict != RELOCATION_EQUAL)
        return verdict;
    arena_image_capture(&lab->data_after, &lab->data);
    arena_image_capture(&lab->stack_after, &lab->stack);
    restore(lab);
    initial.rip = lab->map.cache_start.value;
    code_runner_run(&lab->runner, &initial, &actual);
    if (!recover(lab, &actual)) {
        snprintf(report, report_bytes, "no way back from 0x%llx", (unsigned long long)actual.state.rip);
        return RELOCATION_DIFFERENT;
    }
    if (lab->options.spill == X86_SPILL_STACK)
        fill_spills(lab, &trace, 0);
    forgive_failed_call(&lab->stack, &lab->stack_after, &expected);
    forgive_failed_call(&lab->data, &lab->data_after, &expected);
    if (results_equal(&expected, &actual, report, report_bytes) && memories_equal(lab, report, report_bytes))
        return RELOCATION_EQUAL;
    return end_needs_spills(lab, &initial, &trace, &expected) ? RELOCATION_UNTOLD : RELOCATION_DIFFERENT;
}

/* The states of the original, step by step. */
struct step_trace {
    struct relocation_lab *lab;
    struct run_step steps[STEP_LIMIT + 2];
    unsigned count;
    unsigned reached;  /* by the copy */
    unsigned repeated; /* by the original, again */
    char *report;
    size_t report_bytes;
    bool is_different;
};

static bool record_step(void *context, const struct run_step *step)
{
    struct step_trace *trace = context;

    if (trace->count > STEP_LIMIT)
        return false;
    trace->steps[trace->count++] = *step;
    return true;
}

static bool steps_equal(const struct run_step *left, const struct run_step *right)
{
    return left->rip == right->rip && left->rflags == right->rflags &&
           memcmp(left->gpr, right->gpr, sizeof(left->gpr)) == 0;
}

/* Each state in the copy must be the one that the original was in last, or the one after it. */
static bool follow_step(void *context, const struct run_step *step)
{
    struct step_trace *trace = context;
    struct relocation_spill_memory memory = spill_memory(trace->lab);
    struct run_step recovered = *step;
    struct app_pc pc = {step->rip};

    if (is_in_copy(trace->lab, step->rip) &&
        relocation_run_recover(&trace->lab->map, &memory, cache_pc_of(step->rip), recovered.gpr, &pc) != 0)
        pc.value = 0;
    recovered.rip = pc.value;
    if (steps_equal(&recovered, &trace->steps[trace->reached]))
        return true;
    if (trace->reached + 1 < trace->count && steps_equal(&recovered, &trace->steps[trace->reached + 1])) {
        trace->reached++;
        return true;
    }
    trace->is_different = true;
    snprintf(trace->report, trace->report_bytes,
             "at 0x%llx in the copy: pc 0x%llx rsp 0x%llx rcx 0x%llx, the original after %u steps: pc 0x%llx rsp "
             "0x%llx rcx 0x%llx",
             (unsigned long long)step->rip, (unsigned long long)recovered.rip,
             (unsigned long long)recovered.gpr[X86_RSP], (unsigned long long)recovered.gpr[X86_RCX], trace->reached,
             (unsigned long long)trace->steps[trace->reached].rip,
             (unsigned long long)trace->steps[trace->reached].gpr[X86_RSP],
             (unsigned long long)trace->steps[trace->reached].gpr[X86_RCX]);
    return false;
}

/* Stops where the original is not as recorded. */
static bool repeat_step(void *context, const struct run_step *step)
{
    struct step_trace *trace = context;

    return ++trace->repeated < trace->count && steps_equal(step, &trace->steps[trace->repeated]);
}

/* Whether a step on the way, if not the end, depends on what the copy may change. */
static bool steps_need_spills(struct relocation_lab *lab, const struct machine_state *initial, struct step_trace *trace,
                              const struct sp_trace *sp)
{
    static struct run_result again;

    if (lab->options.spill == X86_SPILL_SEGMENT)
        return false;
    for (unsigned i = 0; i < sizeof(spill_fills); i++) {
        trace->repeated = 0;
        restore(lab);
        fill_spills(lab, sp, spill_fills[i]);
        code_runner_trace(&lab->runner, initial, repeat_step, trace, &again);
        if (again.end == RUN_STOPPED)
            return true;
    }
    return false;
}

enum relocation_verdict relocation_lab_compare_steps(struct relocation_lab *lab, const struct relocation_setup *setup,
                                                     char *report, size_t report_bytes)
{
    static struct step_trace trace;
    struct machine_state initial = setup->initial;
    static struct run_result expected, actual;
    struct sp_trace sp = {.may_stray = setup->sp_may_stray};

    if (run_original(lab, &initial, &sp, &expected) != RELOCATION_EQUAL)
        return RELOCATION_UNTOLD;
    memset(&trace, 0, sizeof(trace));
    trace.lab = lab;
    trace.report = report;
    trace.report_bytes = report_bytes;
    trace.steps[0].rip = initial.rip;
    trace.steps[0].rflags = initial.rflags;
    memcpy(trace.steps[0].gpr, initial.gpr, sizeof(initial.gpr));
    trace.count = 1;
    restore(lab);
    code_runner_trace(&lab->runner, &initial, record_step, &trace, &expected);
    if (expected.end != RUN_SIGNAL)
        return RELOCATION_UNTOLD;
    restore(lab);
    initial.rip = lab->map.cache_start.value;
    code_runner_trace(&lab->runner, &initial, follow_step, &trace, &actual);
    if (trace.is_different) {
        initial.rip = relocation_lab_code_pc(lab);
        return steps_need_spills(lab, &initial, &trace, &sp) ? RELOCATION_UNTOLD : RELOCATION_DIFFERENT;
    }
    if (actual.end == RUN_STEP_LIMIT)
        return RELOCATION_UNTOLD;
    if (trace.reached + 1 != trace.count) {
        snprintf(report, report_bytes, "the copy went %u steps of %u", trace.reached, trace.count - 1);
        return RELOCATION_DIFFERENT;
    }
    return RELOCATION_EQUAL;
}

enum run_end relocation_lab_trace(struct relocation_lab *lab, const struct relocation_setup *setup,
                                  run_step_callback callback, void *context)
{
    struct machine_state initial = setup->initial;
    static struct run_result result;

    initial.rip = relocation_lab_code_pc(lab);
    restore(lab);
    code_runner_trace(&lab->runner, &initial, callback, context, &result);
    return result.end;
}
