/* SPDX-License-Identifier: MIT */
/*
 * The lab is an engine without threads: it translates and links as dispatch.c does, but in the test's own time. Between
 * two runs the program's registers are in a machine_state; where there are events, r11 is at home and the position in
 * its place while translated code runs.
 */
#include "support/stalker_lab.h"

#if defined(__x86_64__)

#include "arch/engine.h"
#include "base/memory_map.h"
#include "gait/stalker.h"
#include "gait/x86_64.h"
#include "stalker/block_link.h"
#include "stalker/callout.h"
#include "stalker/trail.h"
#include "stalker/unit.h"
#include "stalker/vectors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_ADDRESS (STALKER_LAB_DATA + 0x1000000ull)
#define GATES_ADDRESS (STALKER_LAB_DATA + 0x2000000ull)
#define GATE_BYTES    16
#define INT3          0xcc
#define EXITS_MAX     2000
#define CODE_EVENTS   (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)

enum gate {
    GATE_EXIT,
    GATE_INDIRECT,
    GATE_COLLISION,
    GATE_EVENTS,
    GATE_CHANGED,
    GATE_CALLED,
    GATE_CALLOUT,
    GATE_CALLOUT_POSITION,
    GATE_COUNT,
};

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    printf("the lab has no %s: %s\n", what, strerror(-result));
    exit(1);
}

static uint64_t gate_of(const struct stalker_lab *lab, enum gate gate)
{
    return (uintptr_t)lab->gates.base + gate * GATE_BYTES;
}

uint64_t stalker_lab_gate_exit(const struct stalker_lab *lab)
{
    return gate_of(lab, GATE_EXIT);
}

uint64_t stalker_lab_gate_indirect(const struct stalker_lab *lab)
{
    return gate_of(lab, GATE_INDIRECT);
}

uint64_t stalker_lab_gate_collision(const struct stalker_lab *lab)
{
    return gate_of(lab, GATE_COLLISION);
}

uint64_t stalker_lab_gate_events(const struct stalker_lab *lab)
{
    return gate_of(lab, GATE_EVENTS);
}

uint64_t stalker_lab_gate_called(const struct stalker_lab *lab)
{
    return gate_of(lab, GATE_CALLED);
}

static bool has_position(const struct stalker_lab *lab)
{
    return lab->cache->configuration.events & CODE_EVENTS;
}

static void make_arenas(struct stalker_lab *lab, uint64_t code, uint8_t fill)
{
    must(arena_init(&lab->code, code, STALKER_LAB_BYTES, ARENA_CODE), "memory for code");
    must(arena_init(&lab->data, STALKER_LAB_DATA, STALKER_LAB_BYTES, ARENA_DATA), "data");
    must(arena_init(&lab->stack, STACK_ADDRESS, STALKER_LAB_BYTES, ARENA_STACK), "stack");
    must(arena_init(&lab->gates, GATES_ADDRESS, GATE_COUNT * GATE_BYTES, ARENA_CODE), "gates");
    memset(lab->code.base, fill == 0 ? INT3 : fill, lab->code.size_bytes);
    memset(lab->gates.base, INT3, lab->gates.size_bytes);
}

static void make_thread(struct stalker_lab *lab, const struct stalker_lab_options *options)
{
    struct stalker_thread *thread = &lab->thread;

    thread->self = (uintptr_t)thread;
    thread->gate = gate_of(lab, GATE_EXIT);
    thread->gate_collision = gate_of(lab, GATE_COLLISION);
    thread->gate_events = gate_of(lab, GATE_EVENTS);
    thread->gate_changed = gate_of(lab, GATE_CHANGED);
    thread->gate_called = gate_of(lab, GATE_CALLED);
    thread->gate_callout = gate_of(lab, GATE_CALLOUT);
    thread->gate_callout_position = gate_of(lab, GATE_CALLOUT_POSITION);
    thread->engine_sp = (uintptr_t)(lab->engine_stack + sizeof(lab->engine_stack));
    must(vectors_prepare(thread), "memory for vectors");
    thread->engine = lab->engine;
    thread->cache = thread->observed_cache = lab->cache;
    thread->blocks = &lab->cache->blocks;
    if (options->events == 0)
        return;
    must(event_buffer_create(options->buffer_bytes == 0 ? 4096 : options->buffer_bytes, &thread->events), "events");
    event_buffer_set(thread->events, options->events, options->times, (struct event_receiver){0});
    thread->event_position = thread->events->start;
    thread->event_limit = thread->events->end;
}

