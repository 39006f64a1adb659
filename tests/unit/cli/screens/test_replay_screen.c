/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/screens/replay_screen.h"

#include "cli/screens/screen.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "view/call_tracker.h"

static struct trace_folder folder;
static struct view_trace trace;
static struct view_functions functions;
static struct screen screen;
static struct replay_screen shown;
static char *text;
static size_t size;

static void begin(enum replay_time time)
{
    trace_folder_init(&folder);
    trace_folder_put_example(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&functions, &trace), 0);
    CHECK_EQUAL(view_functions_number(&functions, 0, 0x401100, 2000), 0);
    screen = (struct screen){.stream = open_memstream(&text, &size), .width = 100};
    replay_screen_init(&shown, &screen, &functions, time);
}

static void end(const char *expected)
{
    fclose(screen.stream);
    CHECK_TEXT(text, expected);
    free(text);
    view_functions_deinit(&functions);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static void put(enum replay_row_kind kind, uint32_t level, uint64_t ticks, uint32_t flags)
{
    replay_screen_put(
        &shown,
        &(struct replay_row){.kind = kind, .level = level, .time = 1000 + 1234567890, .ticks = ticks, .flags = flags});
}

static void calls_are_indented_and_end_with_their_duration(void)
{
    begin(REPLAY_TIME_NONE);
    replay_screen_put_heading(&shown);
    put(REPLAY_OPEN, 0, 0, 0);
    put(REPLAY_LEAF, 1, 1500, 0);
    put(REPLAY_CLOSE, 0, 2500000, 0);
    replay_screen_put_legend(&shown);
    CHECK_EQUAL(shown.line_count, 4);
    end("   duration  calls\n"
        "             example+0x1100() {\n"
        "   1.500 us    example+0x1100();\n"
        "   2.500 ms  } /* example+0x1100 */\n");
}

static void guesses_are_told_once_and_above_all_rows(void)
{
    begin(REPLAY_TIME_NONE);
    replay_screen_set_guesses(&shown, GUESSED_TIMES_ALL, "--min-duration");
    replay_screen_put_heading(&shown);
    put(REPLAY_LEAF, 0, 2470, CALL_GUESSED);
    put(REPLAY_LEAF, 0, 2470, CALL_GUESSED | CALL_NO_RETURN);
    end("ALL TIMES BELOW ARE GUESSED: these events have no times of their own, and lie\n"
        "somewhere between marks that do; gait spawn --times records them.\n"
        "Guesses are not compared with --min-duration: calls that have no other times stay.\n"
        "    guessed  calls\n"
        "       2 us  example+0x1100();\n"
        "      <2 us  example+0x1100();\n");
}

static void guesses_among_measured_times_have_a_sign(void)
{
    begin(REPLAY_TIME_NONE);
    replay_screen_set_guesses(&shown, GUESSED_TIMES_SOME, NULL);
    replay_screen_put_heading(&shown);
    put(REPLAY_LEAF, 0, 2470, CALL_GUESSED);
    put(REPLAY_LEAF, 0, 2470, 0);
    end("TIMES WITH ~ ARE GUESSED: these events have no times of their own, and lie\n"
        "somewhere between marks that do; gait spawn --times records them.\n"
        "   duration  calls\n"
        "      ~2 us  example+0x1100();\n"
        "   2.470 us  example+0x1100();\n");
}

static void signs_are_explained_where_they_occur(void)
{
    begin(REPLAY_TIME_NONE);
    put(REPLAY_LEAF, 0, 10, CALL_GUESSED);
    put(REPLAY_LEAF, 0, 20, CALL_CUT | CALL_GUESSED);
    put(REPLAY_LEAF, 0, 30, CALL_NO_RETURN);
    put(REPLAY_LEAF, 0, 40, CALL_UNWOUND);
    put(REPLAY_CLOSE, 0, 50, CALL_UNWOUND);
    replay_screen_put_legend(&shown);
    end("     ~10 ns  example+0x1100();\n"
        "     >20 ns  example+0x1100();\n"
        "     <30 ns  example+0x1100();\n"
        "      40 ns  example+0x1100(); /* unwound */\n"
        "      50 ns  } /* example+0x1100: unwound */\n"
        "> it took longer: the recording ended, or events are missing\n"
        "< it took that at most: its return was not seen, as of calls into what was left out\n"
        "unwound: an exception or a long jump ended it\n");
}

static void there_may_be_columns_for_time_and_thread(void)
{
    begin(REPLAY_TIME_RELATIVE);
    replay_screen_add_threads(&shown, (const size_t[]){0, 1}, 2);
    replay_screen_put_heading(&shown);
    put(REPLAY_LEAF, 0, 10, 0);
    end("          time   duration  thread       calls\n"
        "   1.234567890      10 ns  example 100  example+0x1100();\n");
    begin(REPLAY_TIME_ABSOLUTE);
    replay_screen_put_heading(&shown);
    put(REPLAY_LEAF, 0, 10, 0);
    end("        time (UTC)   duration  calls\n"
        "22:13:21.234567890      10 ns  example+0x1100();\n");
}

/* What comes from the program does not move the cursor. */
static void values_are_shown_where_there_are_some(void)
{
    char arguments[] = "name=\"a\033[2J\"", result[] = "-1 ENOENT";

    begin(REPLAY_TIME_NONE);
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_OPEN, .arguments = arguments});
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_CLOSE, .result = result});
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_LEAF, .arguments = arguments, .result = result});
    end("             example+0x1100(name=\"a?[2J\") {\n"
        "       0 ns  } = -1 ENOENT /* example+0x1100 */\n"
        "       0 ns  example+0x1100(name=\"a?[2J\") = -1 ENOENT;\n");
}

