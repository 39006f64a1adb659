/* SPDX-License-Identifier: MIT */
/*
 * An engine lives for all programs, since making one takes longer than running a program; that programs differ is told
 * by invalidating. Callouts are put at the code under test only, not at the test's own.
 */
#include "support/follow_mode.h"

#include "support/followed_call.h"
#include "support/outside_follower.h"
#include "support/random_program.h"

#include <errno.h>

#define ALL_EVENTS (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK)
#define SIZED      .size_bytes = sizeof(struct gait_stalker_options)

/* Of code_bytes_max: enough for a unit or two. */
#define LITTLE_CODE 0x20000

const struct follow_mode follow_modes[] = {
    {.name = "nothing observed"},
    {.name = "callouts", .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "callouts that use vectors", .puts = FOLLOW_MODE_PUTS_CALLOUTS_VECTORS},
    {.name = "all events", .events = ALL_EVENTS},
    {.name = "all events, callouts", .events = ALL_EVENTS, .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "calls and returns", .events = GAIT_EVENT_CALL | GAIT_EVENT_RET},
    {.name = "calls", .events = GAIT_EVENT_CALL},
    {.name = "instructions, a small buffer", .events = GAIT_EVENT_EXEC, .buffer_bytes = 4096},
    {.name = "blocks, code", .events = GAIT_EVENT_BLOCK, .puts = FOLLOW_MODE_PUTS_CODE},
    {.name = "counts", .puts = FOLLOW_MODE_PUTS_COUNTS},
    {.name = "counts, all events", .puts = FOLLOW_MODE_PUTS_COUNTS, .events = ALL_EVENTS},
    {.name = "counts far away", .puts = FOLLOW_MODE_PUTS_COUNTS_FAR},
    {.name = "counts far away, blocks", .puts = FOLLOW_MODE_PUTS_COUNTS_FAR, .events = GAIT_EVENT_BLOCK},
    {.name = "no links, callouts", .stalker = {SIZED, .without_links = true}, .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "no lookup", .stalker = {SIZED, .without_lookup = true}, .events = ALL_EVENTS},
    {.name = "no links, lookup, neighbours",
     .stalker = {SIZED, .without_links = true, .without_lookup = true, .without_adjacent = true}},
    {.name = "no neighbours", .stalker = {SIZED, .without_adjacent = true}, .events = ALL_EVENTS},
    {.name = "small slabs", .stalker = {SIZED, .slab_bytes = 0x10000}, .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "little code", .stalker = {SIZED, .slab_bytes = 0x10000, .code_bytes_max = LITTLE_CODE}},
    {.name = "no trust", .stalker = {SIZED, .trust = GAIT_TRUST_NEVER}},
    {.name = "no trust, all events, callouts",
     .stalker = {SIZED, .trust = GAIT_TRUST_NEVER},
     .events = ALL_EVENTS,
     .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "little trust", .stalker = {SIZED, .trust = 2}, .puts = FOLLOW_MODE_PUTS_CALLOUTS},
    {.name = "write xor execute", .stalker = {SIZED, .write_xor_execute = true}, .events = GAIT_EVENT_BLOCK},
    {.name = "probes", .probes = true},
    {.name = "probes, all events", .probes = true, .events = ALL_EVENTS},
    {.name = "unfollowed half-way", .puts = FOLLOW_MODE_PUTS_CALLOUTS, .act = FOLLOW_MODE_UNFOLLOWS},
    {.name = "unfollowed half-way, all events",
     .puts = FOLLOW_MODE_PUTS_CALLOUTS_VECTORS,
     .act = FOLLOW_MODE_UNFOLLOWS,
     .events = ALL_EVENTS},
    {.name = "invalidated meanwhile", .puts = FOLLOW_MODE_PUTS_CALLOUTS, .act = FOLLOW_MODE_INVALIDATES},
    {.name = "paused half-way",
     .puts = FOLLOW_MODE_PUTS_CALLOUTS,
     .act = FOLLOW_MODE_PAUSES,
     .events = GAIT_EVENT_EXEC},
    {.name = "interrupted", .interrupts = true},
    {.name = "interrupted, callouts", .puts = FOLLOW_MODE_PUTS_CALLOUTS, .interrupts = true},
    {.name = "interrupted, callouts that use vectors, all events",
     .puts = FOLLOW_MODE_PUTS_CALLOUTS_VECTORS,
     .events = ALL_EVENTS,
     .interrupts = true},
    {.name = "interrupted, counts, all events",
     .puts = FOLLOW_MODE_PUTS_COUNTS,
     .events = ALL_EVENTS,
     .interrupts = true},
    {.name = "interrupted, no links, lookup, trust",
     .stalker = {SIZED, .without_links = true, .without_lookup = true, .trust = GAIT_TRUST_NEVER},
     .interrupts = true},
    {.name = "from outside", .outside = true},
    {.name = "from outside, callouts, all events",
     .puts = FOLLOW_MODE_PUTS_CALLOUTS_VECTORS,
     .events = ALL_EVENTS,
     .outside = true},
    {.name = "a piece excluded", .excludes = true, .events = ALL_EVENTS},
};
const unsigned follow_mode_count = sizeof(follow_modes) / sizeof(follow_modes[0]);

