/* SPDX-License-Identifier: MIT */
/* Three numbers before, after, and between: what is sorted by, if that is a time, else the total; self time; calls. */
#include "cli/screens/report_sections.h"

#include "cli/screens/guess_notice.h"
#include "cli/screens/printable.h"
#include "cli/screens/screen.h"
#include "hosted/figures.h"
#include "report/report_diff.h"
#include "report/report_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES       1024
#define NAME_COLUMNS_MIN 8
#define NAME_COLUMNS_MAX 40

struct changes {
    struct screen *screen;
    const struct report_diff *diff;
    enum report_order first; /* of the first three columns */
    bool has_times;
};

static void put_time(const struct changes *changes, double nanoseconds, bool is_known)
{
    char text[FIGURE_BYTES];

    screen_print(changes->screen, " %9s", is_known ? duration_write(nanoseconds, text) : "-");
}

/* "+1.500 us" */
static void put_time_difference(const struct changes *changes, double nanoseconds)
{
    char text[FIGURE_BYTES], shown[FIGURE_BYTES + 1];

    duration_write(nanoseconds < 0 ? -nanoseconds : nanoseconds, text);
    snprintf(shown, sizeof(shown), "%s%s", nanoseconds < 0 ? "-" : "+", text);
    screen_print(changes->screen, " %10s", shown);
}

static void put_times(const struct changes *changes, const struct report_change *change, enum report_order order)
{
    const struct report_diff *diff = changes->diff;
    double before = report_diff_value(diff->before, &change->before, order);
    double after = report_diff_value(diff->after, &change->after, order);

    bool is_before_known = call_statistics_have_times(&change->before);
    bool is_after_known = call_statistics_have_times(&change->after);

    put_time(changes, before, is_before_known);
    put_time(changes, after, is_after_known);
    if (is_before_known || is_after_known)
        put_time_difference(changes, after - before);
    else
        screen_print(changes->screen, " %10s", "-");
}

static void put_change(const struct changes *changes, const struct report_change *change, int name_columns)
{
    int64_t more = (int64_t)(change->after.calls - change->before.calls);
    const char *state = change->before.calls == 0 ? "new" : change->after.calls == 0 ? "gone" : "";
    char clean[TEXT_BYTES];

    if (changes->has_times) {
        put_times(changes, change, changes->first);
        put_times(changes, change, REPORT_BY_SELF);
    }
    screen_print(changes->screen, " %10" PRIu64 " %10" PRIu64, change->before.calls, change->after.calls);
    screen_print(changes->screen, more == 0 ? " %11" PRId64 : " %+11" PRId64, more);
    screen_print(changes->screen, "  %-4s  ", state);
    printable(clean, sizeof(clean), change->name[0] == '\0' ? "without a name" : change->name);
    if (change->module[0] == '\0')
        screen_print(changes->screen, "%s\n", clean);
    else {
        screen_print(changes->screen, "%-*s  ", name_columns, clean);
        screen_print(changes->screen, "%s\n", printable(clean, sizeof(clean), change->module));
    }
}

static void put_heading(const struct changes *changes, int name_columns)
{
    enum call_group_kind kind = changes->diff->before->groups.kind;
    char text[TEXT_BYTES];
    int used = 0;

    if (changes->has_times) {
        snprintf(text, sizeof(text), "\n %-30s %-30s %s\n", report_order_name(changes->first), "self", "calls");
        screen_put(changes->screen, SCREEN_STRONG, 0, text);
        used = snprintf(text, sizeof(text), " %9s %9s %10s %9s %9s %10s", "before", "after", "change", "before",
                        "after", "change");
    } else {
        screen_put(changes->screen, SCREEN_STRONG, 0, "\n calls\n");
    }
    used +=
        snprintf(text + used, sizeof(text) - (size_t)used, " %10s %10s %11s  %-4s", "before", "after", "change", "");
    snprintf(text + used, sizeof(text) - (size_t)used, kind == CALL_GROUP_FUNCTION ? "  %-*s  module\n" : "  %-*s\n",
             kind == CALL_GROUP_FUNCTION ? name_columns : 0, report_kind_name(kind));
    screen_put(changes->screen, SCREEN_FAINT, 0, text);
}

static int count_columns(const struct report_diff *diff, size_t shown)
{
    size_t columns = NAME_COLUMNS_MIN;

    for (size_t i = 0; i < shown; i++) {
        size_t length = strlen(diff->changes[i].name);

        if (length > columns && length <= NAME_COLUMNS_MAX)
            columns = length;
    }
    return (int)columns;
}

static void put_trace(struct screen *screen, const char *name, const char *path, const struct trace_report *report)
{
    char clean[TEXT_BYTES], duration[FIGURE_BYTES], calls[FIGURE_BYTES], lost[FIGURE_BYTES];

    screen_put(screen, SCREEN_STRONG, 8, name);
    screen_print(screen, "%s: ", printable(clean, sizeof(clean), path));
    screen_print(screen, "%s, for %s, %s calls, %s of records lost\n",
                 printable(clean, sizeof(clean), report->trace->manifest.program),
                 duration_write((double)report_duration_ns(report), duration), count_write(report->all.calls, calls),
                 size_write(trace_report_lost_bytes(report), lost));
}

/* A guess in one of them makes every difference one. */
static void put_guesses(struct screen *screen, const struct report_diff *diff)
{
    if (diff->before->has_guesses || diff->after->has_guesses)
        (void)guess_notice_put(screen, GUESSED_TIMES_ALL, NULL);
}

void report_changes_show(struct screen *screen, const struct report_diff *diff, const char *before_path,
                         const char *after_path, size_t limit)
{
    bool is_time = diff->order == REPORT_BY_AVERAGE || diff->order == REPORT_BY_P99 || diff->order == REPORT_BY_LONGEST;
    struct changes changes = {screen, diff, is_time ? diff->order : REPORT_BY_TOTAL,
                              diff->before->has_times && diff->after->has_times};
    size_t shown = diff->count < limit ? diff->count : limit;
    int columns = count_columns(diff, shown);

    put_trace(screen, "before", before_path, diff->before);
    put_trace(screen, "after", after_path, diff->after);
    put_guesses(screen, diff);
    if (diff->count == 0) {
        screen_print(screen, "There are no calls in either.\n");
        return;
    }
    put_heading(&changes, columns);
    for (size_t i = 0; i < shown; i++)
        put_change(&changes, &diff->changes[i], columns);
    if (shown < diff->count)
        screen_print(screen, "and %zu more; --limit shows them\n", diff->count - shown);
}
