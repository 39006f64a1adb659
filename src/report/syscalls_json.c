/* SPDX-License-Identifier: MIT */
/*
 * What a call was given is noted when it begins, for a program that executes another has other memory afterwards. Notes
 * are a list, one for each thread that is in a call.
 */
#include "report/syscalls_json.h"

#include "hosted/json_writer.h"
#include "syscalls/names/errno_name.h"
#include "syscalls/subject_texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define TEXT_BYTES (64UL << 10)
#define ERRORS     4095

struct started_call {
    struct started_call *next;
    int tid;
    struct system_call_progress progress;
    char text[]; /* ended by NUL */
};

struct syscalls_json {
    struct json_writer writer;
    const struct call_text_options *options;
    struct started_call *notes;
    size_t text_bytes;
    char text[];
};

struct syscalls_json *syscalls_json_create(FILE *stream, const struct call_text_options *options)
{
    size_t text_bytes = TEXT_BYTES + 4UL * options->string_bytes;
    struct syscalls_json *json = calloc(1, sizeof(*json) + text_bytes);

    if (json == NULL)
        return NULL;
    json->writer = (struct json_writer){.stream = stream, .layout = JSON_SPACED};
    json->options = options;
    json->text_bytes = text_bytes;
    return json;
}

/* Takes the note of that thread out of the list; NULL: there is none. */
static struct started_call *take_note(struct syscalls_json *json, int tid)
{
    for (struct started_call **at = &json->notes; *at != NULL; at = &(*at)->next) {
        struct started_call *note = *at;

        if (note->tid != tid)
            continue;
        *at = note->next;
        return note;
    }
    return NULL;
}

void syscalls_json_destroy(struct syscalls_json *json)
{
    while (json != NULL && json->notes != NULL)
        free(take_note(json, json->notes->tid));
    free(json);
}

static void note_entry(struct syscalls_json *json, const struct system_call_event *event)
{
    struct system_call_progress progress = {0};
    struct text_writer text;
    struct started_call *note;

    free(take_note(json, event->tid));
    text_init(&text, json->text, json->text_bytes);
    system_call_text_enter(&text, event, json->options, &progress);
    note = malloc(sizeof(*note) + text.used + 1);
    if (note == NULL)
        return;
    *note = (struct started_call){.next = json->notes, .tid = event->tid, .progress = progress};
    memcpy(note->text, json->text, text.used + 1);
    json->notes = note;
}

/* The whole call, out of what was noted of its beginning. */
static void put_text(struct syscalls_json *json, const struct system_call_event *event)
{
    struct started_call *note = take_note(json, event->tid);
    struct text_writer text;

    text_init(&text, json->text, json->text_bytes);
    if (note == NULL) {
        system_call_text_put(&text, event, json->options);
    } else {
        text_put_string(&text, note->text);
        system_call_text_leave(&text, event, json->options, &note->progress);
        text_put_string(&text, " = ");
        system_call_text_result(&text, event, json->options);
    }
    free(note);
    json_writer_text(&json->writer, "text", json->text);
}

static void begin(struct json_writer *writer, const struct system_call_event *event, const char *kind)
{
    json_writer_open(writer, NULL, '{');
    json_writer_text(writer, "kind", kind);
    json_writer_count(writer, "time_ns", event->time_ns);
    json_writer_signed(writer, "pid", event->pid);
    json_writer_signed(writer, "tid", event->tid);
}

static void end(struct json_writer *writer)
{
    json_writer_close(writer, '}');
    fputs("\n", writer->stream);
}

static void put_result(struct json_writer *writer, const struct system_call_event *event)
{
    bool is_error = event->result < 0 && event->result >= -ERRORS && errno_name((int)-event->result) != NULL;

    if ((event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        json_writer_null(writer, "result");
    else
        json_writer_signed(writer, "result", event->result);
    if (is_error)
        json_writer_text(writer, "error", errno_name((int)-event->result));
}

static void put_call(struct syscalls_json *json, const struct system_call_event *event)
{
    struct json_writer *writer = &json->writer;
    char name[64];
    struct text_writer text;

    begin(writer, event, "call");
    text_init(&text, name, sizeof(name));
    system_call_text_name(&text, event->number);
    json_writer_text(writer, "call", name);
    json_writer_count(writer, "number", event->number);
    json_writer_open(writer, "arguments", '[');
    for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
        json_writer_count(writer, NULL, event->arguments[i]);
    json_writer_close(writer, ']');
    put_result(writer, event);
    json_writer_count(writer, "duration_ns", event->system_ns);
    json_writer_bool(writer, "is_injected", (event->flags & SYSTEM_CALL_INJECTED) != 0);
    put_text(json, event);
    end(writer);
}

static void put_signal(struct json_writer *writer, const struct system_call_event *event)
{
    char buffer[512];
    struct text_writer text;

    begin(writer, event, event->kind == SYSTEM_CALL_SIGNALLED ? "signal" : "stop");
    text_init(&text, buffer, sizeof(buffer));
    signal_text_put(&text, event->signal);
    json_writer_text(writer, "signal", buffer);
    if (event->kind == SYSTEM_CALL_SIGNALLED) {
        text_init(&text, buffer, sizeof(buffer));
        signal_text_put_info(&text, event->siginfo);
        json_writer_text(writer, "text", buffer);
    }
    end(writer);
}

static void put_end(struct json_writer *writer, const struct system_call_event *event)
{
    begin(writer, event, "exit");
    if (WIFSIGNALED(event->status))
        json_writer_signed(writer, "killed_by", WTERMSIG(event->status));
    else
        json_writer_signed(writer, "status", WEXITSTATUS(event->status));
    end(writer);
}

void syscalls_json_put(struct syscalls_json *json, const struct system_call_event *event)
{
    switch (event->kind) {
    case SYSTEM_CALL_ENTERED:
        note_entry(json, event);
        break;
    case SYSTEM_CALL_LEFT:
        put_call(json, event);
        break;
    case SYSTEM_CALL_SIGNALLED:
    case SYSTEM_CALL_STOPPED:
        put_signal(&json->writer, event);
        break;
    case SYSTEM_CALL_EXITED:
        put_end(&json->writer, event);
        free(take_note(json, event->tid));
        break;
    case SYSTEM_CALL_REPLACED: /* its call goes on under another id */
    case SYSTEM_CALL_DETACHED:
        free(take_note(json, event->tid));
        break;
    }
}
