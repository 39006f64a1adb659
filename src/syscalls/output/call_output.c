/* SPDX-License-Identifier: MIT */
/*
 * With a file for each thread, each has its lines, so that none interrupts those of another. Only some files are open
 * at a time, those that were written to last: programs may have more threads than we may have files.
 */
#define _GNU_SOURCE
#include "syscalls/output/call_output.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 128

struct thread_output {
    struct thread_output *next;
    int tid;
    bool was_opened;
    FILE *stream; /* NULL: it is closed meanwhile */
    struct system_call_lines *lines;
};

struct call_output {
    struct call_output_options options;
    struct system_call_lines_options line_options;
    FILE *stream; /* of all; NULL: each thread has one */
    bool is_command;
    struct system_call_lines *lines;
    struct thread_output *threads; /* the one that was used last comes first */
    int failed;                    /* errno of the first thing that went wrong */
};

static bool is_command(const char *name)
{
    return name != NULL && (name[0] == '|' || name[0] == '!');
}

static void ignore_signal(int signal)
{
    (void)signal;
}

/* A command that reads no more is a failure to write, and no end of us. Programs that are executed do not inherit a
 * handler, as they would what is ignored. */
static void outlive_readers(void)
{
    const struct sigaction outliving = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
    struct sigaction before;

    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        (void)sigaction(SIGPIPE, &outliving, NULL);
}

static FILE *open_stream(const struct call_output_options *options)
{
    if (options->name == NULL)
        return stderr;
    if (is_command(options->name))
        outlive_readers();
    if (is_command(options->name))
        return popen(options->name + 1, "we");
    return fopen(options->name, options->appends ? "ae" : "we");
}

int call_output_open(const struct call_output_options *options, const struct system_call_lines_options *lines,
                     struct call_output **output_out, struct gait_error *err)
{
    struct call_output *output = calloc(1, sizeof(*output));

    if (output == NULL)
        return error_set(err, ENOMEM, "syscalls: there is no memory");
    output->options = *options;
    output->line_options = *lines;
    output->is_command = is_command(options->name);
    output->options.is_separate &= options->name != NULL;
    if (!output->options.is_separate) {
        output->stream = open_stream(options);
        if (output->stream == NULL) {
            int number = errno;

            free(output);
            return error_set(err, number, "cannot write to '%s': %s", options->name, strerror(number));
        }
        output->lines = system_call_lines_create(output->stream, lines);
        if (output->lines == NULL) {
            (void)!call_output_close(output, err);
            return error_set(err, ENOMEM, "syscalls: there is no memory");
        }
    }
    *output_out = output;
    return 0;
}

/* ---- a file for each thread -------------------------------------------------------------------------------------- */

static void close_stream(struct call_output *output, struct thread_output *thread)
{
    bool has_failed;

    if (thread->stream == NULL)
        return;
    has_failed = ferror(thread->stream) != 0;
    has_failed |= fclose(thread->stream) != 0;
    if (has_failed && output->failed == 0)
        output->failed = errno == 0 ? EIO : errno;
    thread->stream = NULL;
}

/* All but those that were used last. */
static void close_some(struct call_output *output, size_t most)
{
    size_t count = 0;

    for (struct thread_output *thread = output->threads; thread != NULL; thread = thread->next)
        if (thread->stream != NULL && ++count > most)
            close_stream(output, thread);
}

static bool reopen(struct call_output *output, struct thread_output *thread)
{
    char path[PATH_MAX];

    if (thread->stream != NULL)
        return true;
    close_some(output, OPEN_MOST);
    snprintf(path, sizeof(path), "%s.%d", output->options.name, thread->tid);
    thread->stream = fopen(path, output->options.appends || thread->was_opened ? "ae" : "we");
    if (thread->stream == NULL && errno == EMFILE) {
        close_some(output, 1);
        thread->stream = fopen(path, output->options.appends || thread->was_opened ? "ae" : "we");
    }
    if (thread->stream == NULL) {
        output->failed = output->failed == 0 ? errno : output->failed;
        return false;
    }
    thread->was_opened = true;
    if (thread->lines == NULL)
        thread->lines = system_call_lines_create(thread->stream, &output->line_options);
    else
        system_call_lines_turn_to(thread->lines, thread->stream);
    return thread->lines != NULL;
}

static struct thread_output *thread_of(struct call_output *output, int tid)
{
    struct thread_output **at = &output->threads, *thread;

    while (*at != NULL && (*at)->tid != tid)
        at = &(*at)->next;
    thread = *at;
    if (thread != NULL)
        *at = thread->next;
    else
        thread = calloc(1, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    thread->next = output->threads;
    output->threads = thread;
    return thread;
}

static void put_separately(struct call_output *output, const struct system_call_event *event)
{
    struct thread_output *thread = thread_of(output, event->tid);

    if (thread == NULL || !reopen(output, thread))
        return;
    system_call_lines_put(thread->lines, event);
    if (event->kind == SYSTEM_CALL_EXITED)
        close_stream(output, thread);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void call_output_put(struct call_output *output, const struct system_call_event *event)
{
    if (output->options.is_separate)
        put_separately(output, event);
    else
        system_call_lines_put(output->lines, event);
}

FILE *call_output_stream(struct call_output *output)
{
    return output->stream;
}

void call_output_detach(struct call_output *output)
{
    if (output->lines != NULL)
        system_call_lines_detach(output->lines);
    for (struct thread_output *thread = output->threads; thread != NULL; thread = thread->next)
        if (thread->lines != NULL && reopen(output, thread))
            system_call_lines_detach(thread->lines);
}

void call_output_flush(struct call_output *output)
{
    if (output->stream != NULL)
        (void)fflush(output->stream);
    for (struct thread_output *thread = output->threads; thread != NULL; thread = thread->next)
        if (thread->stream != NULL)
            (void)fflush(thread->stream);
}

static void close_all(struct call_output *output)
{
    bool has_failed = false;

    while (output->threads != NULL) {
        struct thread_output *next = output->threads->next;

        close_stream(output, output->threads);
        system_call_lines_destroy(output->threads->lines);
        free(output->threads);
        output->threads = next;
    }
    if (output->stream == NULL)
        return;
    has_failed = ferror(output->stream) != 0;
    /* A command that ended before may have been waited for with other children. */
    if (output->is_command) {
        has_failed |= fflush(output->stream) != 0;
        (void)pclose(output->stream);
        errno = EPIPE;
    } else {
        has_failed |= (output->stream == stderr ? fflush(output->stream) : fclose(output->stream)) != 0;
    }
    if (has_failed && output->failed == 0)
        output->failed = errno == 0 ? EIO : errno;
}

int call_output_close(struct call_output *output, struct gait_error *err)
{
    const char *name = output->options.name == NULL ? "standard error" : output->options.name;
    int failed;

    errno = 0;
    close_all(output);
    failed = output->failed;
    system_call_lines_destroy(output->lines);
    free(output);
    return failed == 0 ? 0 : error_set(err, failed, "cannot write to %s: %s", name, strerror(failed));
}