enum { MODES_MAX = 64, PROBES_MAX = RANDOM_PROGRAM_BLOCKS };
_Static_assert(sizeof(follow_modes) / sizeof(follow_modes[0]) <= MODES_MAX, "an engine for each");

struct follow_observation follow_observation;

static struct gait_stalker *stalkers[MODES_MAX];
static struct gait_transformer transformers[MODES_MAX];
static uint32_t probe_ids[MODES_MAX][PROBES_MAX];
static unsigned probe_counts[MODES_MAX];
static uint64_t *counters[MODES_MAX];
static struct arena_span code_span;
static unsigned current_mode;
static size_t acts_after;

/* ---- on the followed thread ---------------------------------------------------------------------------------------
 */

static GAIT_GENERAL_REGISTERS_ONLY void keep_state(const struct gait_cpu_context *cpu)
{
    struct follow_observation *observation = &follow_observation;

    if (observation->step_count == STEP_LIST_ROOM)
        return;

    volatile struct step *step = &observation->steps[observation->step_count++];

    step->rip = cpu->pc;
    step->rflags = cpu->flags;
    for (unsigned i = 0; i < X86_GPR_COUNT; i++)
        step->gpr[i] = cpu->registers[i];
}

static void act(void)
{
    struct gait_stalker *stalker = stalkers[current_mode];

    switch (follow_modes[current_mode].act) {
    case FOLLOW_MODE_UNFOLLOWS:
        if (follow_observation.step_count == acts_after)
            (void)gait_stalker_unfollow_me(stalker, NULL);
        break;
    case FOLLOW_MODE_PAUSES:
        if (follow_observation.step_count == acts_after)
            (void)gait_stalker_deactivate(stalker, NULL);
        break;
    case FOLLOW_MODE_INVALIDATES:
        if (follow_observation.step_count % (acts_after + 1) == 0)
            (void)gait_stalker_invalidate(stalker, code_span.address, code_span.size_bytes, NULL);
        break;
    default:
        break;
    }
}

static GAIT_GENERAL_REGISTERS_ONLY void look(struct gait_cpu_context *cpu, void *data)
{
    (void)data;
    keep_state(cpu);
}

/* Leaves nothing in the vector unit as it was. */
static void look_and_act(struct gait_cpu_context *cpu, void *data)
{
    static const uint32_t mxcsr = 0x1f80;

    (void)data;
    keep_state(cpu);
    act();
    __asm__ volatile("fninit; fld1; fldpi; ldmxcsr %0" ::"m"(mxcsr));
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm7, %%xmm7; pcmpeqd %%xmm15, %%xmm15" ::
                         : "xmm0", "xmm7", "xmm15");
}

static void on_probe(struct gait_call *call, void *data)
{
    (void)data;
    keep_state(call->cpu);
}

static void put_before(struct gait_iterator *iterator, const struct follow_mode *mode)
{
    static const uint8_t nop[] = {0x0f, 0x1f, 0x40, 0x00};

    switch (mode->puts) {
    case FOLLOW_MODE_PUTS_CALLOUTS:
        if (mode->act == FOLLOW_MODE_LOOKS)
            gait_iterator_put_callout(iterator, look, NULL, GAIT_CALLOUT_GENERAL_ONLY);
        else
            gait_iterator_put_callout(iterator, look_and_act, NULL, GAIT_CALLOUT_ANY);
        break;
    case FOLLOW_MODE_PUTS_CALLOUTS_VECTORS:
        gait_iterator_put_callout(iterator, look_and_act, NULL, GAIT_CALLOUT_ANY);
        break;
    case FOLLOW_MODE_PUTS_COUNTS:
        if (counters[mode - follow_modes] == NULL)
            counters[mode - follow_modes] = gait_iterator_new_counter(iterator);
        gait_iterator_put_count(iterator, counters[mode - follow_modes]);
        break;
    case FOLLOW_MODE_PUTS_COUNTS_FAR:
        gait_iterator_put_count(iterator, &follow_observation.counted);
        break;
    case FOLLOW_MODE_PUTS_CODE:
        gait_iterator_put_code(iterator, nop, sizeof(nop));
        break;
    default:
        break;
    }
}