void stalker_lab_init(struct stalker_lab *lab, const struct stalker_lab_options *options)
{
    static const struct stalker_lab_options defaults;
    static const struct stalker_engine_options engine;
    struct code_cache_options cache = {0};
    struct code_runner_options runner = {.gs_base = (uintptr_t)&lab->thread};

    if (options == NULL)
        options = &defaults;
    memset(lab, 0, sizeof(*lab));
    lab->is_writing = true;
    make_arenas(lab, options->code == 0 ? STALKER_LAB_LOW : options->code, options->fill);
    must(stalker_engine_create(&engine, &lab->engine), "engine");
    cache.engine = lab->engine;
    cache.configuration.events = options->events;
    cache.configuration.times = options->times;
    cache.configuration.transformer = options->transformer;
    cache.indirect_missing = cache_pc_of(gate_of(lab, GATE_INDIRECT));
    must(code_cache_create(&cache, &lab->cache), "cache");
    /* The engine invalidates it with its own, and gives it back. */
    lab->engine->caches = lab->cache;
    make_thread(lab, options);
    must(code_runner_init(&lab->runner, &runner), "code runner");
    stalker_lab_write_at(lab, 0);
}

void stalker_lab_deinit(struct stalker_lab *lab)
{
    code_runner_deinit(&lab->runner);
    event_buffer_destroy(lab->thread.events);
    memory_unmap(lab->thread.vectors, vector_state_bytes());
    stalker_engine_destroy(lab->engine);
    arena_deinit(&lab->code);
    arena_deinit(&lab->data);
    arena_deinit(&lab->stack);
    arena_deinit(&lab->gates);
}

/* The engine compares code that can be written each time that it runs: that is another test's business. */
static void let_write(struct stalker_lab *lab, bool is_writing)
{
    int access = PROT_READ | PROT_EXEC | (is_writing ? PROT_WRITE : 0);

    if (lab->is_writing != is_writing)
        must(mprotect(lab->code.base, lab->code.size_bytes, access) == 0 ? 0 : -errno, "right to its code");
    lab->is_writing = is_writing;
}

void stalker_lab_write_end(struct stalker_lab *lab)
{
    let_write(lab, false);
}

struct app_pc stalker_lab_write_at(struct stalker_lab *lab, size_t offset)
{
    uint64_t start = (uintptr_t)lab->code.base + offset;

    let_write(lab, true);
    code_writer_init(&lab->writer, lab->code.base + offset, lab->code.size_bytes - offset, cache_pc_of(start));
    return app_pc_of(start);
}

uint32_t stalker_lab_code_bytes(const struct stalker_lab *lab, const struct block *block)
{
    struct code_place place;

    return code_cache_place_at(lab->cache, block->entry, &place) ? place.size_bytes : 0;
}

struct block *stalker_lab_obtain(struct stalker_lab *lab, struct app_pc start, bool lands)
{
    struct code_cache *cache = lab->cache;
    struct block *block;

    let_write(lab, false);
    mutex_lock(&cache->lock);
    block = code_cache_find(cache, start);
    if (block == NULL && unit_translate(cache, start, lands, &block) != 0)
        block = NULL;
    if (block != NULL && lands && !block_has_landing(block) && unit_add_landing(cache, block) != 0)
        block = NULL;
    mutex_unlock(&cache->lock);
    return block;
}

void stalker_lab_run_natively(struct stalker_lab *lab, const struct machine_state *initial, struct run_result *result)
{
    code_runner_run(&lab->runner, initial, result);
    result->state.rip = run_result_stop_pc(result);
}

void stalker_lab_run_raw(struct stalker_lab *lab, struct cache_pc start, const struct machine_state *initial,
                         struct run_result *result)
{
    struct machine_state state = *initial;

    state.rip = start.value;
    code_runner_run(&lab->runner, &state, result);
}

static void put_position(struct stalker_lab *lab, struct machine_state *state)
{
    if (!has_position(lab))
        return;
    gait_x86_64_r11(&lab->thread.context) = state->gpr[X86_R11];
    state->gpr[X86_R11] = lab->thread.event_position;
}

static void take_position(struct stalker_lab *lab, struct machine_state *state)
{
    if (!has_position(lab))
        return;
    lab->thread.event_position = state->gpr[X86_R11];
    state->gpr[X86_R11] = gait_x86_64_r11(&lab->thread.context);
}

