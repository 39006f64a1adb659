/* SPDX-License-Identifier: MIT */
/* gait export: a trace in a format that other programs read. What formats there are is in src/export. */
#define _GNU_SOURCE
#include "cli/command.h"

#include "cli/options/export_options.h"
#include "cli/reading_status.h"
#include "cli/screens/guess_notice.h"
#include "cli/screens/progress_bar.h"
#include "cli/screens/screen.h"
#include "hosted/error_text.h"
#include "trace/kernel_events.h"
#include "view/thread_pattern.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 256

struct export
{
    const struct command_call *call;
    struct export_options options;
    struct view_trace trace;
    struct view_functions functions;
    size_t *threads;
    size_t thread_count;
    size_t silent_count; /* behind them */
};

/* ---- which threads ----------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct export *export, uint32_t tid, const char *name)
{
    bool is = export->options.thread_count == 0;

    for (size_t i = 0; i < export->options.thread_count && !is; i++)
        is = thread_pattern_means(export->options.threads[i], tid, name);
    return is;
}

/* Whether the kernel tells of one that is wanted. */
static bool is_known_to_kernel(const struct export *export)
{
    struct kernel_sources sources;
    bool is = false;

    if (kernel_events_sources(&export->trace.files, &sources, NULL) != 0)
        return false;
    for (size_t i = 0; i < sources.thread_count && !is; i++)
        is = is_wanted(export, sources.threads[i].tid, sources.threads[i].name);
    kernel_sources_deinit(&sources);
    return is;
}

static int choose_threads(struct export *export)
{
    size_t all_count = export->trace.thread_count + export->trace.silent_count;

    export->threads = calloc(all_count + 1, sizeof(*export->threads));
    if (export->threads == NULL)
        return error_set(export->call->error, ENOMEM, "cannot export '%s': there is no memory", export->options.trace);
    for (size_t i = 0; i < export->trace.thread_count; i++)
        if (is_wanted(export, export->trace.threads[i].tid, export->trace.threads[i].name))
            export->threads[export->thread_count++] = i;
    for (size_t i = export->trace.thread_count; i < all_count; i++)
        if (is_wanted(export, export->trace.threads[i].tid, export->trace.threads[i].name))
            export->threads[export->thread_count + export->silent_count++] = i;
    if (export->thread_count + export->silent_count == 0 && export->options.thread_count != 0 &&
        !is_known_to_kernel(export))
        return error_set(export->call->error, ENOENT,
                         "cannot export '%s': no thread is called or numbered '%s'; try 'gait report'",
                         export->options.trace, export->options.threads[0]);
    return 0;
}

/* ---- where to ---------------------------------------------------------------------------------------------------- */

static enum command_status check_output(const struct export *export)
{
    const struct export_format *format = export->options.format;
    struct gait_error *err = export->call->error;

    if (export->options.output != NULL)
        return COMMAND_DONE;
    if (format->kind == EXPORT_PATH)
        error_set(err, EINVAL, "cannot write %s to standard output: it is more than a stream; try -o %s", format->name,
                  format->file_name);
    else if (format->kind == EXPORT_BINARY && isatty(fileno(export->call->screen->stream)))
        error_set(err, EINVAL, "cannot write %s to a terminal: it is no text; try -o %s", format->name,
                  format->file_name);
    else
        return COMMAND_DONE;
    return COMMAND_MISUSED;
}

static int write_to(const struct export *export, FILE *stream, struct gait_error *err)
{
    struct export_job job = {.trace = &export->trace,
                             .functions = (struct view_functions *)&export->functions,
                             .threads = export->threads,
                             .thread_count = export->thread_count,
                             .silent_count = export->silent_count,
                             .wanted = export->options.threads,
                             .wanted_count = export->options.thread_count,
                             .has_events = export->options.has_events,
                             .from_ns = export->options.from_ns,
                             .to_ns = export->options.to_ns,
                             .stream = stream,
                             .path = export->options.output};

    return export->options.format->write(&job, err);
}

/* A file that is not whole is of no use; other things that were given as one stay. */
static void remove_file(const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        unlink(path);
}

