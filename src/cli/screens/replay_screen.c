/* SPDX-License-Identifier: MIT */
#include "cli/screens/replay_screen.h"

#include "cli/screens/guess_notice.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "symbolize/function_spelling.h"
#include "trace/detail_text.h"
#include "trace/kernel_events.h"
#include "view/call_tracker.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NAME_BYTES        1024
#define DURATION_COLUMNS  11
#define RELATIVE_COLUMNS  14
#define ABSOLUTE_COLUMNS  18
#define THREAD_BYTES      40
#define LONG_NS           1e6
#define KERNEL_TEXT_BYTES 4096
#define LEVELS_MAX        100 /* what is deeper is not indented any more */

void replay_screen_init(struct replay_screen *shown, struct screen *screen, struct view_functions *functions,
                        enum replay_time time)
{
    *shown = (struct replay_screen){.screen = screen,
                                    .functions = functions,
                                    .time = time,
                                    .tick_ns = view_clock_tick_ns(&functions->trace->clock)};
}

/* "name 1234" */
static const char *thread_text(const struct replay_screen *shown, size_t thread, char text[THREAD_BYTES])
{
    const struct view_thread *which = &shown->functions->trace->threads[thread];
    char clean[THREAD_BYTES / 2];

    printable(clean, sizeof(clean), which->name);
    snprintf(text, THREAD_BYTES, "%s%s%" PRIu32, clean, clean[0] == '\0' ? "" : " ", which->tid);
    return text;
}

void replay_screen_add_threads(struct replay_screen *shown, const size_t *threads, size_t count)
{
    char text[THREAD_BYTES];

    shown->thread_columns = (unsigned)strlen("thread");
    for (size_t i = 0; i < count; i++) {
        unsigned length = (unsigned)strlen(thread_text(shown, threads[i], text));

        if (length > shown->thread_columns)
            shown->thread_columns = length;
    }
}

