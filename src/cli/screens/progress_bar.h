/* SPDX-License-Identifier: MIT */
/*
 * How far something is that takes long: a line on a terminal that is drawn again and again and goes away in the end.
 * What is done within half a second draws nothing, and neither does what writes to the same terminal meanwhile. One
 * thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_PROGRESS_BAR_H
#define GAIT_CLI_SCREENS_PROGRESS_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress_bar {
    FILE *stream;     /* NULL: nothing is drawn */
    const char *what; /* is done */
    uint64_t began_ns;
    uint64_t drawn_ns; /* the last time */
    bool is_drawn;
};

/*
 * Draws to the stream if that is a terminal, and `output`, to which results go meanwhile (NULL: to nowhere), is none.
 * The text has to stay.
 */
void progress_bar_begin(struct progress_bar *bar, FILE *stream, FILE *output, const char *what);

/* So much is done; total 0: of how much is not known. The first argument is the bar. */
void progress_bar_update(void *bar, size_t done, size_t total);

/* Takes it away. */
void progress_bar_end(struct progress_bar *bar);

#endif
