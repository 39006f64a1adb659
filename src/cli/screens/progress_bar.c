/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/progress_bar.h"

#include "hosted/system_clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BEGIN_NS    500000000u /* nothing is drawn before */
#define INTERVAL_NS 100000000u
#define CELLS       30u

static bool is_terminal(FILE *stream)
{
    const char *kind = getenv("TERM");

    return stream != NULL && isatty(fileno(stream)) && (kind == NULL || strcmp(kind, "dumb") != 0);
}

void progress_bar_begin(struct progress_bar *bar, FILE *stream, FILE *output, const char *what)
{
    bool is_shown = is_terminal(stream) && (output == NULL || !isatty(fileno(output)));

    *bar = (struct progress_bar){
        .stream = is_shown ? stream : NULL, .what = what, .began_ns = system_clock_ns(CLOCK_MONOTONIC)};
}

/* [#########.....................]  30 % */
static void draw(struct progress_bar *bar, size_t done, size_t total)
{
    char cells[CELLS + 1];
    size_t full = total == 0 ? 0 : (size_t)((double)done / (double)total * CELLS);

    if (total == 0) {
        fprintf(bar->stream, "\r\033[Kgait: %s: %zu units so far", bar->what, done);
        return;
    }
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = i < full ? '#' : '.';
    cells[CELLS] = '\0';
    fprintf(bar->stream, "\r\033[Kgait: %s [%s] %3u %%", bar->what, cells, (unsigned)(100.0 * done / total));
}

void progress_bar_update(void *context, size_t done, size_t total)
{
    struct progress_bar *bar = context;
    uint64_t now;

    if (bar->stream == NULL)
        return;
    now = system_clock_ns(CLOCK_MONOTONIC);
    if (now - bar->began_ns < BEGIN_NS || now - bar->drawn_ns < INTERVAL_NS)
        return;
    bar->drawn_ns = now;
    bar->is_drawn = true;
    draw(bar, total != 0 && done > total ? total : done, total);
    fflush(bar->stream);
}

void progress_bar_end(struct progress_bar *bar)
{
    if (bar->is_drawn) {
        fputs("\r\033[K", bar->stream);
        fflush(bar->stream);
    }
    *bar = (struct progress_bar){.stream = NULL};
}
