/* SPDX-License-Identifier: MIT */
/*
 * One line is open at most: that of `open`, whose call has begun and not ended. Threads are a list, the last user
 * first. Where the end of a call decides whether it is shown, its beginning is kept as text, since memory changes
 * meanwhile.
 */
#include "syscalls/output/system_call_lines.h"

#include "syscalls/output/data_dump.h"
#include "syscalls/subject_texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define TEXT_BYTES (256UL << 10)
#define NS_PER_S   1000000000ULL
#define NAME_BYTES 17

struct lines_thread {
    struct lines_thread *next;
    int tid;
    bool in_call;
    bool is_unfinished; /* its line was ended by another's */
    bool is_held;       /* its beginning is in `held` */
    uint64_t number;    /* of its last call */
    char name[NAME_BYTES];
    char *held;
    uint64_t held_ns; /* when that was */
    uint64_t held_pc;
    struct system_call_progress progress;
};

struct system_call_lines {
    FILE *stream;
    struct system_call_lines_options options;
    struct lines_thread *threads;
    size_t thread_count;
    struct lines_thread *open;
    size_t column;
    uint64_t last_ns;
    size_t text_bytes;
    char text[];
};

struct system_call_lines *system_call_lines_create(FILE *stream, const struct system_call_lines_options *options)
{
    /* Every byte of a string may take four characters; whatever else there is has room besides. */
    size_t text_bytes = TEXT_BYTES + 4UL * options->text.string_bytes;
    struct system_call_lines *lines = calloc(1, sizeof(*lines) + text_bytes);

    if (lines == NULL)
        return NULL;
    lines->stream = stream;
    lines->options = *options;
    lines->text_bytes = text_bytes;
    return lines;
}

void system_call_lines_destroy(struct system_call_lines *lines)
{
    while (lines != NULL && lines->threads != NULL) {
        struct lines_thread *next = lines->threads->next;

        free(lines->threads->held);
        free(lines->threads);
        lines->threads = next;
    }
    free(lines);
}

static struct lines_thread *thread_of(struct system_call_lines *lines, int tid)
{
    struct lines_thread *thread;

    for (struct lines_thread **at = &lines->threads; *at != NULL; at = &(*at)->next) {
        thread = *at;
        if (thread->tid != tid)
            continue;
        *at = thread->next;
        thread->next = lines->threads;
        lines->threads = thread;
        return thread;
    }
    thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    thread->next = lines->threads;
    lines->threads = thread;
    lines->thread_count++;
    return thread;
}

static void forget(struct system_call_lines *lines, struct lines_thread *thread)
{
    struct lines_thread **at = &lines->threads;

    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    lines->thread_count--;
    if (lines->open == thread)
        lines->open = NULL;
    free(thread->held);
    free(thread);
}

static void put(struct system_call_lines *lines, const struct text_writer *text)
{
    lines->column += text->used;
    (void)!fwrite(text->start, 1, text->used, lines->stream);
    if (text_truncated(text))
        fputs("...", lines->stream);
}

static void put_string(struct system_call_lines *lines, const char *string)
{
    lines->column += strlen(string);
    fputs(string, lines->stream);
}

static void end_line(struct system_call_lines *lines)
{
    fputc('\n', lines->stream);
    lines->column = 0;
    lines->open = NULL;
}

static void interrupt_open_line(struct system_call_lines *lines)
{
    if (lines->open == NULL)
        return;
    lines->open->is_unfinished = true;
    put_string(lines, " <unfinished ...>");
    end_line(lines);
}

/* ".123456", as many digits as are asked for. */
static void put_fraction(struct text_writer *text, uint64_t ns, unsigned digits)
{
    uint64_t fraction = ns % NS_PER_S;

    for (unsigned i = digits; i < 9; i++)
        fraction /= 10;
    if (digits != 0)
        text_format(text, digits == 3 ? ".%03lu" : digits == 6 ? ".%06lu" : ".%09lu", (unsigned long)fraction);
}

