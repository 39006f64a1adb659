/* SPDX-License-Identifier: MIT */
/*
 * A table says what options take: one of some words, several of them with commas between, or what a function finds
 * here and now. Lists that would be endless are cut off: nobody reads them.
 */
#define _GNU_SOURCE
#include "cli/completed_values.h"

#include "cli/screens/screen.h"
#include "export/export_format.h"
#include "kernel/source.h"
#include "kernel/user_code.h"
#include "report/report_rows.h"
#include "trace/trace_layout.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES   1024
#define LINES_MAX    2000u
#define TRACE_FOLDER "traces"
#define FUNCTION_OF  "--hook,--detail,--arg,--stack,--exclude"

struct listing {
    struct screen *screen;
    const char *part;
    unsigned count;
};

static bool begins_with(const char *text, const char *part)
{
    return strncmp(text, part, strlen(part)) == 0;
}

/* Whether a text is one of a list with commas between. */
static bool is_among(const char *list, const char *text)
{
    size_t length = strlen(text);

    for (const char *at = list; *at != '\0'; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == length && strncmp(at, text, length) == 0)
            return true;
    return false;
}

/* ---- words that are known ---------------------------------------------------------------------------------------- */

static void put_words(struct screen *screen, const char *words, const char *part)
{
    size_t length;

    for (const char *at = words; *at != '\0'; at += length + (at[length] != '\0')) {
        length = strcspn(at, "|");
        if (strlen(part) <= length && strncmp(at, part, strlen(part)) == 0)
            screen_print(screen, "%.*s\n", (int)length, at);
    }
}

/* Several: what stands before the last comma stays. */
static void put_list(struct screen *screen, const char *words, const char *part)
{
    const char *comma = strrchr(part, ',');
    const char *last = comma == NULL ? part : comma + 1;
    size_t length;

    for (const char *at = words; *at != '\0'; at += length + (at[length] != '\0')) {
        length = strcspn(at, "|");
        if (strlen(last) <= length && strncmp(at, last, strlen(last)) == 0)
            screen_print(screen, "%.*s%.*s\n", (int)(last - part), part, (int)length, at);
    }
}

static void put_formats(struct screen *screen, const char *part)
{
    const struct export_format *format;

    for (size_t i = 0; (format = export_formats_get(i)) != NULL; i++)
        if (begins_with(format->name, part))
            screen_print(screen, "%s\n", format->name);
}

/* ---- what is here ------------------------------------------------------------------------------------------------ */

static void put_traces(struct screen *screen, const char *part)
{
    DIR *folder = opendir(TRACE_FOLDER);
    char path[TEXT_BYTES];
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof(path), TRACE_FOLDER "/%s/" TRACE_MANIFEST_NAME, entry->d_name);
        if (access(path, F_OK) != 0)
            continue;
        snprintf(path, sizeof(path), TRACE_FOLDER "/%s", entry->d_name);
        if (begins_with(path, part))
            screen_print(screen, "%s\n", path);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Processes of this user, or of all for root; not the shell's question itself. */
static void put_processes(struct screen *screen, const char *part)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        long pid = strtol(entry->d_name, NULL, 10);
        struct stat status;

        if (pid > 0 && pid != getpid() && begins_with(entry->d_name, part) &&
            fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && (geteuid() == 0 || status.st_uid == geteuid()))
            screen_print(screen, "%s\n", entry->d_name);
    }
    if (folder != NULL)
        closedir(folder);
}

static int put_function(void *context, const struct user_function *function)
{
    struct listing *listing = context;

    screen_print(listing->screen, "%.*s\n", (int)function->name_length, function->name);
    return ++listing->count == LINES_MAX;
}

/* Functions of a program or a library. Names that would be patterns are none. */
static void put_functions(struct screen *screen, const char *file, const char *part)
{
    struct listing listing = {screen, part, 0};
    char pattern[TEXT_BYTES];
    struct user_code code;

    if (strpbrk(part, "*?[!:") != NULL || user_code_open(file, &code, NULL) != 0)
        return;
    snprintf(pattern, sizeof(pattern), "%s*", part);
    (void)!user_code_list(&code, pattern, put_function, &listing);
    user_code_close(&code);
}

/* ---- places that the kernel watches ------------------------------------------------------------------------------ */

static int put_place(void *context, const char *spec)
{
    struct listing *listing = context;

    if (begins_with(spec, listing->part)) {
        screen_print(listing->screen, "%s\n", spec);
        listing->count++;
    }
    return listing->count == LINES_MAX;
}

static void put_kinds(struct screen *screen, const char *part)
{
    for (unsigned kind = 0; kind < PROBE_KINDS; kind++)
        if (begins_with(probe_kind_name((enum probe_kind)kind), part))
            screen_print(screen, "%s:\n", probe_kind_name((enum probe_kind)kind));
}

static unsigned colons_in(const char *text)
{
    unsigned count = 0;

    for (; *text != '\0'; text++)
        count += *text == ':';
    return count;
}

