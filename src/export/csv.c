/* SPDX-License-Identifier: MIT */
/*
 * A line for each call, with commas between the values (RFC 4180), below a line with their names: for spreadsheets,
 * scripts and databases. A call is written when it ends, for not before is all of it known; threads come one after the
 * other. Texts are in quotes, always. System calls come behind all calls: their flag is "syscall", and they stand where
 * functions do, as strace writes them, without a module. So do probes and events of the kernel, behind these: their
 * flags are "probe" and "kernel".
 */
#include "export/call_flag_names.h"
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "trace/kernel_event_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_BYTES  4096
#define THREAD_BYTES 256
#define LINE_BYTES   16

struct csv {
    const struct export_job *job;
    FILE *stream;
    struct function_texts texts;
    size_t thread;             /* index, of the text below; SIZE_MAX: none yet */
    char fields[THREAD_BYTES]; /* of that thread */
};

/* Behind what is there; at most so many bytes, of which all may be quotes, and become two. */
static void add_field(char *text, const char *value, size_t bytes_max)
{
    char clean[FIELD_BYTES];
    char *end = text + strlen(text);

    (void)export_text_clean(clean, bytes_max, value);
    *end++ = '"';
    for (const char *place = clean; *place != '\0'; place++) {
        if (*place == '"')
            *end++ = '"';
        *end++ = *place;
    }
    *end++ = '"';
    *end = '\0';
}

/* "inflate","/usr/lib/libz.so.1","inflate.c",622 */
static char *make_text(const struct view_function *function)
{
    char *text = malloc(3 * (2 * FIELD_BYTES + sizeof("\"\",")) + LINE_BYTES), line[LINE_BYTES] = ",", *shorter;

    if (text == NULL)
        return NULL;
    text[0] = '\0';
    add_field(text, function->name, FIELD_BYTES);
    strcat(text, ",");
    add_field(text, function->module == NULL ? "" : function->module->path, FIELD_BYTES);
    strcat(text, ",");
    add_field(text, function->file == NULL ? "" : function->file, FIELD_BYTES);
    if (function->line != 0)
        snprintf(line, sizeof(line), ",%" PRIu32, function->line);
    strcat(text, line);
    shorter = realloc(text, strlen(text) + 1);
    return shorter == NULL ? text : shorter;
}

static void put_number(FILE *stream, uint64_t number)
{
    putc_unlocked(',', stream);
    export_put_number(stream, number);
}

/* 123,124,"worker" */
static void put_thread(struct csv *csv, size_t thread)
{
    const struct view_trace *trace = csv->job->trace;

    if (thread != csv->thread) {
        snprintf(csv->fields, sizeof(csv->fields), "%" PRIu32 ",%" PRIu32 ",",
                 view_trace_process_of(trace, thread)->pid, trace->threads[thread].tid);
        add_field(csv->fields, trace->threads[thread].name, THREAD_BYTES / 3);
        csv->thread = thread;
    }
    export_put(csv->stream, csv->fields);
}

static int put_call(void *context, const struct export_call *call)
{
    struct csv *csv = context;
    const char *text = function_texts_get(&csv->texts, call->function);
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    if (text == NULL)
        return -ENOMEM;
    put_thread(csv, call->thread);
    putc_unlocked(',', csv->stream);
    export_put(csv->stream, text);
    put_number(csv->stream, call->depth);
    put_number(csv->stream, call->begin_ns);
    if (call->flags & CALL_ENTRY_ONLY) {
        export_put(csv->stream, ",,");
    } else {
        put_number(csv->stream, duration_ns);
        put_number(csv->stream, duration_ns - call->inner_ns);
    }
    putc_unlocked(',', csv->stream);
    export_put(csv->stream, call_flag_names(call->flags));
    export_put(csv->stream, "\r\n");
    return ferror(csv->stream) != 0;
}

/* What is no call: a text where the function stands, without module and source, for that long. */
static int put_other(struct csv *csv, const char *text, uint64_t begin_ns, uint64_t duration_ns, const char *kind)
{
    char field[2 * FIELD_BYTES + sizeof("\"\"")];

    field[0] = '\0';
    add_field(field, text, FIELD_BYTES);
    putc_unlocked(',', csv->stream);
    export_put(csv->stream, field);
    export_put(csv->stream, ",\"\",\"\",");
    put_number(csv->stream, 0);
    put_number(csv->stream, begin_ns);
    put_number(csv->stream, duration_ns);
    put_number(csv->stream, duration_ns);
    putc_unlocked(',', csv->stream);
    export_put(csv->stream, kind);
    export_put(csv->stream, "\r\n");
    return ferror(csv->stream) != 0;
}

static int put_probe(void *context, const struct export_probe *probe)
{
    struct csv *csv = context;
    char text[FIELD_BYTES];

    put_thread(csv, probe->thread);
    snprintf(text, sizeof(text), "%s(%s)", probe->name, probe->arguments);
    return put_other(csv, text, probe->time_ns, 0, "probe");
}

static int put_system_call(void *context, const struct export_system_call *call)
{
    struct csv *csv = context;

    put_thread(csv, call->thread);
    return put_other(csv, call->text, call->begin_ns, call->end_ns - call->begin_ns, "syscall");
}

static int put_kernel_event(void *context, const struct export_kernel_event *told)
{
    char text[FIELD_BYTES], fields[FIELD_BYTES - 256], name[THREAD_BYTES] = "";
    struct csv *csv = context;

    add_field(name, told->thread, THREAD_BYTES / 3);
    fprintf(csv->stream, "%" PRIu32 ",%" PRIu32 ",%s", told->event->pid, told->event->tid, name);
    (void)kernel_event_fields_write(told->source, told->event, fields, sizeof(fields));
    snprintf(text, sizeof(text), "%.250s(%s)", told->source->name, fields);
    return put_other(csv, text, told->time_ns, 0, "kernel");
}

static int write_csv(const struct export_job *job, struct gait_error *err)
{
    struct csv csv = {.job = job, .stream = job->stream, .thread = SIZE_MAX};
    const struct export_receiver receiver = {.end = put_call, .context = &csv};
    const struct export_system_call_receiver system_calls = {put_system_call, &csv};
    const struct export_probe_receiver probes = {put_probe, &csv};
    const struct export_kernel_receiver kernel = {put_kernel_event, &csv};
    int result;

    view_functions_want_sources(job->functions);
    function_texts_init(&csv.texts, job->functions, make_text);
    export_put(job->stream, "pid,tid,thread,function,module,file,line,depth,begin_ns,duration_ns,self_ns,flags\r\n");
    result = export_system_calls_behind(job, export_calls_read_all(job, &receiver, err), &system_calls, err);
    result = export_probes_behind(job, result, &probes, err);
    result = export_kernel_behind(job, result, &kernel, err);
    function_texts_deinit(&csv.texts);
    return result;
}

extern const struct export_format export_format_csv;
const struct export_format export_format_csv = {
    .name = "csv",
    .file_name = "calls.csv",
    .kind = EXPORT_TEXT,
    .write = write_csv,
};
