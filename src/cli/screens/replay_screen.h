/* SPDX-License-Identifier: MIT */
/* Rows of a replay on a screen: columns, colours, and at the end what the signs mean that occurred. */
#ifndef GAIT_CLI_SCREENS_REPLAY_SCREEN_H
#define GAIT_CLI_SCREENS_REPLAY_SCREEN_H

#include "view/guessed_times.h"
#include "view/replay_rows.h"
#include "view/view_functions.h"

struct kernel_event;
struct screen;

enum replay_time { REPLAY_TIME_NONE, REPLAY_TIME_RELATIVE, REPLAY_TIME_ABSOLUTE };

struct replay_screen {
    struct screen *screen;
    struct view_functions *functions;
    enum replay_time time;
    unsigned thread_columns; /* 0: there is no such column */
    double tick_ns;
    enum guessed_times guesses;
    const char *threshold; /* an option that guesses are not compared with; NULL: none was given */
    uint64_t line_count;
    uint32_t flags; /* that occurred, of enum call_flag */
    bool has_gaps;  /* the same */
    bool has_unsure;
};

/* with_threads: rows may be of several threads, of those with these indexes. */
void replay_screen_init(struct replay_screen *shown, struct screen *screen, struct view_functions *functions,
                        enum replay_time time);
/* There is a column for threads, wide enough for these. */
void replay_screen_add_threads(struct replay_screen *shown, const size_t *threads, size_t count);

/* Above all of it is said that times are guessed; threshold: as of guess_notice_put. */
void replay_screen_set_guesses(struct replay_screen *shown, enum guessed_times guesses, const char *threshold);

void replay_screen_put_heading(struct replay_screen *shown);
void replay_screen_put(struct replay_screen *shown, const struct replay_row *row);
/* An event of the kernel: what it is called, its fields as text, and how its thread is called. */
void replay_screen_put_kernel(struct replay_screen *shown, const struct kernel_event *event, const char *name,
                              const char *fields, const char *thread);

void replay_screen_put_legend(struct replay_screen *shown);

#endif
