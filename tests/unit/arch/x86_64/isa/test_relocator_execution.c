/* SPDX-License-Identifier: MIT */
/* configurations: debug-gcc */
/* time limit: 120 s */
/*
 * Random code, run where it is and relocated, must end in the same state. By hand: CASES=5000000 SEED=7 runs more.
 */
#include "support/check.h"
#include "support/random_relocation.h"

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

static void check_batch(enum random_relocation_trial trial, uint64_t count)
{
    struct sandbox_batch batch = {
        .seed = number_from("SEED", 1),
        .first = number_from("FIRST", 0),
        .count = count,
        .begin = random_relocation_begin,
        .run = random_relocation_run,
        .context = &trial,
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
    check_batch(RANDOM_RELOCATION_BY_END, number_from("CASES", 150000));
}

static void original_registers_are_recovered_at_every_step(void)
{
    check_batch(RANDOM_RELOCATION_BY_STEPS, number_from("STEP_CASES", 20000));
}

static void too_little_room_is_reported_and_never_exceeded(void)
{
    check_batch(RANDOM_RELOCATION_BY_LIMITS, number_from("LIMIT_CASES", 50000));
}

static const struct check_case cases[] = {
    CHECK_CASE(relocated_code_ends_in_the_same_state),
    CHECK_CASE(original_registers_are_recovered_at_every_step),
    CHECK_CASE(too_little_room_is_reported_and_never_exceeded),
};

CHECK_MAIN(cases)
