/* SPDX-License-Identifier: MIT */
/*
 * Small pieces of code that are run followed with a transformer of the test's choice, and transformers that more than
 * one test needs. x86-64 only. One thread at a time.
 */
#ifndef GAIT_TESTS_TRANSFORMED_CODE_H
#define GAIT_TESTS_TRANSFORMED_CODE_H

#include "gait/stalker.h"
#include "support/code_page.h"

#include <stdbool.h>

/* What a test wants done with an instruction of the page; all others are kept. */
typedef void transformed_visit(struct gait_iterator *iterator, const struct gait_instruction *instruction);

struct transformed_code {
    struct code_page page;
    struct gait_stalker *stalker; /* of the run under way, or of the test's own */
    transformed_visit *visit;
    uint64_t transforms; /* of blocks in the page */
};

extern struct transformed_code transformed;

/* Calls transformed.visit. */
extern const struct gait_transformer transformed_transformer;

void transformed_code_init(void);

/* An address in the page, and whether one is there. */
uint64_t transformed_at(uint64_t offset);
bool transformed_holds(uint64_t address);

/* Runs the function at the start of the page with a stalker of its own. */
uint64_t transformed_run_with(const struct gait_transformer *how, uint32_t events, const struct gait_event_sink *sink,
                              uint64_t a, uint64_t b);
uint64_t transformed_run(transformed_visit *visit, uint64_t a, uint64_t b);

transformed_visit transformed_keep;
transformed_visit transformed_drop_second;
transformed_visit transformed_skip_call;
transformed_visit transformed_replace_tail_jump; /* by a callout that adds 1000 to rax, and a return */

void transformed_add_thousand(struct gait_cpu_context *cpu, void *data);

/* Write the page; what they write is told where they are. */
void transformed_write_sum(void);
void transformed_write_call(void);
void transformed_write_tail_jump(void);
void transformed_write_two_hundred(void);
void transformed_write_long_block(void);

#endif
