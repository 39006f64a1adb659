/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
/* time limit: 300 s */
/*
 * Random programs, followed in every way, must do what the CPU does with them, instruction by instruction. By hand:
 * CASES=100000 SEED=7 runs more; FIRST=12 CASES=1 runs case 12 alone and prints its program first; OUTSIDE=1 has
 * another thread follow them too, in turns, which a thread that is met in the engine's own signal handler does not
 * survive yet.
 */
#include "support/check.h"
#include "support/random_following.h"

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

static void followed_programs_do_what_the_cpu_does(void)
{
    char repetition[64];
    struct random_following following = {.repetition = repetition, .from_outside = number_from("OUTSIDE", 0) != 0};
    struct sandbox_batch batch = {
        .seed = number_from("SEED", 1),
        .first = number_from("FIRST", 0),
        .count = number_from("CASES", 300),
        .begin = random_following_begin,
        .run = random_following_run,
        .context = &following,
        .death_limit = 8,
    };
    static struct sandbox_outcome outcome;
    int result;

    following.shows_program = batch.count == 1;
    snprintf(repetition, sizeof(repetition), "SEED=%" PRIu64 " CASES=1 FIRST=", batch.seed);
    result = sandbox_run(&batch, &outcome);
    sandbox_outcome_print(&outcome, stdout);
    CHECK_EQUAL(result, 0);
    CHECK_EQUAL(outcome.failed, 0);
    CHECK_EQUAL(outcome.died, 0);
    CHECK_EQUAL(outcome.hung, 0);
    CHECK(outcome.passed > batch.count / 2 || batch.count == 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(followed_programs_do_what_the_cpu_does),
};

CHECK_MAIN(cases)