static void put_clock(const struct system_call_lines *lines, struct text_writer *text, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / NS_PER_S);
    struct tm parts;
    char clock[32];

    localtime_r(&seconds, &parts);
    strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
    if (lines->options.times == SYSTEM_CALL_TIMES_OF_DAY)
        text_put_string(text, clock);
    else
        text_format(text, "%ld", (long)seconds);
    put_fraction(text, time_ns, lines->options.time_digits);
    text_put_char(text, ' ');
}

/* In parentheses behind another time. */
static void put_since(struct system_call_lines *lines, struct text_writer *text, uint64_t time_ns)
{
    uint64_t since = lines->last_ns == 0 || time_ns < lines->last_ns ? 0 : time_ns - lines->last_ns;
    bool is_second = lines->options.times != SYSTEM_CALL_TIMES_NONE;
    char seconds[32];

    lines->last_ns = time_ns;
    snprintf(seconds, sizeof(seconds), "%6lu", (unsigned long)(since / NS_PER_S));
    text_put_string(text, is_second ? "(+" : "");
    text_put_string(text, seconds);
    put_fraction(text, since, lines->options.relative_digits);
    text_put_string(text, is_second ? ") " : " ");
}

/* The name of the program that a thread runs; what it was before, where it is gone. */
static const char *name_of(struct lines_thread *thread, int tid)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/comm", tid);
    file = fopen(path, "re");
    if (file == NULL)
        return thread->name;
    if (fgets(thread->name, sizeof(thread->name), file) != NULL)
        thread->name[strcspn(thread->name, "\n")] = '\0';
    fclose(file);
    return thread->name;
}

static void put_id(struct system_call_lines *lines, struct text_writer *text, struct lines_thread *thread)
{
    bool has_column = lines->options.ids == SYSTEM_CALL_IDS_ALWAYS;
    char id[32];

    if (!has_column && (lines->options.ids != SYSTEM_CALL_IDS_WHERE_SEVERAL || lines->thread_count < 2))
        return;
    snprintf(id, sizeof(id), has_column ? "%-5u" : "[pid %5u", (unsigned)thread->tid);
    text_put_string(text, id);
    if (lines->options.has_names) {
        text_put_char(text, '<');
        text_put_string(text, name_of(thread, thread->tid));
        text_put_char(text, '>');
    }
    text_put_string(text, has_column ? " " : "] ");
}

static void put_place(struct text_writer *text, uint64_t pc)
{
    text_put_char(text, '[');
    if (pc == 0)
        text_put_string(text, "????????????????");
    else
        text_put_hex(text, pc, 16);
    text_put_string(text, "] ");
}

/* What comes first in a line. */
static void begin_line(struct system_call_lines *lines, struct lines_thread *thread, uint64_t time_ns, uint64_t pc)
{
    char prefix[256], number[32];
    struct text_writer text;

    interrupt_open_line(lines);
    text_init(&text, prefix, sizeof(prefix));
    put_id(lines, &text, thread);
    if (lines->options.times != SYSTEM_CALL_TIMES_NONE)
        put_clock(lines, &text, time_ns);
    if (lines->options.is_relative)
        put_since(lines, &text, time_ns);
    if (lines->options.has_numbers) {
        snprintf(number, sizeof(number), "[%4lu] ", (unsigned long)thread->number);
        text_put_string(&text, number);
    }
    if (lines->options.has_places)
        put_place(&text, pc);
    put(lines, &text);
}

/* The text of the beginning, until it is known whether it is shown. */
static void hold_entry(struct lines_thread *thread, const struct system_call_event *event, const char *text)
{
    free(thread->held);
    thread->held = strdup(text);
    thread->held_ns = event->time_ns;
    thread->held_pc = event->pc;
    thread->is_held = true;
    thread->in_call = true;
}

