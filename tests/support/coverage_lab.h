/* SPDX-License-Identifier: MIT */
/*
 * A trace of code of the program that looks at it, so that its file is there: process 100 has it mapped where it is,
 * and thread 100 has run some of it. coverage_lab_missed() never ran.
 */
#ifndef GAIT_TESTS_COVERAGE_LAB_H
#define GAIT_TESTS_COVERAGE_LAB_H

#include "support/trace_folder.h"
#include "view/view_trace.h"

struct coverage_lab {
    struct trace_folder folder;
    struct view_trace trace;
    char path[4096]; /* of the program */
};

int coverage_lab_ran(int number);
int coverage_lab_called(int number);
int coverage_lab_missed(int number);

/* In which line of coverage_lab.c the first of them begins. */
extern const int coverage_lab_line;

/* What the thread tells. */
enum coverage_lab_events {
    COVERAGE_LAB_BLOCKS, /* of coverage_lab_ran: the first 8 bytes, 3 times, and those from 4 to 12, twice */
    COVERAGE_LAB_INSNS,  /* the same, as instructions of 1, 2 and 5 bytes */
    COVERAGE_LAB_CALLS,  /* of coverage_lab_called and coverage_lab_ran, twice, and of what is in no file, once */
    COVERAGE_LAB_HOOKS,  /* all three are hooked, and coverage_lab_called was entered, twice */
};

void coverage_lab_init(struct coverage_lab *lab, enum coverage_lab_events events);
void coverage_lab_deinit(struct coverage_lab *lab);

#endif