static int write_file(const struct export *export, struct gait_error *err)
{
    const char *path = export->options.output;
    FILE *stream = fopen(path, "we");
    bool is_whole;
    int result;

    if (stream == NULL)
        return error_set(err, errno, "cannot write '%s': %s; try another path", path, strerror(errno));
    result = write_to(export, stream, err);
    is_whole = ferror(stream) == 0;
    if (fclose(stream) != 0 || !is_whole) {
        int code = errno == 0 ? EIO : errno;

        remove_file(path);
        return error_set(err, code, "cannot write all of '%s': %s; try another path", path, strerror(code));
    }
    return result;
}

static int write_out(const struct export *export)
{
    struct gait_error *err = export->call->error;

    if (export->options.format->kind == EXPORT_PATH)
        return write_to(export, NULL, err);
    if (export->options.output != NULL)
        return write_file(export, err);
    return write_to(export, export->call->screen->stream, err);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* Formats mark it in their own way, if they can: whoever writes one should know. */
static void note_guesses(const struct export *export)
{
    if (guessed_times_of_threads(&export->trace, export->threads, export->thread_count) != GUESSED_TIMES_NONE)
        fputs("gait export: " GUESS_NOTICE_SENTENCE "\n", stderr);
}

static int export_opened(struct export *export)
{
    struct progress_bar bar;
    int result = choose_threads(export);

    if (result != 0)
        return result;
    result = view_functions_init(&export->functions, &export->trace);
    if (result != 0)
        return error_set(export->call->error, result, "cannot export '%s': there is no memory", export->options.trace);
    progress_bar_begin(&bar, stderr, export->options.output == NULL ? export->call->screen->stream : NULL,
                       "reading debug information");
    view_functions_watch(&export->functions, (struct symbolizer_watch){progress_bar_update, &bar});
    result = write_out(export);
    if (result == 0)
        note_guesses(export);
    progress_bar_end(&bar);
    view_functions_deinit(&export->functions);
    return result;
}

static enum command_status run(const struct command_call *call)
{
    struct export export = {.call = call};
    enum command_status status = export_options_read(call, &export.options);

    if (status != COMMAND_DONE)
        return status;
    status = check_output(&export);
    if (status == COMMAND_DONE && view_trace_open(&export.trace, export.options.trace, call->error) != 0)
        status = COMMAND_FAILED;
    else if (status == COMMAND_DONE) {
        status = reading_status(call, export_opened(&export));
        view_trace_close(&export.trace);
    }
    free(export.threads);
    export_options_deinit(&export.options);
    return status;
}

extern const struct command command_export;
const struct command command_export = {
    .name = "export",
    .arguments = "-f FORMAT [TRACE] [-o FILE] [--thread NAME|TID]... [--from TIME] [--to TIME] [--events]",
    .summary = "a trace in a format that other programs read",
    .details = "Writes the calls of a trace in another format, to a file or to standard output,\n"
               "while it reads them: memory does not grow with the trace.\n"
               "\n"
               "  -f, --format FORMAT  one of these:\n"
               "\n"
#define EXPORT_FORMAT(name, summary) "      " #name "\n          " summary "\n"
#include "export/export_formats.def"
#undef EXPORT_FORMAT
               "\n"
               "  -o, --output FILE    where to; - is standard output, as if not given\n"
               "      --thread NAME    only threads with such a name, a glob, or that number; can\n"
               "                       be given several times\n"
               "      --from TIME      only what was since then: a time since the recording began,\n"
               "                       as 1.5s or 200ms; calls that were open then begin there\n"
               "      --to TIME        only what was before; calls that were open then end there\n"
               "      --events         a database: the table of events, too, which makes it larger\n"
               "\n"
               "Calls whose end was not seen end where events are missing. Where the format can\n"
               "say so, that is marked, and times that are only guessed are, too.\n"
               "\n"
               "Without TRACE it is the last one in ./traces, which is said on standard error.\n"
               "\n"
               "Examples:\n"
               "  gait export -f flamegraph traces/program-1 -o graph.svg\n"
               "  gait export -f perfetto traces/program-1 -o trace.pftrace\n"
               "  gait export -f chrome traces/program-1 --thread 'worker*' --to 2s -o t.json\n"
               "  gait export -f folded traces/program-1 | grep ';parse;' >parse.folded\n",
    .run = run,
};