static void put_entry(struct system_call_lines *lines, struct lines_thread *thread,
                      const struct system_call_event *event)
{
    struct text_writer text;

    thread->number = event->number;
    thread->is_unfinished = false;
    text_init(&text, lines->text, lines->text_bytes);
    system_call_text_enter(&text, event, &lines->options.text, &thread->progress);
    if (lines->options.filter.hidden_statuses != 0 && event->kind == SYSTEM_CALL_ENTERED) {
        hold_entry(thread, event, lines->text);
        return;
    }
    begin_line(lines, thread, event->kind == SYSTEM_CALL_LEFT ? event->entered_ns : event->time_ns, event->pc);
    put(lines, &text);
    thread->in_call = true;
    lines->open = thread;
}

static void put_held_entry(struct system_call_lines *lines, struct lines_thread *thread)
{
    begin_line(lines, thread, thread->held_ns, thread->held_pc);
    put_string(lines, thread->held == NULL ? "" : thread->held);
    thread->is_held = false;
    lines->open = thread;
}

static void put_duration(const struct system_call_lines *lines, struct text_writer *text, uint64_t ns)
{
    text_format(text, " <%lu", (unsigned long)(ns / NS_PER_S));
    put_fraction(text, ns, lines->options.duration_digits);
    text_put_char(text, '>');
}

static void put_result(struct system_call_lines *lines, const struct system_call_event *event)
{
    struct text_writer text;

    put_string(lines, " ");
    while (lines->column < lines->options.result_column)
        put_string(lines, " ");
    text_init(&text, lines->text, lines->text_bytes);
    text_put_string(&text, "= ");
    system_call_text_result(&text, event, &lines->options.text);
    if (lines->options.has_durations && (event->flags & SYSTEM_CALL_NEVER_RETURNS) == 0)
        put_duration(lines, &text, event->system_ns);
    put(lines, &text);
    end_line(lines);
}

/* Calls that end by the end of their thread are not written as others are. */
static bool ends_by_itself(uint64_t number)
{
    const struct system_call_signature *call = system_call_by_number(number);

    return call != NULL && (strcmp(call->name, "exit") == 0 || strcmp(call->name, "exit_group") == 0);
}

