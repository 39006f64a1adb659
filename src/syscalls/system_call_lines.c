/* SPDX-License-Identifier: MIT */
/* One line is open at most: that of `open`, whose call has begun and not ended. Threads are a list, the last user
 * first. */
#include "syscalls/system_call_lines.h"

#include "syscalls/subject_texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define RESULT_COLUMN 40
#define TEXT_BYTES    (256UL << 10)
#define NS_PER_S      1000000000ULL

struct lines_thread {
    struct lines_thread *next;
    int tid;
    bool in_call;
    bool is_unfinished; /* its line was ended by another's */
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

static void put_clock(struct system_call_lines *lines, uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / NS_PER_S);
    unsigned micro = (unsigned)(time_ns % NS_PER_S / 1000);
    struct tm parts;
    char clock[32], text[64];

    localtime_r(&seconds, &parts);
    strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
    if (lines->options.times == SYSTEM_CALL_TIMES_SECONDS)
        snprintf(text, sizeof(text), "%s ", clock);
    else if (lines->options.times == SYSTEM_CALL_TIMES_MICROSECONDS)
        snprintf(text, sizeof(text), "%s.%06u ", clock, micro);
    else
        snprintf(text, sizeof(text), "%ld.%06u ", (long)seconds, micro);
    put_string(lines, text);
}

static void put_since(struct system_call_lines *lines, uint64_t time_ns)
{
    uint64_t since = lines->last_ns == 0 || time_ns < lines->last_ns ? 0 : time_ns - lines->last_ns;
    char text[64];

    lines->last_ns = time_ns;
    snprintf(text, sizeof(text), "%6lu.%06lu ", (unsigned long)(since / NS_PER_S),
             (unsigned long)(since % NS_PER_S / 1000));
    put_string(lines, text);
}

/* What comes first in a line. */
static void begin_line(struct system_call_lines *lines, const struct system_call_event *event)
{
    char text[32] = "";

    interrupt_open_line(lines);
    if (lines->options.ids == SYSTEM_CALL_IDS_ALWAYS)
        snprintf(text, sizeof(text), "%-5u ", (unsigned)event->tid);
    else if (lines->options.ids == SYSTEM_CALL_IDS_WHERE_SEVERAL && lines->thread_count > 1)
        snprintf(text, sizeof(text), "[pid %5u] ", (unsigned)event->tid);
    put_string(lines, text);
    if (lines->options.times == SYSTEM_CALL_TIMES_RELATIVE)
        put_since(lines, event->time_ns);
    else if (lines->options.times != SYSTEM_CALL_TIMES_NONE)
        put_clock(lines, event->time_ns);
}

static void put_entry(struct system_call_lines *lines, struct lines_thread *thread,
                      const struct system_call_event *event)
{
    struct text_writer text;

    begin_line(lines, event);
    text_init(&text, lines->text, lines->text_bytes);
    system_call_text_enter(&text, event, &lines->options.text, &thread->progress);
    put(lines, &text);
    thread->in_call = true;
    thread->is_unfinished = false;
    lines->open = thread;
}

static void put_result(struct system_call_lines *lines, const struct system_call_event *event)
{
    struct text_writer text;

    put_string(lines, " ");
    while (lines->column < RESULT_COLUMN)
        put_string(lines, " ");
    text_init(&text, lines->text, lines->text_bytes);
    text_put_string(&text, "= ");
    system_call_text_result(&text, event, &lines->options.text);
    if (lines->options.has_durations && (event->flags & SYSTEM_CALL_NEVER_RETURNS) == 0)
        text_format(&text, " <%lu.%06lu>", (unsigned long)(event->system_ns / NS_PER_S),
                    (unsigned long)(event->system_ns % NS_PER_S / 1000));
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
    if (lines->open != thread) {
        begin_line(lines, event);
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
    if (lines->options.put_stack != NULL && (event->flags & SYSTEM_CALL_NEVER_RETURNS) == 0)
        lines->options.put_stack(lines->stream, event);
    thread->in_call = false;
}

static void put_signal(struct system_call_lines *lines, const struct system_call_event *event)
{
    struct text_writer text;

    begin_line(lines, event);
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

    if (!lines->options.is_quiet) {
        begin_line(lines, event);
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

/* Two ids become one: what the executing thread has open is taken up by the first thread of the process. */
static void put_replacement(struct system_call_lines *lines, struct lines_thread *thread,
                            const struct system_call_event *event)
{
    struct lines_thread *executing = thread_of(lines, event->status);
    struct text_writer text;

    begin_line(lines, event);
    text_init(&text, lines->text, lines->text_bytes);
    text_format(&text, "+++ superseded by execve in pid %d +++", event->status);
    put(lines, &text);
    end_line(lines);
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
    switch (event->kind) {
    case SYSTEM_CALL_ENTERED:
        put_entry(lines, thread, event);
        break;
    case SYSTEM_CALL_LEFT:
        put_exit(lines, thread, event);
        break;
    case SYSTEM_CALL_SIGNALLED:
    case SYSTEM_CALL_STOPPED:
        put_signal(lines, event);
        break;
    case SYSTEM_CALL_EXITED:
        put_end(lines, thread, event);
        break;
    case SYSTEM_CALL_REPLACED:
        put_replacement(lines, thread, event);
        break;
    }
}

void system_call_lines_detach(struct system_call_lines *lines)
{
    if (lines->open == NULL)
        return;
    put_string(lines, " <detached ...>");
    end_line(lines);
}