/* rcx and rdi are at home while an indirect branch looks for its target. */
static struct app_pc indirect_target(struct stalker_lab *lab, struct machine_state *state)
{
    uint64_t target = state->gpr[X86_RCX];

    state->gpr[X86_RCX] = gait_x86_64_rcx(&lab->thread.context);
    state->gpr[X86_RDI] = gait_x86_64_rdi(&lab->thread.context);
    return app_pc_of(target);
}

static struct block *follow_exit(struct stalker_lab *lab, struct block_exit *exit)
{
    struct block *to = stalker_lab_obtain(lab, block_exit_target(exit), false);

    if (to == NULL)
        return NULL;
    mutex_lock(&lab->cache->lock);
    block_link(lab->cache, exit, to);
    mutex_unlock(&lab->cache->lock);
    return to;
}

static void drain(struct stalker_lab *lab)
{
    lab->thread.event_position = event_buffer_drain(lab->thread.events, lab->cache, lab->thread.event_position,
                                                    EVENT_PLACE_BETWEEN_BLOCKS, &lab->thread.requests);
}

/* On the engine's stack are the return address and the callout; the program's stack pointer is at home. */
static uint64_t call_out(struct stalker_lab *lab, struct machine_state *state, bool is_plain)
{
    const struct callout_call *call = (const struct callout_call *)(uintptr_t)state->gpr[X86_RSP];
    uint64_t resume = call->behind, sp = gait_cpu_stack_pointer(&lab->thread.context);

    if (!is_plain)
        take_position(lab, state);
    lab->is_plain = is_plain;
    state->gpr[X86_RSP] = sp;
    memcpy(lab->thread.context.registers, state->gpr, sizeof(state->gpr));
    lab->thread.context.flags = state->rflags;
    if (stalker_callout(&lab->thread, call, !is_plain)) {
        resume = lab->thread.resume;
        lab->is_plain = false;
    }
    memcpy(state->gpr, lab->thread.context.registers, sizeof(state->gpr));
    state->rflags = lab->thread.context.flags;
    return resume;
}

/* Whether it came to a trap of the program's, which is in the cache as it is; then the state is the program's. */
static bool is_at_trap(struct stalker_lab *lab, uint64_t stop, struct machine_state *state)
{
    struct code_place place;
    struct gait_cpu_context cpu = {.pc = stop, .flags = state->rflags};

    if (!code_cache_place_at(lab->cache, cache_pc_of(stop), &place) || *(const uint8_t *)(uintptr_t)stop != INT3)
        return false;
    memcpy(cpu.registers, state->gpr, sizeof(state->gpr));
    lab->thread.with_position = has_position(lab);
    if (trail_recover(&lab->thread, &place, &cpu) != 0)
        return false;
    memcpy(state->gpr, cpu.registers, sizeof(state->gpr));
    state->rip = cpu.pc;
    return true;
}

/* Where the thread goes on; 0: nowhere, *end_out says why. */
static uint64_t leave_cache(struct stalker_lab *lab, uint64_t stop, struct machine_state *state,
                            enum stalker_lab_end *end_out)
{
    struct block_exit *exit;
    struct block *block;

    *end_out = STALKER_LAB_STRAYED;
    if (stop == gate_of(lab, GATE_EVENTS)) {
        take_position(lab, state);
        drain(lab);
        return lab->thread.resume;
    }
    if (stop == gate_of(lab, GATE_CALLOUT) || stop == gate_of(lab, GATE_CALLOUT_POSITION))
        return call_out(lab, state, stop == gate_of(lab, GATE_CALLOUT));
    if (stop == gate_of(lab, GATE_INDIRECT) || stop == gate_of(lab, GATE_COLLISION)) {
        struct app_pc target = indirect_target(lab, state);

        take_position(lab, state);
        block = stalker_lab_obtain(lab, target, true);
        return block == NULL ? 0 : block->entry.value;
    }
    if (is_at_trap(lab, stop, state))
        *end_out = STALKER_LAB_LEFT;
    if (stop != gate_of(lab, GATE_EXIT))
        return 0;
    take_position(lab, state);
    exit = code_cache_exit(lab->cache, lab->thread.exit);
    state->rip = block_exit_target(exit).value;
    if (block_exit_is_linkable(exit)) {
        block = follow_exit(lab, exit);
        return block == NULL ? 0 : block->entry.value;
    }
    *end_out = exit->kind == BLOCK_EXIT_LEAVE         ? STALKER_LAB_LEFT
               : exit->kind == BLOCK_EXIT_SYSTEM_CALL ? STALKER_LAB_SYSTEM_CALL
                                                      : STALKER_LAB_NATIVE_RETURN;
    return 0;
}