void replay_screen_set_guesses(struct replay_screen *shown, enum guessed_times guesses, const char *threshold)
{
    shown->guesses = guesses;
    shown->threshold = threshold;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static void put_right(struct replay_screen *shown, enum screen_style style, unsigned columns, const char *text)
{
    unsigned length = (unsigned)strlen(text);

    if (length < columns)
        screen_print(shown->screen, "%*s", (int)(columns - length), "");
    screen_put(shown->screen, style, 0, text);
}

void replay_screen_put_heading(struct replay_screen *shown)
{
    (void)guess_notice_put(shown->screen, shown->guesses, shown->threshold);
    if (shown->time == REPLAY_TIME_RELATIVE)
        put_right(shown, SCREEN_STRONG, RELATIVE_COLUMNS, "time");
    else if (shown->time == REPLAY_TIME_ABSOLUTE)
        put_right(shown, SCREEN_STRONG, ABSOLUTE_COLUMNS, "time (UTC)");
    put_right(shown, SCREEN_STRONG, DURATION_COLUMNS, shown->guesses == GUESSED_TIMES_ALL ? "guessed" : "duration");
    if (shown->thread_columns != 0) {
        screen_print(shown->screen, "  ");
        screen_put(shown->screen, SCREEN_STRONG, shown->thread_columns, "thread");
    }
    screen_print(shown->screen, "  ");
    screen_put(shown->screen, SCREEN_STRONG, 0, "calls");
    screen_print(shown->screen, "\n");
    shown->line_count++;
}

static void put_time(struct replay_screen *shown, uint64_t counter)
{
    const struct view_trace *trace = shown->functions->trace;
    uint64_t ns = view_trace_ns(trace, counter);
    char text[64];

    if (shown->time == REPLAY_TIME_NONE)
        return;
    if (shown->time == REPLAY_TIME_ABSOLUTE) {
        ns += trace->manifest.began_unix_ns;
        time_t seconds = (time_t)(ns / 1000000000);
        struct tm parts;

        if (gmtime_r(&seconds, &parts) == NULL)
            return;
        snprintf(text, sizeof(text), "%02d:%02d:%02d.%09" PRIu64, parts.tm_hour, parts.tm_min, parts.tm_sec,
                 ns % 1000000000);
        put_right(shown, SCREEN_FAINT, ABSOLUTE_COLUMNS, text);
        return;
    }
    snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    put_right(shown, SCREEN_FAINT, RELATIVE_COLUMNS, text);
}

/* "<" and ">" say more than "~" does, which is not needed where the heading says it of all. */
static const char *sign_of(const struct replay_screen *shown, uint32_t flags)
{
    if (flags & CALL_CUT)
        return ">";
    if (flags & CALL_NO_RETURN)
        return "<";
    return flags & CALL_GUESSED && shown->guesses != GUESSED_TIMES_ALL ? "~" : "";
}

static void put_duration(struct replay_screen *shown, const struct replay_row *row)
{
    double ns = (double)row->ticks * shown->tick_ns;
    char duration[FIGURE_BYTES], text[FIGURE_BYTES + 1];

    if (row->kind != REPLAY_CLOSE && row->kind != REPLAY_LEAF && row->kind != REPLAY_SYSTEM_CALL) {
        screen_print(shown->screen, "%*s", DURATION_COLUMNS, "");
        return;
    }
    if (row->flags & CALL_ENTRY_ONLY) {
        put_right(shown, SCREEN_FAINT, DURATION_COLUMNS, "-");
        return;
    }
    if (row->flags & CALL_GUESSED)
        duration_write_rough(ns, duration);
    else
        duration_write(ns, duration);
    snprintf(text, sizeof(text), "%s%s", sign_of(shown, row->flags), duration);
    put_right(shown,
              row->flags & CALL_GUESSED ? SCREEN_FAINT
              : ns >= LONG_NS           ? SCREEN_CHANGED
                                        : SCREEN_PLAIN,
              DURATION_COLUMNS, text);
}

/* All that stands before the call. */
static void put_columns(struct replay_screen *shown, const struct replay_row *row)
{
    char text[THREAD_BYTES];
    uint32_t level = row->level < LEVELS_MAX ? row->level : LEVELS_MAX;

    put_time(shown, row->time);
    put_duration(shown, row);
    if (shown->thread_columns != 0) {
        screen_print(shown->screen, "  ");
        screen_put(shown->screen, SCREEN_FAINT, shown->thread_columns, thread_text(shown, row->thread, text));
    }
    screen_print(shown->screen, "  %*s", (int)(2 * level), "");
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The name, without parameters of C++ where there are values of them. */
static void put_name(struct replay_screen *shown, const struct replay_row *row)
{
    char clean[NAME_BYTES], values[DETAIL_TEXT_BYTES];
    size_t length;

    printable(clean, sizeof(clean), view_functions_at(shown->functions, row->function)->name);
    length = function_spelling_bare_length(clean);
    if (row->arguments != NULL)
        screen_print(shown->screen, "%.*s(%s)", (int)length, clean, printable(values, sizeof(values), row->arguments));
    else
        screen_print(shown->screen, "%s%s", clean, clean[length] == '(' ? "" : "()");
}

static void put_result(struct replay_screen *shown, const struct replay_row *row)
{
    char values[DETAIL_TEXT_BYTES];

    if (row->result != NULL)
        screen_print(shown->screen, " = %s", printable(values, sizeof(values), row->result));
}

/* What became of it, behind its name; "" if it returned. */
static const char *end_words(uint32_t flags)
{
    if (flags & CALL_SUSPENDED)
        return "suspended";
    return flags & CALL_UNWOUND ? "unwound" : "";
}

static void put_open(struct replay_screen *shown, const struct replay_row *row)
{
    put_name(shown, row);
    screen_print(shown->screen, " {");
    if (row->flags & CALL_RESUMED)
        screen_put(shown->screen, SCREEN_FAINT, 0, " /* resumed */");
}

static void put_close(struct replay_screen *shown, const struct replay_row *row)
{
    char clean[NAME_BYTES], comment[NAME_BYTES + 32];
    const char *words;

    printable(clean, sizeof(clean), view_functions_at(shown->functions, row->function)->name);
    clean[function_spelling_bare_length(clean)] = '\0';
    screen_print(shown->screen, "}");
    put_result(shown, row);
    words = end_words(row->flags);
    snprintf(comment, sizeof(comment), " /* %s%s%s */", clean, words[0] == '\0' ? "" : ": ", words);
    screen_put(shown->screen, SCREEN_FAINT, 0, comment);
}

static void put_leaf(struct replay_screen *shown, const struct replay_row *row)
{
    bool is_resumed = row->flags & CALL_RESUMED;
    char comment[32];
    const char *words;

    put_name(shown, row);
    put_result(shown, row);
    screen_print(shown->screen, ";");
    words = end_words(row->flags);
    snprintf(comment, sizeof(comment), " /* %s%s%s */", is_resumed ? "resumed" : "",
             is_resumed && words[0] != '\0' ? ", " : "", words);
    if (is_resumed || words[0] != '\0')
        screen_put(shown->screen, SCREEN_FAINT, 0, comment);
}

/* What is in it are names of the program, and what it had in memory. */
static void put_probe(struct replay_screen *shown, const struct replay_row *row)
{
    char clean[DETAIL_TEXT_BYTES];

    screen_put(shown->screen, SCREEN_FAINT, 0, "probe ");
    screen_print(shown->screen, "%s", printable(clean, sizeof(clean), row->arguments == NULL ? "" : row->arguments));
}

/* As strace writes it, so that it is not taken for a call of the function with that name. */
static void put_system_call(struct replay_screen *shown, const struct replay_row *row)
{
    char clean[DETAIL_TEXT_BYTES];

    screen_put(shown->screen, SCREEN_FAINT, 0, "syscall ");
    screen_print(shown->screen, "%s", printable(clean, sizeof(clean), row->arguments));
}

static void put_gap(struct replay_screen *shown, const struct replay_row *row)
{
    char text[96];

    if (row->lost_bytes != 0)
        snprintf(text, sizeof(text), "... events are missing here: %" PRIu64 " bytes were lost", row->lost_bytes);
    else
        snprintf(text, sizeof(text), "... what happened here was not kept");
    screen_put(shown->screen, SCREEN_CHANGED, 0, text);
}

static void put_thread(struct replay_screen *shown, const struct replay_row *row)
{
    const struct view_trace *trace = shown->functions->trace;
    const struct view_process *process = view_trace_process_of(trace, row->thread);
    char text[THREAD_BYTES], clean[NAME_BYTES];

    /* The heading and this are there already. */
    if (shown->line_count > 2)
        screen_print(shown->screen, "\n");
    screen_put(shown->screen, SCREEN_STRONG, 0, "thread ");
    screen_put(shown->screen, SCREEN_STRONG, 0, thread_text(shown, row->thread, text));
    screen_print(shown->screen, " of process %" PRIu32 "%s%s\n", process->pid, process->command[0] == '\0' ? "" : ": ",
                 printable(clean, sizeof(clean), process->command));
}

static void note(struct replay_screen *shown, const struct replay_row *row)
{
    shown->line_count++;
    if (row->kind == REPLAY_CLOSE || row->kind == REPLAY_LEAF)
        shown->flags |= row->flags;
    shown->has_gaps |= row->kind == REPLAY_GAP;
    shown->has_unsure |= row->kind == REPLAY_UNSURE;
}

void replay_screen_put(struct replay_screen *shown, const struct replay_row *row)
{
    note(shown, row);
    if (row->kind == REPLAY_THREAD) {
        put_thread(shown, row);
        return;
    }
    put_columns(shown, row);
    if (row->kind == REPLAY_OPEN) {
        put_open(shown, row);
    } else if (row->kind == REPLAY_CLOSE) {
        put_close(shown, row);
    } else if (row->kind == REPLAY_LEAF) {
        put_leaf(shown, row);
    } else if (row->kind == REPLAY_GAP) {
        put_gap(shown, row);
    } else if (row->kind == REPLAY_SYSTEM_CALL) {
        put_system_call(shown, row);
    } else if (row->kind == REPLAY_PROBE) {
        put_probe(shown, row);
    } else {
        screen_put(shown->screen, SCREEN_CHANGED, 0, "... captured arguments are missing here");
    }
    screen_print(shown->screen, "\n");
}

/* Not indented: it is no part of a call, whatever its thread was in. */
void replay_screen_put_kernel(struct replay_screen *shown, const struct kernel_event *event, const char *name,
                              const char *fields, const char *thread)
{
    char clean[KERNEL_TEXT_BYTES], text[THREAD_BYTES], who[THREAD_BYTES / 2];

    shown->line_count++;
    put_time(shown, event->time);
    screen_print(shown->screen, "%*s", DURATION_COLUMNS, "");
    if (shown->thread_columns != 0) {
        printable(who, sizeof(who), thread);
        snprintf(text, sizeof(text), "%s%s%" PRIu32, who, who[0] == '\0' ? "" : " ", event->tid);
        screen_print(shown->screen, "  ");
        screen_put(shown->screen, SCREEN_FAINT, shown->thread_columns, text);
    }
    screen_print(shown->screen, "  ");
    screen_put(shown->screen, SCREEN_FAINT, 0, "* ");
    screen_put(shown->screen, SCREEN_STRONG, 0, printable(clean, sizeof(clean), name));
    screen_print(shown->screen, " %s\n", printable(clean, sizeof(clean), fields));
}

void replay_screen_put_legend(struct replay_screen *shown)
{
    static const struct {
        uint32_t flag;
        const char *text;
    } legends[] = {
        {CALL_CUT, "> it took longer: the recording ended, or events are missing"},
        {CALL_NO_RETURN, "< it took that at most: its return was not seen, as of calls into what was left out"},
        {CALL_ENTRY_ONLY, "- not known how long it took, nor what it called: only its entry could be seen"},
        {CALL_UNWOUND, "unwound: an exception or a long jump ended it"},
        {CALL_SUSPENDED, "suspended: the thread went on on another stack; durations are those on the own one, so far"},
        {CALL_RESUMED, "resumed: it began before, and was suspended, or is that of a process which forked within it"},
    };

    for (size_t i = 0; i < sizeof(legends) / sizeof(legends[0]); i++)
        if (shown->flags & legends[i].flag) {
            screen_put(shown->screen, SCREEN_FAINT, 0, legends[i].text);
            screen_print(shown->screen, "\n");
        }
    if (shown->has_unsure)
        screen_print(shown->screen,
                     "where captured arguments are missing, those that follow may be of a call nearby\n");
}
