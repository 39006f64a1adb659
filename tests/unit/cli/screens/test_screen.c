/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/screen.h"

#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char *printed;
static size_t printed_size;

static struct screen memory_screen(void)
{
    struct screen screen = {.stream = open_memstream(&printed, &printed_size), .width = 80};

    return screen;
}

static void expect(struct screen *screen, const char *expected)
{
    fclose(screen->stream);
    CHECK_TEXT(printed, expected);
    free(printed);
}

static void words_go_on_in_further_lines_of_terminals(void)
{
    struct screen screen = memory_screen();

    screen_put_words(&screen, 60, "words that are read by another program stay in one line");
    screen.is_terminal = true;
    screen_print(&screen, "%60s", "");
    screen_put_words(&screen, 60, "words that people read do not and_what_is_longer_than_a_line stays");
    screen_put_words(&screen, 70, "no room is left for words here");
    expect(&screen, "words that are read by another program stay in one line\n"
                    "                                                            words that people\n"
                    "                                                            read do not\n"
                    "                                                            and_what_is_longer_than_a_line\n"
                    "                                                            stays\n"
                    "no room is left for words here\n");
}

static void text_is_filled_up_or_cut_off(void)
{
    struct screen screen = memory_screen();

    screen_put(&screen, SCREEN_PLAIN, 6, "abc");
    screen_put(&screen, SCREEN_PLAIN, 6, "abcdef");
    screen_put(&screen, SCREEN_PLAIN, 6, "abcdefg");
    screen_put(&screen, SCREEN_FAINT, 0, "abcdefg");
    screen_put(&screen, SCREEN_PLAIN, 1, "abc");
    screen_print(&screen, "%d\n", 7);
    expect(&screen, "abc   abcdefabcd..abcdefg.7\n");
}

static void styles_do_not_change_the_width(void)
{
    struct screen screen = memory_screen();

    screen.has_colours = true;
    screen_put(&screen, SCREEN_CHANGED, 4, "ab");
    screen_put(&screen, SCREEN_PLAIN, 0, "c");
    expect(&screen, "\033[33mab\033[0m  c");
}

static void streams_that_are_no_terminals_have_no_colours(void)
{
    FILE *file = tmpfile();
    struct screen screen;

    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    setenv("TERM", "xterm", 1);
    screen_init(&screen, file);
    CHECK(!screen.has_colours);
    CHECK_EQUAL(screen.width, 100);
    setenv("COLUMNS", "132", 1);
    screen_init(&screen, file);
    CHECK_EQUAL(screen.width, 132);
    setenv("COLUMNS", "7", 1);
    screen_init(&screen, file);
    CHECK_EQUAL(screen.width, 40);
    setenv("COLUMNS", "99999999", 1);
    screen_init(&screen, file);
    CHECK_EQUAL(screen.width, 400);
    setenv("COLUMNS", "wide", 1);
    screen_init(&screen, file);
    CHECK_EQUAL(screen.width, 100);
    fclose(file);
}

/* A terminal of our own, where there is one to be had. */
static void terminals_have_colours_unless_somebody_objects(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct screen screen;

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        return;

    FILE *terminal = fopen(ptsname(master), "r+");

    if (terminal == NULL)
        return;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    screen_init(&screen, terminal);
    CHECK(screen.has_colours);
    setenv("NO_COLOR", "1", 1);
    screen_init(&screen, terminal);
    CHECK(!screen.has_colours);
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    screen_init(&screen, terminal);
    CHECK(!screen.has_colours);
    fclose(terminal);
    close(master);
}

static void a_full_or_closed_stream_is_reported(void)
{
    struct gait_error err = {0};
    struct screen screen;
    FILE *full = fopen("/dev/full", "w"), *readable = fopen("/dev/null", "r"), *fine = tmpfile();

    screen_init(&screen, full);
    screen_print(&screen, "text\n");
    CHECK_EQUAL(screen_finish(&screen, &err), -ENOSPC);
    CHECK(strstr(err.text, "cannot write") == err.text);
    fclose(full);
    screen_init(&screen, readable);
    screen_print(&screen, "text\n");
    CHECK(screen_finish(&screen, &err) < 0);
    fclose(readable);
    screen_init(&screen, fine);
    screen_print(&screen, "text\n");
    CHECK_EQUAL(screen_finish(&screen, &err), 0);
    fclose(fine);
}

static const struct check_case cases[] = {
    CHECK_CASE(text_is_filled_up_or_cut_off),
    CHECK_CASE(words_go_on_in_further_lines_of_terminals),
    CHECK_CASE(styles_do_not_change_the_width),
    CHECK_CASE(streams_that_are_no_terminals_have_no_colours),
    CHECK_CASE(terminals_have_colours_unless_somebody_objects),
    CHECK_CASE(a_full_or_closed_stream_is_reported),
};

CHECK_MAIN(cases)
