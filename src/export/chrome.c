/* SPDX-License-Identifier: MIT */
/*
 * The JSON of trace events that Chrome's about:tracing, Perfetto, catapult and many others read: each call begins (B)
 * and ends (E), names of processes and threads are metadata (M), losses and events of the kernel are instants (i).
 * Times are microseconds with three digits behind the point. Beginnings and ends, not complete events (X): of calls
 * that take no time at all only their order says which one is inside of which.
 */
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "hosted/json_text.h"
#include "trace/kernel_event_text.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct chrome {
    const struct export_job *job;
    FILE *stream;
    struct function_texts texts;
    bool is_first; /* nothing was written into the list */
};

/* "name":"inflate","cat":"libz.so.1","args":{"file":"inflate.c","line":622, and the object is left open: put_begin
 * closes it. Without a source there is none. */
static char *make_text(const struct view_function *function)
{
    static const char shape[] = "\"name\":%s,\"cat\":%s,\"args\":{%s";
    char *name = json_text_make(JSON_CLEAN, function->name);
    char *module =
        json_text_make(JSON_CLEAN, function->module == NULL ? "no file" : export_last_name(function->module->path));
    char *source = function_texts_source(function);
    bool is_made = name != NULL && module != NULL && source != NULL;
    size_t bytes = is_made ? strlen(name) + strlen(module) + strlen(source) + sizeof(shape) : 0;
    char *text = is_made ? malloc(bytes) : NULL;

    if (text != NULL && source[0] == '\0')
        snprintf(text, bytes, "\"name\":%s,\"cat\":%s", name, module);
    else if (text != NULL)
        /* Without the comma in front. */
        snprintf(text, bytes, shape, name, module, source + 1);
    free(source);
    free(name);
    free(module);
    return text;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void begin_event(struct chrome *chrome, char phase, size_t thread)
{
    FILE *stream = chrome->stream;

    export_put(stream, chrome->is_first ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
    chrome->is_first = false;
    putc_unlocked(phase, stream);
    export_put(stream, "\",\"pid\":");
    export_put_number(stream, view_trace_process_of(chrome->job->trace, thread)->pid);
    export_put(stream, ",\"tid\":");
    export_put_number(stream, chrome->job->trace->threads[thread].tid);
}

static void put_time(struct chrome *chrome, uint64_t time_ns)
{
    export_put(chrome->stream, ",\"ts\":");
    export_put_microseconds(chrome->stream, time_ns);
}

/* Closes an event that begins a call, whose arguments the source may have begun. */
static void put_arguments(struct chrome *chrome, const struct export_call *call)
{
    bool is_begun = view_functions_at(chrome->job->functions, call->function)->file != NULL;
    /* Guesses are of calls that were followed, and only hooked ones are told in parts. */
    const char *argument = call->flags & CALL_GUESSED      ? "\"times\":\"guessed\""
                           : call->flags & CALL_RESUMED    ? "\"begin\":\"resumed\""
                           : call->flags & CALL_ENTRY_ONLY ? "\"end\":\"not known\""
                                                           : NULL;

    if (argument != NULL)
        fprintf(chrome->stream, "%s%s", is_begun ? "," : ",\"args\":{", argument);
    export_put(chrome->stream, is_begun || argument != NULL ? "}}" : "}");
}

static int put_begin(void *context, const struct export_call *call)
{
    struct chrome *chrome = context;
    const char *text = function_texts_get(&chrome->texts, call->function);

    if (text == NULL)
        return -ENOMEM;
    /* An instant has no duration. */
    begin_event(chrome, call->flags & CALL_ENTRY_ONLY ? 'i' : 'B', call->thread);
    put_time(chrome, call->begin_ns);
    if (call->flags & CALL_ENTRY_ONLY)
        export_put(chrome->stream, ",\"s\":\"t\"");
    putc_unlocked(',', chrome->stream);
    export_put(chrome->stream, text);
    put_arguments(chrome, call);
    return ferror(chrome->stream) != 0;
}

static int put_end(void *context, const struct export_call *call)
{
    struct chrome *chrome = context;

    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
    begin_event(chrome, 'E', call->thread);
    put_time(chrome, call->end_ns);
    if (call->flags & CALL_CUT)
        export_put(chrome->stream, ",\"args\":{\"end\":\"cut off\"}}");
    else if (call->flags & CALL_SUSPENDED)
        export_put(chrome->stream, ",\"args\":{\"end\":\"suspended\"}}");
    else if (call->flags & CALL_UNWOUND)
        export_put(chrome->stream, ",\"args\":{\"end\":\"unwound\"}}");
    else if (call->flags & CALL_NO_RETURN)
        export_put(chrome->stream, ",\"args\":{\"end\":\"return not seen\"}}");
    else
        putc_unlocked('}', chrome->stream);
    return ferror(chrome->stream) != 0;
}

static int put_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct chrome *chrome = context;

    begin_event(chrome, 'i', thread);
    put_time(chrome, time_ns);
    fprintf(chrome->stream, ",\"s\":\"t\",\"name\":\"%s\",\"cat\":\"gait\",\"args\":{\"lost bytes\":%" PRIu64 "}}",
            lost_bytes == 0 ? "left out" : "lost", lost_bytes);
    return ferror(chrome->stream) != 0;
}

static int put_probe(void *context, const struct export_probe *probe)
{
    struct chrome *chrome = context;

    begin_event(chrome, 'i', probe->thread);
    put_time(chrome, probe->time_ns);
    export_put(chrome->stream, ",\"s\":\"t\",\"name\":");
    json_put_text(chrome->stream, JSON_CLEAN, probe->name);
    export_put(chrome->stream, ",\"cat\":\"probe\",\"args\":{\"arguments\":");
    json_put_text(chrome->stream, JSON_CLEAN, probe->arguments);
    export_put(chrome->stream, "}}");
    return ferror(chrome->stream) != 0;
}

/* Complete events (X), which viewers put where they belong by their times. */
static int put_system_call(void *context, const struct export_system_call *call)
{
    struct chrome *chrome = context;

    begin_event(chrome, 'X', call->thread);
    put_time(chrome, call->begin_ns);
    export_put(chrome->stream, ",\"dur\":");
    export_put_microseconds(chrome->stream, call->end_ns - call->begin_ns);
    export_put(chrome->stream, ",\"name\":");
    json_put_text(chrome->stream, JSON_CLEAN, call->name);
    export_put(chrome->stream, ",\"cat\":\"syscall\",\"args\":{\"text\":");
    json_put_text(chrome->stream, JSON_CLEAN, call->text);
    if (call->has_returned)
        fprintf(chrome->stream, ",\"result\":%" PRIi64, call->result);
    export_put(chrome->stream, "}}");
    return ferror(chrome->stream) != 0;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void put_metadata(struct chrome *chrome, size_t thread, const char *kind, const char *name)
{
    begin_event(chrome, 'M', thread);
    fprintf(chrome->stream, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
    json_put_text(chrome->stream, JSON_CLEAN, name);
    export_put(chrome->stream, "}}");
}

/* A process that executes another program gives that name to what viewers show of the pid. */
static void put_names(struct chrome *chrome)
{
    const struct view_trace *trace = chrome->job->trace;
    size_t named = SIZE_MAX;

    for (size_t i = 0; i < chrome->job->thread_count + chrome->job->silent_count; i++) {
        size_t thread = chrome->job->threads[i];

        if (trace->threads[thread].process != named && view_trace_process_of(trace, thread)->command[0] != '\0')
            put_metadata(chrome, thread, "process_name", view_trace_process_of(trace, thread)->command);
        named = trace->threads[thread].process;
        if (trace->threads[thread].name[0] != '\0')
            put_metadata(chrome, thread, "thread_name", trace->threads[thread].name);
    }
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static void put_stack(struct chrome *chrome, const struct export_kernel_event *told)
{
    char *stack = kernel_stack_write(chrome->job->functions, told->sources, told->event);

    if (stack == NULL)
        return;
    export_put(chrome->stream, ",\"stack\":");
    json_put_text(chrome->stream, JSON_CLEAN, stack);
    free(stack);
}

static int put_kernel_event(void *context, const struct export_kernel_event *told)
{
    struct chrome *chrome = context;

    fprintf(chrome->stream, "%s\n{\"ph\":\"i\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, chrome->is_first ? "" : ",",
            told->event->pid, told->event->tid);
    chrome->is_first = false;
    put_time(chrome, told->time_ns);
    export_put(chrome->stream, ",\"s\":\"t\",\"cat\":\"kernel\",\"name\":");
    json_put_text(chrome->stream, JSON_CLEAN, told->source->name);
    fprintf(chrome->stream, ",\"args\":{\"cpu\":%" PRIu32 ",\"fields\":", told->event->cpu);
    kernel_event_put_json(chrome->stream, told->source, told->event, JSON_CLEAN);
    put_stack(chrome, told);
    export_put(chrome->stream, "}}");
    return ferror(chrome->stream) != 0;
}

static int write_chrome(const struct export_job *job, struct gait_error *err)
{
    struct chrome chrome = {.job = job, .stream = job->stream, .is_first = true};
    const struct export_receiver receiver = {put_begin, put_end, put_gap, &chrome};
    const struct export_system_call_receiver system_calls = {put_system_call, &chrome};
    const struct export_probe_receiver probes = {put_probe, &chrome};
    const struct export_kernel_receiver kernel = {put_kernel_event, &chrome};
    int result;

    view_functions_want_sources(job->functions);
    function_texts_init(&chrome.texts, job->functions, make_text);
    export_put(job->stream, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_names(&chrome);
    result = export_system_calls_behind(job, export_calls_read_all(job, &receiver, err), &system_calls, err);
    result = export_probes_behind(job, result, &probes, err);
    result = export_kernel_behind(job, result, &kernel, err);
    export_put(job->stream, "\n],\"otherData\":{\"writer\":\"gait\",\"program\":");
    json_put_text(job->stream, JSON_CLEAN, job->trace->manifest.program == NULL ? "" : job->trace->manifest.program);
    export_put(job->stream, "}}\n");
    function_texts_deinit(&chrome.texts);
    return result;
}

extern const struct export_format export_format_chrome;
const struct export_format export_format_chrome = {
    .name = "chrome",
    .file_name = "trace.json",
    .kind = EXPORT_TEXT,
    .write = write_chrome,
};
