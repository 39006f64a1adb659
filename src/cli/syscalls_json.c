/* SPDX-License-Identifier: MIT */
#include "cli/syscalls_json.h"

#include "source/errno_name.h"
#include "source/signal_text.h"
#include "trace/json_text.h"

#include <stdlib.h>
#include <sys/wait.h>

#define TEXT_BYTES (64UL << 10)
#define ERRORS     4095

static void put_head(FILE *stream, const struct system_call_event *event, const char *kind)
{
    fprintf(stream, "{\"kind\": \"%s\", \"time_ns\": %lu, \"pid\": %d, \"tid\": %d", kind,
            (unsigned long)event->time_ns, event->pid, event->tid);
}

static void put_call(FILE *stream, const struct system_call_event *event, const struct call_text_options *options)
{
    size_t text_bytes = TEXT_BYTES + 4UL * options->string_bytes;
    char *buffer = malloc(text_bytes);
    struct text_writer text;

    if (buffer == NULL)
        return;
    put_head(stream, event, "call");
    text_init(&text, buffer, text_bytes);
    system_call_text_name(&text, event->number);
    fprintf(stream, ", \"call\": \"%s\", \"number\": %lu, \"arguments\": [", buffer, (unsigned long)event->number);
    for (unsigned i = 0; i < SYSTEM_CALL_ARGUMENTS_MAX; i++)
        fprintf(stream, "%s%lu", i == 0 ? "" : ", ", (unsigned long)event->arguments[i]);
    fputs("], \"result\": ", stream);
    if ((event->flags & SYSTEM_CALL_NEVER_RETURNS) != 0)
        fputs("null", stream);
    else
        fprintf(stream, "%ld", (long)event->result);
    if (event->result < 0 && event->result >= -ERRORS && errno_name((int)-event->result) != NULL)
        fprintf(stream, ", \"error\": \"%s\"", errno_name((int)-event->result));
    fprintf(stream, ", \"duration_ns\": %lu, \"is_injected\": %s, \"text\": ", (unsigned long)event->system_ns,
            (event->flags & SYSTEM_CALL_INJECTED) != 0 ? "true" : "false");
    text_init(&text, buffer, text_bytes);
    system_call_text_put(&text, event, options);
    json_put_text(stream, buffer);
    fputs("}\n", stream);
    free(buffer);
}

static void put_signal(FILE *stream, const struct system_call_event *event)
{
    char buffer[512];
    struct text_writer text;

    put_head(stream, event, event->kind == SYSTEM_CALL_SIGNALLED ? "signal" : "stop");
    text_init(&text, buffer, sizeof(buffer));
    signal_text_put(&text, event->signal);
    fprintf(stream, ", \"signal\": \"%s\"", buffer);
    if (event->kind == SYSTEM_CALL_SIGNALLED) {
        text_init(&text, buffer, sizeof(buffer));
        signal_text_put_info(&text, event->siginfo);
        fputs(", \"text\": ", stream);
        json_put_text(stream, buffer);
    }
    fputs("}\n", stream);
}

static void put_end(FILE *stream, const struct system_call_event *event)
{
    put_head(stream, event, "exit");
    if (WIFSIGNALED(event->status))
        fprintf(stream, ", \"killed_by\": %d}\n", WTERMSIG(event->status));
    else
        fprintf(stream, ", \"status\": %d}\n", WEXITSTATUS(event->status));
}

void syscalls_json_put(FILE *stream, const struct system_call_event *event, const struct call_text_options *options)
{
    if (event->kind == SYSTEM_CALL_LEFT)
        put_call(stream, event, options);
    else if (event->kind == SYSTEM_CALL_SIGNALLED || event->kind == SYSTEM_CALL_STOPPED)
        put_signal(stream, event);
    else if (event->kind == SYSTEM_CALL_EXITED)
        put_end(stream, event);
}
