/* SPDX-License-Identifier: MIT */
/*
 * An object for each call, a line each (JSON lines): for jq, scripts and databases, which read such a file line by
 * line, however long it is. A call is written when it ends, for not before is all of it known; threads come one after
 * the other. Places where events are missing are lines, too: they have "lost_bytes" and no function. System calls come
 * behind all calls: they have "syscall" instead; then probes, which have "probe", and events of the kernel, which have
 * "kernel".
 */
#include "export/call_flag_names.h"
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

struct json {
    const struct export_job *job;
    FILE *stream;
    struct function_texts texts;
    size_t thread; /* index, of the text below; SIZE_MAX: none yet */
    char *name;    /* of that thread */
};

/* ,"function":"inflate","module":"/usr/lib/libz.so.1","file":"inflate.c","line":622 */
static char *make_text(const struct view_function *function)
{
    static const char shape[] = ",\"function\":%s,\"module\":%s%s";
    char *name = json_text_make(JSON_CLEAN, function->name);
    char *module = function->module == NULL ? strdup("null") : json_text_make(JSON_CLEAN, function->module->path);
    char *source = function_texts_source(function);
    bool is_made = name != NULL && module != NULL && source != NULL;
    size_t bytes = is_made ? strlen(name) + strlen(module) + strlen(source) + sizeof(shape) : 0;
    char *text = is_made ? malloc(bytes) : NULL;

    if (text != NULL)
        snprintf(text, bytes, shape, name, module, source);
    free(source);
    free(name);
    free(module);
    return text;
}

static void put_number(FILE *stream, const char *name, uint64_t number)
{
    export_put(stream, name);
    export_put_number(stream, number);
}

static int put_thread(struct json *json, size_t thread)
{
    const struct view_trace *trace = json->job->trace;

    if (thread != json->thread) {
        free(json->name);
        json->name = json_text_make(JSON_CLEAN, trace->threads[thread].name);
        json->thread = thread;
    }
    if (json->name == NULL)
        return -ENOMEM;
    put_number(json->stream, "{\"pid\":", view_trace_process_of(trace, thread)->pid);
    put_number(json->stream, ",\"tid\":", trace->threads[thread].tid);
    export_put(json->stream, ",\"thread\":");
    export_put(json->stream, json->name);
    return 0;
}

/* ,"flags":["cut","guessed"] */
static void put_flags(FILE *stream, uint32_t flags)
{
    const char *name = call_flag_names(flags);

    export_put(stream, ",\"flags\":[");
    for (const char *end = name; *name != '\0'; name = end + strspn(end, " ")) {
        end = name + strcspn(name, " ");
        fprintf(stream, "\"%.*s\"%s", (int)(end - name), name, *end == '\0' ? "" : ",");
    }
    export_put(stream, "]");
}

static int put_call(void *context, const struct export_call *call)
{
    struct json *json = context;
    const char *text = function_texts_get(&json->texts, call->function);
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    if (text == NULL || put_thread(json, call->thread) != 0)
        return -ENOMEM;
    export_put(json->stream, text);
    put_number(json->stream, ",\"depth\":", call->depth);
    put_number(json->stream, ",\"begin_ns\":", call->begin_ns);
    if (call->flags & CALL_ENTRY_ONLY) {
        export_put(json->stream, ",\"duration_ns\":null,\"self_ns\":null");
    } else {
        put_number(json->stream, ",\"duration_ns\":", duration_ns);
        put_number(json->stream, ",\"self_ns\":", duration_ns - call->inner_ns);
    }
    put_flags(json->stream, call->flags);
    export_put(json->stream, "}\n");
    return ferror(json->stream) != 0;
}

static int put_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct json *json = context;

    if (put_thread(json, thread) != 0)
        return -ENOMEM;
    put_number(json->stream, ",\"begin_ns\":", time_ns);
    put_number(json->stream, ",\"lost_bytes\":", lost_bytes);
    export_put(json->stream, "}\n");
    return ferror(json->stream) != 0;
}

