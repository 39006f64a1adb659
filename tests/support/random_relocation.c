/* SPDX-License-Identifier: MIT */
/*
 * Draws a case, has it relocated and compared. What differs for a reason of its own is told apart afterwards, by a look
 * at what the original executed: a jump into the middle of an instruction may have found there what the generator never
 * draws, and a loop may have been long enough for the clock to decide.
 */
#include "support/random_relocation.h"

#include "support/random_code.h"
#include "support/relocation_case.h"
#include "support/relocation_run.h"

#include <asm/errno.h>
#include <string.h>

#define MAX_RUN_INSNS  6
#define MAX_RUN_BYTES  (MAX_RUN_INSNS * X86_MAX_INSN_BYTES)
#define MAX_COPY_BYTES 2048
#define GUARD_BYTE     0xa5

static struct relocation_lab lab;

struct drawn_case {
    struct random random;
    struct relocation_setup setup;
    uint8_t bytes[MAX_RUN_BYTES + X86_MAX_INSN_BYTES];
    size_t size;
};

int random_relocation_begin(void *context)
{
    (void)context;
    return relocation_lab_init(&lab);
}

/* ---- drawing --------------------------------------------------------------------------------------------------------
 */

static void draw_run(struct drawn_case *drawn)
{
    struct random_code_options options = {
        .data = arena_span_of(&lab.data),
        .decode_options = drawn->setup.options.decode_options,
        .run_start = relocation_lab_code_pc(&lab),
        .run_size = 40,
        .pc_relative_percent = 70,
    };
    unsigned count = 1 + (unsigned)random_below(&drawn->random, MAX_RUN_INSNS);

    for (unsigned i = 0; i < count; i++)
        drawn->size +=
            random_code_insn(&drawn->random, &options, options.run_start + drawn->size, drawn->bytes + drawn->size);
}

/* The copy's own return addresses are not those of the original: only where none is left can states be equal. */
static bool has_call(const struct drawn_case *drawn)
{
    struct x86_insn insn;

    for (size_t offset = 0; offset < drawn->size; offset += insn.length)
        if (x86_decode(drawn->bytes + offset, drawn->size - offset, app_pc_of(0), drawn->setup.options.decode_options,
                       &insn) != 0 ||
            insn.flow == X86_FLOW_CALL || insn.flow == X86_FLOW_CALL_INDIRECT)
            return true;
    return false;
}

static void draw_case(struct drawn_case *drawn, uint64_t seed)
{
    struct x86_relocator_options *options = &drawn->setup.options;

    memset(drawn, 0, sizeof(*drawn));
    random_init(&drawn->random, seed);
    options->decode_options = random_code_decode_options();
    draw_run(drawn);
    drawn->setup.is_far = random_chance(&drawn->random, 2, 3);
    options->spill = random_chance(&drawn->random, 1, 4) ? X86_SPILL_STACK : X86_SPILL_SEGMENT;
    if (!has_call(drawn) && random_chance(&drawn->random, 1, 2))
        options->return_address = X86_RETURN_TO_COPY;
}

static void describe(const struct sandbox_case *now, const struct drawn_case *drawn)
{
    size_t used = strlen(relocation_setup_name(&drawn->setup, now->text, now->text_bytes));

    used += (size_t)snprintf(now->text + used, now->text_bytes - used, ":");
    for (size_t i = 0; i < drawn->size; i++)
        used += (size_t)snprintf(now->text + used, now->text_bytes - used, " %02x", drawn->bytes[i]);
    snprintf(now->text + used, now->text_bytes - used, "; ");
}

/* ---- comparing ------------------------------------------------------------------------------------------------------
 */

static bool is_repeatable_at(uint64_t pc, unsigned decode_options)
{
    uint64_t offset = pc - (uint64_t)lab.code.base;
    struct x86_insn insn;

    if (offset >= lab.code.size_bytes)
        return true;
    return x86_decode(lab.code.base + offset, lab.code.size_bytes - offset, app_pc_of(pc), decode_options, &insn) !=
               0 ||
           random_code_is_repeatable(&insn);
}

static bool goes_on_while_repeatable(void *context, const struct run_step *step)
{
    const struct relocation_setup *setup = context;

    return is_repeatable_at(step->rip, setup->options.decode_options);
}

/* Whether the original did what the generator avoids, or ran for longer than a time limit can judge. */
static bool is_excused(struct relocation_setup *setup)
{
    enum run_end end = relocation_lab_trace(&lab, setup, goes_on_while_repeatable, setup);

    return end == RUN_STOPPED || end == RUN_STEP_LIMIT;
}

