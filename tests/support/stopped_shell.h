/* SPDX-License-Identifier: MIT */
/* Programs for tests of what is done to them before their first instruction. Ends the program if that fails. */
#ifndef GAIT_TESTS_STOPPED_SHELL_H
#define GAIT_TESTS_STOPPED_SHELL_H

struct tracee;

/* A shell with a script, stopped at its first instruction. */
void stopped_shell_start(struct tracee *tracee_out, char *script);

/* Waits for the end of a process that was let go, and returns its status as waitpid gives it. */
int stopped_shell_end(const struct tracee *tracee);

#endif
