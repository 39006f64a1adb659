/* SPDX-License-Identifier: MIT */
/* Excluding libraries by name. */
#ifndef GAIT_TESTS_PROGRAMS_RUNNER_EXCLUSIONS_H
#define GAIT_TESTS_PROGRAMS_RUNNER_EXCLUSIONS_H

struct gait_stalker;

/* Excludes the code of every loaded object whose path contains the text. Fails the run if there is none. */
void exclude_objects(struct gait_stalker *stalker, const char *text);

#endif
