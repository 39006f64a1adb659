/* SPDX-License-Identifier: MIT */
/* What stands above a view whose times are guesses, once for all of them. */
#ifndef GAIT_CLI_SCREENS_GUESS_NOTICE_H
#define GAIT_CLI_SCREENS_GUESS_NOTICE_H

#include "view/guessed_times.h"

struct screen;

/* Says that they are, and how to have them measured; nothing if none is. option: a threshold that was asked for, with
 * which guesses are not compared; NULL: none was. Returns how many lines that took. */
unsigned guess_notice_put(struct screen *screen, enum guessed_times guesses, const char *option);

/* The same in a sentence, for files, and for standard error. */
#define GUESS_NOTICE_SENTENCE                                                                                          \
    "times are guessed: events of followed threads have none of their own, and lie somewhere between marks; gait "     \
    "spawn --times records them"

#endif
