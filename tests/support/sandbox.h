/* SPDX-License-Identifier: MIT */
/*
 * Runs a batch of numbered cases in a forked child, so that a case which kills or hangs its process costs that case and
 * nothing else: it is reported with its number and seed, and the batch goes on after it in a new child. A case is
 * defined by its seed alone, so sandbox_batch.first and count = 1 repeat it.
 *
 * What the child needs (arenas, a code runner) is best made in `begin`; what was made before the batch is there too, as
 * after every fork. Changes in the child are not seen outside, except by verdict and text.
 */
#ifndef GAIT_TESTS_SANDBOX_H
#define GAIT_TESTS_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SANDBOX_TEXT_BYTES  1024
#define SANDBOX_MAX_REPORTS 16

enum sandbox_verdict {
    SANDBOX_PASSED,
    SANDBOX_FAILED,
    SANDBOX_SKIPPED,
    SANDBOX_DIED, /* not for cases to return: the child ended in the case */
    SANDBOX_HUNG, /* not for cases to return: the child was ended by the time limit */
};

struct sandbox_case {
    uint64_t number;
    uint64_t seed;
    /* What the report says. Write what the case is about before it can go wrong: it survives the child's death. */
    char *text;
    size_t text_bytes;
};

struct sandbox_batch {
    uint64_t seed; /* the case's seed is random_seed_derive(seed, number) */
    uint64_t first;
    uint64_t count;
    /* In every new child before its first case; not 0 ends the batch. May be NULL. */
    int (*begin)(void *context);
    enum sandbox_verdict (*run)(void *context, const struct sandbox_case *now);
    void *context;
    uint32_t case_limit_ms; /* real time; 0: 10,000 */
    uint32_t death_limit;   /* so many children may die or hang before the batch is given up; 0: 100 */
};

struct sandbox_report {
    enum sandbox_verdict verdict;
    uint64_t number;
    uint64_t seed;
    int wait_status; /* as of waitpid, if the child died */
    char text[SANDBOX_TEXT_BYTES];
};

struct sandbox_outcome {
    uint64_t passed, failed, skipped, died, hung;
    uint32_t report_count; /* of the first failures, deaths and hangs */
    struct sandbox_report reports[SANDBOX_MAX_REPORTS];
};

/*
 * Runs the batch. 0: all cases had their turn, whatever came out. -ECHILD: begin failed or died. -ECANCELED: given up
 * after death_limit; the outcome is filled in too. Else what the kernel said. Call it with no other threads running.
 */
int sandbox_run(const struct sandbox_batch *batch, struct sandbox_outcome *outcome) __attribute__((warn_unused_result));

/* Counts on one line, then a paragraph for each report. */
void sandbox_outcome_print(const struct sandbox_outcome *outcome, FILE *stream);

#endif
