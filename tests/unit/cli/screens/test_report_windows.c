/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/report_sections.h"

#include "cli/screens/screen.h"
#include "support/check.h"
#include "trace/manifest.h"

#include <stdlib.h>

static struct clock_pair clocks[] = {{1000000000, 5000000000}, {21000000000, 15000000000}};

static void expect(const struct manifest *manifest, const char *text)
{
    struct screen screen;
    char *output = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&output, &size);

    screen_init(&screen, stream);
    screen.has_colours = false;
    report_windows(&screen, manifest);
    fclose(stream);
    CHECK_TEXT(output, text);
    free(output);
}

static void triggers_and_windows_are_shown_by_seconds(void)
{
    struct manifest_trigger triggers[] = {
        {"slow", (char *)"slow=f>5ms", 5000000000, 7, 8},
        {"manual", (char *)"", 7000000000, 0, 0},
    };
    struct manifest_window windows[] = {{3000000000, 7000000000, true}, {9000000000, 11000000000, false}};
    struct manifest manifest = {.clocks = clocks,
                                .clock_count = 2,
                                .is_flight = true,
                                .triggers = triggers,
                                .trigger_count = 2,
                                .triggers_left_out = 3,
                                .windows = windows,
                                .window_count = 2};

    expect(&manifest, "trigger    slow (slow=f>5ms) at 2.000 s, thread 8\n"
                      "trigger    manual at 3.000 s\n"
                      "           and 3 more\n"
                      "kept       from 1.000 s to 3.000 s; what came before was too much for the memory\n"
                      "kept       from 4.000 s to 5.000 s\n");
}

static void a_flight_without_a_trigger_kept_nothing(void)
{
    struct manifest manifest = {.clocks = clocks, .clock_count = 1, .is_flight = true};

    expect(&manifest, "kept       nothing: there was no trigger\n");
    manifest.is_flight = false;
    expect(&manifest, "");
}

static void pieces_are_counted(void)
{
    struct manifest_piece pieces[] = {{3, 5000000000}, {4, 7000000000}};
    struct manifest manifest = {.clocks = clocks, .clock_count = 2, .pieces = pieces, .piece_count = 2};

    expect(&manifest, "pieces     the last 2 of 4; what came before 2.000 s is deleted\n");
    pieces[0].number = 1;
    expect(&manifest, "pieces     2\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(triggers_and_windows_are_shown_by_seconds),
    CHECK_CASE(pieces_are_counted),
    CHECK_CASE(a_flight_without_a_trigger_kept_nothing),
};

CHECK_MAIN(cases)
