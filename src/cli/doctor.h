/* SPDX-License-Identifier: MIT */
/*
 * What the machine, the kernel and the user's rights allow gait to do, tried rather than looked up wherever that harms
 * nobody, and how to change it. Nothing is changed. One thread at a time.
 */
#ifndef GAIT_CLI_DOCTOR_H
#define GAIT_CLI_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_verdict {
    DOCTOR_GOOD,
    DOCTOR_LIMITED, /* it works, but not all of it */
    DOCTOR_MISSING,
};

#define DOCTOR_TEXT_BYTES 160

struct doctor_finding {
    enum doctor_verdict verdict;
    char text[DOCTOR_TEXT_BYTES];   /* what was found */
    char advice[DOCTOR_TEXT_BYTES]; /* what to do; "": nothing */
};

struct doctor_check {
    const char *subject;
    const char *purpose; /* what it is for */
    bool is_needed;      /* to record anything */
    void (*look)(struct doctor_finding *finding);
};

/* Check number `which`; NULL behind the last. */
const struct doctor_check *doctor_check_at(size_t which);

/* What follows from settings of the kernel; -1: there is no such setting. */
void doctor_judge_tracing(long yama_scope, bool is_privileged, struct doctor_finding *finding);
void doctor_judge_paranoia(long perf_paranoid, bool is_privileged, struct doctor_finding *finding);

/* The number in a file of a line; -1: there is no such file, or no number in it. */
long doctor_read_number(const char *path);

#endif
