/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/guess_notice.h"

#include "cli/screens/screen.h"
#include "support/check.h"

#include <stdlib.h>

static unsigned put(enum guessed_times guesses, const char *option, char **text)
{
    size_t size;
    struct screen screen = {.stream = open_memstream(text, &size), .width = 80};
    unsigned lines = guess_notice_put(&screen, guesses, option);

    fclose(screen.stream);
    return lines;
}

static void nothing_is_said_of_times_that_were_measured(void)
{
    char *text;

    CHECK_EQUAL(put(GUESSED_TIMES_NONE, "--min-duration", &text), 0);
    CHECK_TEXT(text, "");
    free(text);
}

static void a_threshold_is_named_with_which_guesses_are_not_compared(void)
{
    char *text;

    CHECK_EQUAL(put(GUESSED_TIMES_ALL, "--min-duration", &text), 3);
    CHECK_TEXT(text, "ALL TIMES BELOW ARE GUESSED: these events have no times of their own, and lie\n"
                     "somewhere between marks that do; gait spawn --times records them.\n"
                     "Guesses are not compared with --min-duration: calls that have no other times stay.\n");
    free(text);
    CHECK_EQUAL(put(GUESSED_TIMES_SOME, NULL, &text), 2);
    free(text);
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_is_said_of_times_that_were_measured),
    CHECK_CASE(a_threshold_is_named_with_which_guesses_are_not_compared),
};

CHECK_MAIN(cases)