static enum sandbox_verdict compare(struct drawn_case *drawn, bool by_steps, char *report, size_t report_bytes)
{
    enum relocation_verdict verdict;

    relocation_lab_randomize(&lab, &drawn->random, &drawn->setup.initial);

    int result = relocation_lab_copy(&lab, &drawn->setup, drawn->size);

    if (result != 0) {
        snprintf(report, report_bytes, "relocation says %d", result);
        return result == -EOPNOTSUPP ? SANDBOX_SKIPPED : SANDBOX_FAILED;
    }
    verdict = by_steps ? relocation_lab_compare_steps(&lab, &drawn->setup, report, report_bytes)
                       : relocation_lab_compare(&lab, &drawn->setup, report, report_bytes);
    if (verdict == RELOCATION_EQUAL)
        return SANDBOX_PASSED;
    return verdict == RELOCATION_UNTOLD || is_excused(&drawn->setup) ? SANDBOX_SKIPPED : SANDBOX_FAILED;
}

/* ---- limits ---------------------------------------------------------------------------------------------------------
 */

static bool is_untouched(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from++)
        if (*from != GUARD_BYTE)
            return false;
    return true;
}

struct limits {
    size_t room;
    uint32_t points;
    uint32_t fixups;
};

struct limited_result {
    int status;
    size_t size;
    bool stayed_inside;
};

static struct limited_result relocate_within(const struct drawn_case *drawn, struct limits limits)
{
    static uint8_t memory[MAX_COPY_BYTES + 64];
    static struct x86_relocation_point points[RELOCATION_LAB_POINTS];
    static struct x86_relocator_fixup fixups[RELOCATION_LAB_FIXUPS];
    uint8_t *copy = memory + 32;
    uint64_t pc = relocation_lab_code_pc(&lab);
    struct x86_relocation_map map;
    struct code_writer writer;
    struct x86_relocator_storage storage = {&writer, &map, fixups, limits.fixups};
    struct limited_result result;

    memset(memory, GUARD_BYTE, sizeof(memory));
    code_writer_init(&writer, copy, limits.room, cache_pc_of(pc + (drawn->setup.is_far ? 1ull << 40 : 1 << 20)));
    x86_relocation_map_init(&map, points, limits.points);
    result.status = relocation_run(&drawn->setup.options, &storage, drawn->bytes, drawn->size, app_pc_of(pc));
    result.size = code_writer_offset(&writer);
    result.stayed_inside = is_untouched(memory, copy) && is_untouched(copy + limits.room, memory + sizeof(memory));
    return result;
}

static enum sandbox_verdict try_limits(struct drawn_case *drawn, char *report, size_t report_bytes)
{
    struct limits enough = {MAX_COPY_BYTES, RELOCATION_LAB_POINTS, RELOCATION_LAB_FIXUPS}, small = enough, few = enough;
    struct limited_result whole = relocate_within(drawn, enough), without_room, without_storage;

    small.room = random_below(&drawn->random, whole.size);
    few.points = (uint32_t)random_below(&drawn->random, 8);
    few.fixups = (uint32_t)random_below(&drawn->random, 3);
    without_room = relocate_within(drawn, small);
    without_storage = relocate_within(drawn, few);
    snprintf(report, report_bytes, "relocation says %d, with %zu bytes %d, with %u points and %u fixups %d",
             whole.status, small.room, without_room.status, few.points, few.fixups, without_storage.status);
    if (!whole.stayed_inside || !without_room.stayed_inside || !without_storage.stayed_inside)
        return SANDBOX_FAILED;
    if (whole.status == -EOPNOTSUPP)
        return SANDBOX_SKIPPED;
    return whole.status == 0 && without_room.status == -ENOSPC &&
                   (without_storage.status == 0 || without_storage.status == -E2BIG)
               ? SANDBOX_PASSED
               : SANDBOX_FAILED;
}

enum sandbox_verdict random_relocation_run(void *context, const struct sandbox_case *now)
{
    enum random_relocation_trial trial = *(const enum random_relocation_trial *)context;
    static struct drawn_case drawn;
    size_t used;

    draw_case(&drawn, now->seed);
    describe(now, &drawn);
    used = strlen(now->text);
    relocation_lab_place(&lab, drawn.bytes, drawn.size);
    if (trial == RANDOM_RELOCATION_BY_LIMITS)
        return try_limits(&drawn, now->text + used, now->text_bytes - used);
    return compare(&drawn, trial == RANDOM_RELOCATION_BY_STEPS, now->text + used, now->text_bytes - used);
}