static void put_exit(struct system_call_lines *lines, struct lines_thread *thread,
                     const struct system_call_event *event)
{
    struct text_writer text;

    if (!thread->in_call)
        put_entry(lines, thread, event);
    if (thread->is_held)
        put_held_entry(lines, thread);
    if (lines->open != thread) {
        begin_line(lines, thread, event->time_ns, event->pc);
        text_init(&text, lines->text, lines->text_bytes);
        text_put_string(&text, "<... ");
        system_call_text_name(&text, event->number);
        text_put_string(&text, " resumed>");
        put(lines, &text);
    }
    lines->open = NULL;
    if ((event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0 && !ends_by_itself(event->number)) {
        put_string(lines, " <unfinished ...>)");
    } else {
        text_init(&text, lines->text, lines->text_bytes);
        system_call_text_leave(&text, event, &lines->options.text, &thread->progress);
        put(lines, &text);
    }
    put_result(lines, event);
    if (lines->options.dumped != NULL)
        data_dump_put(lines->options.dumped, lines->stream, event);
    if (lines->options.put_stack != NULL && (event->flags & SYSTEM_CALL_NEVER_RETURNS) == 0)
        lines->options.put_stack(lines->stream, event);
    thread->in_call = false;
}

static void put_signal(struct system_call_lines *lines, struct lines_thread *thread,
                       const struct system_call_event *event)
{
    struct text_writer text;

    if (!system_call_filter_shows(&lines->options.filter, event))
        return;
    begin_line(lines, thread, event->time_ns, event->pc);
    text_init(&text, lines->text, lines->text_bytes);
    text_put_string(&text, event->kind == SYSTEM_CALL_STOPPED ? "--- stopped by " : "--- ");
    signal_text_put(&text, event->signal);
    if (event->kind == SYSTEM_CALL_SIGNALLED) {
        text_put_char(&text, ' ');
        text.style = (uint8_t)lines->options.text.constants;
        signal_text_put_info(&text, event->siginfo);
    }
    text_put_string(&text, " ---");
    put(lines, &text);
    end_line(lines);
}

static void put_end(struct system_call_lines *lines, struct lines_thread *thread, const struct system_call_event *event)
{
    struct text_writer text;

    if (!lines->options.hides_ends && system_call_filter_shows(&lines->options.filter, event)) {
        begin_line(lines, thread, event->time_ns, 0);
        text_init(&text, lines->text, lines->text_bytes);
        if (WIFSIGNALED(event->status)) {
            text_put_string(&text, "+++ killed by ");
            signal_text_put(&text, WTERMSIG(event->status));
            text_put_string(&text, WCOREDUMP(event->status) ? " (core dumped) +++" : " +++");
        } else {
            text_format(&text, "+++ exited with %d +++", WEXITSTATUS(event->status));
        }
        put(lines, &text);
        end_line(lines);
    }
    forget(lines, thread);
}

static void put_detached(struct system_call_lines *lines, struct lines_thread *thread)
{
    if (thread->is_held && (lines->options.filter.hidden_statuses & SYSTEM_CALL_STATUS_DETACHED) == 0)
        put_held_entry(lines, thread);
    if (lines->open == thread) {
        put_string(lines, " <detached ...>");
        end_line(lines);
    }
    forget(lines, thread);
}

/* Two ids become one: what the executing thread has open is taken up by the first thread of the process. */
static void put_replacement(struct system_call_lines *lines, struct lines_thread *thread,
                            const struct system_call_event *event)
{
    struct lines_thread *executing = thread_of(lines, event->status);
    struct text_writer text;

    if (!lines->options.hides_replacements) {
        begin_line(lines, thread, event->time_ns, 0);
        text_init(&text, lines->text, lines->text_bytes);
        text_format(&text, "+++ superseded by execve in pid %d +++", event->status);
        put(lines, &text);
        end_line(lines);
    }
    if (executing == NULL)
        return;
    executing->tid = thread->tid;
    executing->is_unfinished = true;
    forget(lines, thread);
}

void system_call_lines_put(struct system_call_lines *lines, const struct system_call_event *event)
{
    struct lines_thread *thread = thread_of(lines, event->tid);

    if (thread == NULL)
        return;
    /* Of signals and ends it is the call before, where the source knows that. */
    if (event->number != 0)
        thread->number = event->number;
    switch (event->kind) {
    case SYSTEM_CALL_ENTERED:
        put_entry(lines, thread, event);
        break;
    case SYSTEM_CALL_LEFT:
        if (system_call_filter_shows(&lines->options.filter, event))
            put_exit(lines, thread, event);
        else
            thread->in_call = thread->is_held = false;
        break;
    case SYSTEM_CALL_SIGNALLED:
    case SYSTEM_CALL_STOPPED:
        put_signal(lines, thread, event);
        break;
    case SYSTEM_CALL_EXITED:
        put_end(lines, thread, event);
        break;
    case SYSTEM_CALL_REPLACED:
        put_replacement(lines, thread, event);
        break;
    case SYSTEM_CALL_DETACHED:
        put_detached(lines, thread);
        break;
    }
}

void system_call_lines_turn_to(struct system_call_lines *lines, FILE *stream)
{
    lines->stream = stream;
}

void system_call_lines_detach(struct system_call_lines *lines)
{
    for (struct lines_thread *thread = lines->threads; thread != NULL; thread = thread->next)
        if (thread->is_held && (lines->options.filter.hidden_statuses & SYSTEM_CALL_STATUS_DETACHED) == 0)
            put_held_entry(lines, thread);
    if (lines->open == NULL)
        return;
    put_string(lines, " <detached ...>");
    end_line(lines);
}