static void what_is_missing_is_told(void)
{
    begin(REPLAY_TIME_NONE);
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_THREAD, .thread = 1});
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_GAP, .lost_bytes = 72});
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_GAP});
    replay_screen_put(&shown, &(struct replay_row){.kind = REPLAY_UNSURE});
    replay_screen_put_legend(&shown);
    end("thread worker 101 of process 100: ./example --fast\n"
        "             ... events are missing here: 72 bytes were lost\n"
        "             ... what happened here was not kept\n"
        "             ... captured arguments are missing here\n"
        "where captured arguments are missing, those that follow may be of a call nearby\n");
}

static void parts_of_calls_say_what_they_are(void)
{
    begin(REPLAY_TIME_NONE);
    put(REPLAY_OPEN, 0, 0, 0);
    put(REPLAY_CLOSE, 0, 10, CALL_SUSPENDED);
    put(REPLAY_LEAF, 0, 20, CALL_SUSPENDED | CALL_RESUMED);
    put(REPLAY_OPEN, 0, 0, CALL_RESUMED);
    put(REPLAY_CLOSE, 0, 30, CALL_RESUMED);
    put(REPLAY_LEAF, 0, 40, CALL_RESUMED);
    replay_screen_put_legend(&shown);
    end("             example+0x1100() {\n"
        "      10 ns  } /* example+0x1100: suspended */\n"
        "      20 ns  example+0x1100(); /* resumed, suspended */\n"
        "             example+0x1100() { /* resumed */\n"
        "      30 ns  } /* example+0x1100 */\n"
        "      40 ns  example+0x1100(); /* resumed */\n"
        "suspended: the thread went on on another stack; durations are those on the own one, so far\n"
        "resumed: it began before, and was suspended, or is that of a process which forked within it\n");
}

static void what_has_no_duration_shows_none(void)
{
    begin(REPLAY_TIME_NONE);
    put(REPLAY_LEAF, 0, 0, CALL_ENTRY_ONLY);
    replay_screen_put_legend(&shown);
    end("          -  example+0x1100();\n"
        "- not known how long it took, nor what it called: only its entry could be seen\n");
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_indented_and_end_with_their_duration),
    CHECK_CASE(guesses_are_told_once_and_above_all_rows),
    CHECK_CASE(guesses_among_measured_times_have_a_sign),
    CHECK_CASE(signs_are_explained_where_they_occur),
    CHECK_CASE(there_may_be_columns_for_time_and_thread),
    CHECK_CASE(values_are_shown_where_there_are_some),
    CHECK_CASE(what_is_missing_is_told),
    CHECK_CASE(parts_of_calls_say_what_they_are),
    CHECK_CASE(what_has_no_duration_shows_none),
};

CHECK_MAIN(cases)