static int put_probe(void *context, const struct export_probe *probe)
{
    struct json *json = context;

    if (put_thread(json, probe->thread) != 0)
        return -ENOMEM;
    export_put(json->stream, ",\"probe\":");
    json_put_text(json->stream, JSON_CLEAN, probe->name);
    put_number(json->stream, ",\"begin_ns\":", probe->time_ns);
    export_put(json->stream, ",\"arguments\":");
    json_put_text(json->stream, JSON_CLEAN, probe->arguments);
    export_put(json->stream, "}\n");
    return ferror(json->stream) != 0;
}

static int put_system_call(void *context, const struct export_system_call *call)
{
    struct json *json = context;

    if (put_thread(json, call->thread) != 0)
        return -ENOMEM;
    export_put(json->stream, ",\"syscall\":");
    json_put_text(json->stream, JSON_CLEAN, call->name);
    put_number(json->stream, ",\"begin_ns\":", call->begin_ns);
    if (call->has_returned) {
        put_number(json->stream, ",\"duration_ns\":", call->end_ns - call->begin_ns);
        fprintf(json->stream, ",\"result\":%" PRIi64, call->result);
    }
    export_put(json->stream, ",\"text\":");
    json_put_text(json->stream, JSON_CLEAN, call->text);
    export_put(json->stream, "}\n");
    return ferror(json->stream) != 0;
}

static void put_stack(struct json *json, const struct export_kernel_event *told)
{
    char text[KERNEL_FRAME_NAME_BYTES + 32];
    struct kernel_frame frame;

    export_put(json->stream, ",\"stack\":[");
    for (size_t i = 0; i < kernel_stack_depth(told->event); i++) {
        kernel_stack_frame(json->job->functions, told->sources, told->event, i, &frame);
        kernel_frame_write(&frame, text, sizeof(text));
        export_put(json->stream, i == 0 ? "" : ",");
        json_put_text(json->stream, JSON_CLEAN, text);
    }
    export_put(json->stream, "]");
}

static int put_kernel_event(void *context, const struct export_kernel_event *told)
{
    struct json *json = context;

    put_number(json->stream, "{\"pid\":", told->event->pid);
    put_number(json->stream, ",\"tid\":", told->event->tid);
    export_put(json->stream, ",\"thread\":");
    json_put_text(json->stream, JSON_CLEAN, told->thread);
    export_put(json->stream, ",\"kernel\":");
    json_put_text(json->stream, JSON_CLEAN, told->source->name);
    export_put(json->stream, ",\"spec\":");
    json_put_text(json->stream, JSON_CLEAN, told->source->spec);
    put_number(json->stream, ",\"begin_ns\":", told->time_ns);
    put_number(json->stream, ",\"cpu\":", told->event->cpu);
    export_put(json->stream, ",\"fields\":");
    kernel_event_put_json(json->stream, told->source, told->event, JSON_CLEAN);
    if (kernel_stack_depth(told->event) != 0)
        put_stack(json, told);
    export_put(json->stream, "}\n");
    return ferror(json->stream) != 0;
}

static int write_json(const struct export_job *job, struct gait_error *err)
{
    struct json json = {.job = job, .stream = job->stream, .thread = SIZE_MAX};
    const struct export_receiver receiver = {.end = put_call, .gap = put_gap, .context = &json};
    const struct export_system_call_receiver system_calls = {put_system_call, &json};
    const struct export_probe_receiver probes = {put_probe, &json};
    const struct export_kernel_receiver kernel = {put_kernel_event, &json};
    int result;

    view_functions_want_sources(job->functions);
    function_texts_init(&json.texts, job->functions, make_text);
    result = export_system_calls_behind(job, export_calls_read_all(job, &receiver, err), &system_calls, err);
    result = export_probes_behind(job, result, &probes, err);
    result = export_kernel_behind(job, result, &kernel, err);
    function_texts_deinit(&json.texts);
    free(json.name);
    return result;
}

extern const struct export_format export_format_json;
const struct export_format export_format_json = {
    .name = "json",
    .file_name = "calls.jsonl",
    .kind = EXPORT_TEXT,
    .write = write_json,
};