static void put_places(struct screen *screen, const char *part)
{
    struct listing listing = {screen, part, 0};
    struct probe_spec spec;
    char pattern[TEXT_BYTES];

    if (strchr(part, ':') == NULL) {
        put_kinds(screen, part);
        return;
    }
    snprintf(pattern, sizeof(pattern), "%s*%s", part,
             begins_with(part, "tracepoint:") && colons_in(part) == 1 ? ":*" : "");
    if (probe_spec_parse(pattern, &spec, NULL) != 0)
        return;
    (void)!source_list(&spec, put_place, &listing, NULL);
    probe_spec_deinit(&spec);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

enum completed_kind { VALUE_WORD, VALUE_LIST, VALUE_FORMAT, VALUE_TRACE, VALUE_PROCESS, VALUE_PLACE, VALUE_OTHER };

/* Commands and options with commas between; the first line that fits counts. */
static const struct {
    const char *commands;
    const char *options;
    enum completed_kind kind;
    const char *words; /* with | between */
} values[] = {
    {"spawn,attach", "--follow", VALUE_LIST, "none|call|ret|block|exec|compile"},
    {"dump block", "--events", VALUE_LIST, "call|ret|exec|block|compile"},
    {"spawn,attach", "--overflow", VALUE_WORD, "drop|block"},
    {"spawn,attach", "--keep-names", VALUE_WORD, "yes|no"},
    {"spawn,attach", "--sync", VALUE_WORD, "never|end"},
    {"spawn,attach", "--trigger", VALUE_WORD, "symbol=|slow=|crash|signal=SIG|time=+|every=|manual"},
    {"spawn,attach", "--probe", VALUE_PLACE, NULL},
    {"report", "--by", VALUE_WORD, REPORT_KIND_NAMES},
    {"report", "--sort", VALUE_WORD, REPORT_ORDER_NAMES},
    {"report", "--diff", VALUE_TRACE, NULL},
    {"replay", "--time", VALUE_WORD, "relative|absolute"},
    {"probe", "--by", VALUE_WORD, "pid|tid|uid|cpu|comm"},
    {"probe", "--list,-l", VALUE_PLACE, NULL},
    {"probe", "--pid,-p", VALUE_PROCESS, NULL},
    {"syscalls", "-p", VALUE_PROCESS, NULL},
    {"syscalls", "--via", VALUE_WORD, "inside|ptrace|kernel"},
    {"syscalls", "-e", VALUE_WORD, "trace=|inject=|fault="},
    {"export", "--format,-f", VALUE_FORMAT, NULL},
    {"dump relocation", "--spill", VALUE_WORD, "stack|segment"},
    {"dump relocation", "--return", VALUE_WORD, "copy|original"},
    {"spawn", FUNCTION_OF ",--output,-o,--config,--follow-thread,--buffer,--duration,--rotate,--keep", VALUE_OTHER,
     NULL},
};

/* Functions of the process that is named before: what may be hooked in it. */
static bool put_functions_of_process(struct screen *screen, const struct completed_line *line, const char *option,
                                     const char *part)
{
    char path[64];

    if (strcmp(line->command, "attach") != 0 || !is_among(FUNCTION_OF, option))
        return false;
    for (int i = 0; i < line->word_count; i++)
        if (line->words[i][0] != '\0' && line->words[i][strspn(line->words[i], "0123456789")] == '\0') {
            snprintf(path, sizeof(path), "/proc/%s/exe", line->words[i]);
            put_functions(screen, path, part);
        }
    return true;
}

static void put_value(struct screen *screen, size_t which, const char *part)
{
    switch (values[which].kind) {
    case VALUE_WORD:
        put_words(screen, values[which].words, part);
        break;
    case VALUE_LIST:
        put_list(screen, values[which].words, part);
        break;
    case VALUE_FORMAT:
        put_formats(screen, part);
        break;
    case VALUE_TRACE:
        put_traces(screen, part);
        break;
    case VALUE_PROCESS:
        put_processes(screen, part);
        break;
    case VALUE_PLACE:
        put_places(screen, part);
        break;
    case VALUE_OTHER:
        break;
    }
}

bool completed_values_put_option(struct screen *screen, const struct completed_line *line, const char *option,
                                 const char *part)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (is_among(values[i].commands, line->command) && is_among(values[i].options, option)) {
            put_value(screen, i, part);
            return true;
        }
    return put_functions_of_process(screen, line, option, part);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

/* The last word before that is none of an option; NULL: there is none. */
static const char *word_before(const struct completed_line *line)
{
    const char *word = line->word_count == 0 ? NULL : line->words[line->word_count - 1];

    return word == NULL || word[0] == '-' ? NULL : word;
}

void completed_values_put_argument(struct screen *screen, const struct completed_line *line)
{
    static const char traces[] =
        "report,replay,graph,query,stacks,coverage,export,pack,verify,dump events,dump details";
    const char *before = word_before(line);

    if (is_among(traces, line->command))
        put_traces(screen, line->part);
    else if (is_among("attach,detach,trigger,stats", line->command))
        put_processes(screen, line->part);
    else if (strcmp(line->command, "probe") == 0)
        put_places(screen, line->part);
    else if (is_among("disassemble,dump block,dump relocation", line->command) && before != NULL)
        put_functions(screen, before, line->part);
}