enum stalker_lab_end stalker_lab_run(struct stalker_lab *lab, const struct machine_state *initial,
                                     struct run_result *result, unsigned *exits_out)
{
    struct block *block = stalker_lab_obtain(lab, app_pc_of(initial->rip), false);
    uint64_t resume = block == NULL ? 0 : block->entry.value;
    enum stalker_lab_end end = STALKER_LAB_STRAYED;
    unsigned exits = 0;

    result->state = *initial;
    for (; resume != 0 && exits < EXITS_MAX; exits++) {
        struct machine_state state = result->state;

        if (!lab->is_plain)
            put_position(lab, &state);
        lab->is_plain = false;
        stalker_lab_run_raw(lab, cache_pc_of(resume), &state, result);
        resume = leave_cache(lab, run_result_stop_pc(result), &result->state, &end);
    }
    if (exits_out != NULL)
        *exits_out = exits;
    return resume != 0 ? STALKER_LAB_ENDLESS : end;
}

/* Memory that both runs begin with, and what the native one made of it. */
struct memory_images {
    struct arena *arena;
    const char *name;
    struct arena_image before, after;
};

static unsigned compare_memory(struct memory_images *images)
{
    size_t offset;

    if (arena_equals(images->arena, &images->after, &offset))
        return 0;
    printf("followed, %s differs at 0x%llx\n", images->name,
           (unsigned long long)((uintptr_t)images->arena->base + offset));
    return 1;
}

static unsigned compare_runs(struct stalker_lab *lab, const struct machine_state *initial,
                             struct memory_images images[2])
{
    struct run_result expected, actual;
    char report[2000];
    unsigned count;

    stalker_lab_run_natively(lab, initial, &expected);
    for (int i = 0; i < 2; i++) {
        arena_image_capture(&images[i].after, images[i].arena);
        arena_restore(images[i].arena, &images[i].before);
    }
    if (stalker_lab_run(lab, initial, &actual, NULL) != STALKER_LAB_LEFT) {
        run_result_describe(&actual, report, sizeof(report));
        printf("followed, it did not come to its end: %s\n", report);
        return 1;
    }
    count = machine_state_compare(&expected.state, &actual.state, NULL, report, sizeof(report));
    if (count != 0)
        printf("%s", report);
    return count + compare_memory(&images[0]) + compare_memory(&images[1]);
}

unsigned stalker_lab_compare(struct stalker_lab *lab, const struct machine_state *initial)
{
    struct memory_images images[] = {{.arena = &lab->data, .name = "data"}, {.arena = &lab->stack, .name = "stack"}};
    unsigned count;

    for (int i = 0; i < 2; i++) {
        must(arena_image_init(&images[i].before, images[i].arena), "memory");
        must(arena_image_init(&images[i].after, images[i].arena), "memory");
    }
    count = compare_runs(lab, initial, images);
    for (int i = 0; i < 2; i++) {
        arena_restore(images[i].arena, &images[i].before);
        arena_image_deinit(&images[i].before);
        arena_image_deinit(&images[i].after);
    }
    return count;
}

void stalker_lab_state(const struct stalker_lab *lab, struct app_pc pc, struct machine_state *state_out)
{
    machine_state_init(state_out);
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        state_out->gpr[i] = 0x0101010101010101ull * (i + 1);
    state_out->gpr[X86_RSP] = (uintptr_t)lab->stack.base + lab->stack.size_bytes / 2;
    state_out->rip = pc.value;
}

size_t stalker_lab_decode(struct cache_pc start, size_t size_bytes, struct x86_insn *insns_out, size_t capacity)
{
    size_t count = 0;

    for (size_t offset = 0; offset < size_bytes; offset += insns_out[count++].length) {
        const uint8_t *bytes = (const uint8_t *)(uintptr_t)(start.value + offset);

        if (count == capacity ||
            x86_decode(bytes, size_bytes - offset, app_pc_of(start.value + offset), 0, &insns_out[count]) != 0)
            return 0;
    }
    return count;
}

#endif
