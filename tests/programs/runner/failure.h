/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_RUNNER_FAILURE_H
#define TESTS_PROGRAMS_RUNNER_FAILURE_H

/* Says that the program cannot be followed, and why, and exits with a status that no program has. */
_Noreturn void runner_fail(const char *what, const char *which);

#endif
