/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/progress_bar.h"

#include "support/check.h"

#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

static int terminal, other_end;
static FILE *stream;

static void open_terminal(void)
{
    CHECK_EQUAL(openpty(&other_end, &terminal, NULL, NULL, NULL), 0);
    CHECK_EQUAL(fcntl(other_end, F_SETFL, O_NONBLOCK), 0);
    stream = fdopen(terminal, "w");
    setenv("TERM", "xterm", 1);
}

static const char *shown(void)
{
    static char text[4096];
    ssize_t got = read(other_end, text, sizeof(text) - 1);

    text[got < 0 ? 0 : got] = '\0';
    return text;
}

static void close_terminal(void)
{
    fclose(stream);
    close(other_end);
}

static void what_takes_long_is_drawn_and_goes_away(void)
{
    struct progress_bar bar;

    open_terminal();
    progress_bar_begin(&bar, stream, NULL, "reading");
    progress_bar_update(&bar, 1, 4);
    CHECK_TEXT(shown(), "");
    /* As if it had begun a second ago. */
    bar.began_ns -= 1000000000;
    progress_bar_update(&bar, 1, 4);
    CHECK_TEXT(shown(), "\r\033[Kgait: reading [#######.......................]  25 %");
    /* Not again right away. */
    progress_bar_update(&bar, 2, 4);
    CHECK_TEXT(shown(), "");
    bar.drawn_ns -= 1000000000;
    progress_bar_update(&bar, 7, 0);
    CHECK_TEXT(shown(), "\r\033[Kgait: reading: 7 units so far");
    progress_bar_end(&bar);
    CHECK_TEXT(shown(), "\r\033[K");
    close_terminal();
}

static void what_is_quick_draws_nothing(void)
{
    struct progress_bar bar;

    open_terminal();
    progress_bar_begin(&bar, stream, NULL, "reading");
    for (size_t i = 0; i <= 100; i++)
        progress_bar_update(&bar, i, 100);
    progress_bar_end(&bar);
    CHECK_TEXT(shown(), "");
    close_terminal();
}

static void only_terminals_that_nobody_else_writes_to_are_drawn_on(void)
{
    struct progress_bar bar;
    FILE *file = tmpfile();

    open_terminal();
    progress_bar_begin(&bar, file, NULL, "reading");
    CHECK(bar.stream == NULL);
    progress_bar_begin(&bar, stream, stream, "reading");
    CHECK(bar.stream == NULL);
    progress_bar_begin(&bar, stream, file, "reading");
    CHECK(bar.stream == stream);
    setenv("TERM", "dumb", 1);
    progress_bar_begin(&bar, stream, NULL, "reading");
    CHECK(bar.stream == NULL);
    progress_bar_update(&bar, 1, 2);
    progress_bar_end(&bar);
    close_terminal();
    fclose(file);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_takes_long_is_drawn_and_goes_away),
    CHECK_CASE(what_is_quick_draws_nothing),
    CHECK_CASE(only_terminals_that_nobody_else_writes_to_are_drawn_on),
};

CHECK_MAIN(cases)
