/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_RUNNER_TRANSFORMERS_H
#define TESTS_PROGRAMS_RUNNER_TRANSFORMERS_H

struct gait_transformer;

/* A transformer that puts something into the code that must not be noticed; NULL: there is none of that name. */
const struct gait_transformer *transformer_find(const char *name);

#endif