static void transform(void *context, struct gait_iterator *iterator)
{
    struct gait_instruction instruction = {.size_bytes = sizeof(instruction)};

    while (gait_iterator_next(iterator, &instruction)) {
        if (instruction.address - code_span.address < code_span.size_bytes)
            put_before(iterator, context);
        gait_iterator_keep(iterator);
    }
}

/* ---- making and using them ----------------------------------------------------------------------------------------
 */

static int begin_mode(unsigned number)
{
    const struct follow_mode *mode = &follow_modes[number];
    struct gait_error err;
    int result = gait_stalker_create(mode->stalker.size_bytes == 0 ? NULL : &mode->stalker, &stalkers[number], &err);

    transformers[number] = (struct gait_transformer){.transform = transform, .context = (void *)mode};
    if (result == 0 && mode->excludes)
        result = gait_stalker_exclude(stalkers[number], code_span.address + 0x40, 0x90, &err);
    return result;
}

uint64_t follow_mode_counted(unsigned mode)
{
    return counters[mode] == NULL ? follow_observation.counted : *counters[mode];
}

int follow_modes_begin(struct arena_span code)
{
    int result = 0;

    code_span = code;
    event_list_init(&follow_observation.events, 1 << 16);
    for (unsigned i = 0; i < follow_mode_count && result == 0; i++)
        result = begin_mode(i);
    return result;
}

static void renew_probes(unsigned mode, const uint64_t *starts, unsigned start_count)
{
    struct gait_error err;

    for (unsigned i = 0; i < probe_counts[mode]; i++)
        followed_call_require(gait_stalker_remove_call_probe(stalkers[mode], probe_ids[mode][i], &err), &err);
    for (unsigned i = 0; i < start_count; i++)
        followed_call_require(
            gait_stalker_add_call_probe(stalkers[mode], starts[i], on_probe, NULL, &probe_ids[mode][i], &err), &err);
    probe_counts[mode] = start_count;
}

void follow_mode_renew(unsigned mode, const uint64_t *starts, unsigned start_count)
{
    struct gait_error err;

    followed_call_require(gait_stalker_invalidate(stalkers[mode], code_span.address, code_span.size_bytes, &err), &err);
    if (follow_modes[mode].probes)
        renew_probes(mode, starts, start_count);
}

static struct gait_follow_options begin_observation(unsigned number, size_t act_after)
{
    const struct follow_mode *mode = &follow_modes[number];
    struct gait_follow_options options = followed_options();

    follow_observation.step_count = 0;
    follow_observation.counted = 0;
    if (counters[number] != NULL)
        *counters[number] = 0;
    event_list_clear(&follow_observation.events);
    current_mode = number;
    acts_after = act_after;
    options.events = mode->events;
    options.sink = &follow_observation.events.sink;
    options.buffer_bytes = mode->buffer_bytes;
    if (mode->puts != FOLLOW_MODE_PUTS_NOTHING)
        options.transformer = &transformers[number];
    return options;
}

void follow_mode_follow(unsigned number, size_t act_after)
{
    struct gait_follow_options options = begin_observation(number, act_after);
    struct gait_error err;

    followed_call_require(gait_stalker_follow_me(stalkers[number], &options, &err), &err);
}

void follow_mode_unfollow(unsigned number)
{
    struct gait_error err;
    int result = gait_stalker_unfollow_me(stalkers[number], &err);

    /* It may have been left where it cannot be followed, or by a callout. */
    if (result != -ESRCH)
        followed_call_require(result, &err);
}

void follow_mode_start_outside(unsigned number)
{
    struct gait_follow_options options = begin_observation(number, 0);

    outside_follower_start(stalkers[number], &options);
}

void follow_mode_stop_outside(void)
{
    outside_follower_stop();
}
