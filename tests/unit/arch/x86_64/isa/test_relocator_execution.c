/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* time limit: 120 s */
/*
 * Random code, run where it is and relocated, must end in the same state. By hand: CASES=5000000 SEED=7 runs more.
 */
#include "support/check.h"
#include "support/random_code.h"
#include "support/relocation_lab.h"
#include "support/sandbox.h"

#define MAX_RUN_BYTES 96

static struct relocation_lab lab;
static unsigned decode_options;

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

static int begin(void *context)
{
    (void)context;
    return relocation_lab_init(&lab);
}

static size_t draw_run(struct random *random, uint8_t *bytes)
{
    struct random_code_options options = {
        .data = arena_span_of(&lab.data),
        .decode_options = decode_options,
        .run_start = relocation_lab_code_pc(&lab),
        .run_size = 40,
        .pc_relative_percent = 70,
    };
    unsigned count = 1 + (unsigned)random_below(random, 6);
    size_t size = 0;

    for (unsigned i = 0; i < count; i++)
        size += random_code_insn(random, &options, options.run_start + size, bytes + size);
    return size;
}

static void describe(const struct sandbox_case *now, const struct relocation_setup *setup, const uint8_t *bytes,
                     size_t size)
{
    size_t used = (size_t)snprintf(now->text, now->text_bytes, "%s %s %s:", setup->is_far ? "far" : "near",
                                   setup->options.spill == X86_SPILL_STACK ? "stack" : "segment",
                                   setup->options.return_address == X86_RETURN_TO_COPY ? "to-copy" : "to-original");

    for (size_t i = 0; i < size; i++)
        used += (size_t)snprintf(now->text + used, now->text_bytes - used, " %02x", bytes[i]);
    snprintf(now->text + used, now->text_bytes - used, "; ");
}

/* The copy's own return addresses are not those of the original: only where none is left can states be equal. */
static bool has_call(const uint8_t *bytes, size_t size)
{
    struct x86_insn insn;

    for (size_t offset = 0; offset < size; offset += insn.length)
        if (x86_decode(bytes + offset, size - offset, app_pc_of(0), decode_options, &insn) != 0 ||
            insn.flow == X86_FLOW_CALL || insn.flow == X86_FLOW_CALL_INDIRECT)
            return true;
    return false;
}

static enum sandbox_verdict run(void *context, const struct sandbox_case *now)
{
    bool by_steps = *(const bool *)context;
    struct relocation_setup setup = {.options.decode_options = decode_options};
    uint8_t bytes[MAX_RUN_BYTES + X86_MAX_INSN_BYTES];
    struct random random;
    enum relocation_verdict verdict;
    size_t size;

    random_init(&random, now->seed);
    size = draw_run(&random, bytes);
    setup.is_far = random_chance(&random, 2, 3);
    setup.options.spill = random_chance(&random, 1, 4) ? X86_SPILL_STACK : X86_SPILL_SEGMENT;
    if (!has_call(bytes, size) && random_chance(&random, 1, 2))
        setup.options.return_address = X86_RETURN_TO_COPY;
    describe(now, &setup, bytes, size);
    relocation_lab_place(&lab, bytes, size);
    relocation_lab_randomize(&lab, &random, &setup.initial);

    size_t used = strlen(now->text);
    int result = relocation_lab_copy(&lab, &setup, size);

    if (result != 0) {
        snprintf(now->text + used, now->text_bytes - used, "relocation says %d", result);
        return result == -95 ? SANDBOX_SKIPPED : SANDBOX_FAILED;
    }
    if (by_steps)
        verdict = relocation_lab_compare_steps(&lab, &setup, now->text + used, now->text_bytes - used);
    else
        verdict = relocation_lab_compare(&lab, &setup, now->text + used, now->text_bytes - used);
    return verdict == RELOCATION_EQUAL       ? SANDBOX_PASSED
           : verdict == RELOCATION_DIFFERENT ? SANDBOX_FAILED
                                             : SANDBOX_SKIPPED;
}

static void check_batch(bool by_steps, uint64_t count)
{
    struct sandbox_batch batch = {
        .seed = number_from("SEED", 1),
        .first = number_from("FIRST", 0),
        .count = count,
        .begin = begin,
        .run = run,
        .context = &by_steps,
        .death_limit = 20,
    };
    static struct sandbox_outcome outcome;
    int result = sandbox_run(&batch, &outcome);

    sandbox_outcome_print(&outcome, stdout);
    CHECK_EQUAL(result, 0);
    CHECK_EQUAL(outcome.failed, 0);
    CHECK_EQUAL(outcome.died, 0);
    CHECK_EQUAL(outcome.hung, 0);
    CHECK(outcome.passed > count / 2);
}

static void relocated_code_ends_in_the_same_state(void)
{
    check_batch(false, number_from("CASES", 150000));
}

static void original_registers_are_recovered_at_every_step(void)
{
    check_batch(true, number_from("STEP_CASES", 20000));
}

static const struct check_case cases[] = {
    CHECK_CASE(relocated_code_ends_in_the_same_state),
    CHECK_CASE(original_registers_are_recovered_at_every_step),
};

int main(void)
{
    decode_options = random_code_decode_options();
    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
