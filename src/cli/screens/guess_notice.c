/* SPDX-License-Identifier: MIT */
#include "cli/screens/guess_notice.h"

#include "cli/screens/screen.h"

#include <stdio.h>

#define LINE_BYTES 128

unsigned guess_notice_put(struct screen *screen, enum guessed_times guesses, const char *option)
{
    char line[LINE_BYTES];

    if (guesses == GUESSED_TIMES_NONE)
        return 0;
    screen_put(screen, SCREEN_CHANGED, 0,
               guesses == GUESSED_TIMES_ALL ? "ALL TIMES BELOW ARE GUESSED" : "TIMES WITH ~ ARE GUESSED");
    screen_print(screen, ": these events have no times of their own, and lie\n"
                         "somewhere between marks that do; gait spawn --times records them.\n");
    if (option == NULL)
        return 2;
    snprintf(line, sizeof(line), "Guesses are not compared with %s: calls that have no other times stay.\n", option);
    screen_print(screen, "%s", line);
    return 3;
}
