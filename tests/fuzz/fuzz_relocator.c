/* SPDX-License-Identifier: MIT */
/*
 * Relocates random code for as long as it is told to: --seconds N --seed S. Original and copy are run and compared, by
 * their ends and by each of their steps. Under a sanitizer, which maps most of the address space and so gives random
 * stores something to destroy, nothing is run: there the copy is made with too little of everything.
 */
#include "support/random.h"
#include "support/random_relocation.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH_CASES 20000
/* One batch in so many goes by steps, which take longer. */
#define STEPS_EVERY  8
#define LIMITS_EVERY 16

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

struct arguments {
    uint64_t seconds, seed;
};

static bool arguments_read(int count, char **words, struct arguments *arguments_out)
{
    for (int i = 1; i < count; i += 2) {
        uint64_t *value = strcmp(words[i], "--seconds") == 0 ? &arguments_out->seconds
                          : strcmp(words[i], "--seed") == 0  ? &arguments_out->seed
                                                             : NULL;

        if (value == NULL || i + 1 == count)
            return false;
        *value = strtoull(words[i + 1], NULL, 0);
    }
    return true;
}

static enum random_relocation_trial trial_of(uint64_t batch)
{
    if (IS_SANITIZED || batch % LIMITS_EVERY == LIMITS_EVERY - 1)
        return RANDOM_RELOCATION_BY_LIMITS;
    return batch % STEPS_EVERY == STEPS_EVERY - 1 ? RANDOM_RELOCATION_BY_STEPS : RANDOM_RELOCATION_BY_END;
}

/* Returns false, after a report, if a case went wrong. Its batch is found again by seed and number. */
static bool run_batch(uint64_t seed, uint64_t number, struct sandbox_outcome *total)
{
    enum random_relocation_trial trial = trial_of(number);
    struct sandbox_batch batch = {
        .seed = seed,
        .first = number * BATCH_CASES,
        .count = BATCH_CASES,
        .begin = random_relocation_begin,
        .run = random_relocation_run,
        .context = &trial,
        .death_limit = 4,
    };
    static struct sandbox_outcome outcome;
    int result = sandbox_run(&batch, &outcome);

    total->passed += outcome.passed;
    total->skipped += outcome.skipped;
    if (result == 0 && outcome.failed + outcome.died + outcome.hung == 0)
        return true;
    printf("batch %llu, seed %llu, status %d: ", (unsigned long long)number, (unsigned long long)seed, result);
    sandbox_outcome_print(&outcome, stdout);
    return false;
}

int main(int count, char **words)
{
    struct arguments arguments = {.seconds = 10, .seed = 1};
    static struct sandbox_outcome total;
    time_t start = time(NULL);
    bool passed = true;

    if (!arguments_read(count, words, &arguments)) {
        fprintf(stderr, "usage: %s [--seconds N] [--seed S]\n", words[0]);
        return 2;
    }
    for (uint64_t number = 0; (uint64_t)(time(NULL) - start) < arguments.seconds; number++)
        passed = run_batch(arguments.seed, number, &total) && passed;
    sandbox_outcome_print(&total, stdout);
    return passed ? 0 : 1;
}
