/* SPDX-License-Identifier: MIT */
/*
 * Where a command writes: a stream, how wide it is, and whether it shows colours. Colours go to terminals only, and not
 * where the variable NO_COLOR is set or TERM is "dumb". One thread at a time.
 */
#ifndef GAIT_CLI_SCREENS_SCREEN_H
#define GAIT_CLI_SCREENS_SCREEN_H

#include "base/attributes.h"
#include "gait/error.h"

#include <stdbool.h>
#include <stdio.h>

enum screen_style {
    SCREEN_PLAIN,
    SCREEN_FAINT,   /* what is there for reference: addresses, bytes */
    SCREEN_STRONG,  /* headings */
    SCREEN_CHANGED, /* what is not as in the original */
};

struct screen {
    FILE *stream;
    unsigned width; /* columns */
    bool has_colours;
    bool is_terminal; /* lines are to fit; where others read them, they stay whole */
};

/* Writes to the stream, which stays the caller's. The width is that of the terminal, or COLUMNS, or 100. */
void screen_init(struct screen *screen, FILE *stream);

void screen_print(struct screen *screen, const char *format, ...) PRINTF_LIKE(2, 3);

/* Writes text in a style, in exactly `columns` columns: filled up with spaces or cut off with ".."; 0: as it is. */
void screen_put(struct screen *screen, enum screen_style style, unsigned columns, const char *text);

/*
 * Writes words and ends the line. On a terminal they go on in further lines, that far indented, as the first is already.
 */
void screen_put_words(struct screen *screen, unsigned indent, const char *text);

/* Makes sure that all was written. -errno: it was not, for the stream was closed or is full. */
MUST_USE int screen_finish(struct screen *screen, struct gait_error *err);

#endif
