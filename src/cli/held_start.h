/* SPDX-License-Identifier: MIT */
/* Holding a program before its first instruction, until Enter on the terminal or an event that the caller looks at. */
#ifndef GAIT_CLI_HELD_START_H
#define GAIT_CLI_HELD_START_H

#include <stdbool.h>

struct held_start {
    int terminal; /* -1: there is none */
    int other;    /* another descriptor whose being readable makes is_over be asked; -1: none */
    bool (*is_over)(void *context);
    void *context;
};

/* The terminal that Enter is typed on, also when standard input is something else; -1: there is none. To be closed. */
int held_start_terminal(void);

/* Returns when a line was typed, or is_over says so: it is asked several times a second. */
void held_start_wait(const struct held_start *held);

#endif
