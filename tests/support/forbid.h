/* SPDX-License-Identifier: MIT */
/*
 * Systems that forbid what ours allows, for tests of what we do then. A rule holds for the calling process until its
 * end, so tests call these in a child.
 */
#ifndef GAIT_TESTS_FORBID_H
#define GAIT_TESTS_FORBID_H

#include <stdbool.h>

/* Each returns whether the rule holds now. */

/* mmap and mprotect with write and execute at once give -EACCES. */
bool forbid_writable_and_executable(void);

/* memfd_create gives -EPERM. */
bool forbid_memory_files(void);

/* The kernel's own rule (PR_SET_MDWE): nothing becomes executable that was not so when it was mapped. */
bool forbid_gaining_execute(void);

/* Runs the function in a child; returns the status that it ends with, 0 if it returns, or -1 if it crashes. */
int forbid_in_child(void (*run)(void));

#endif
