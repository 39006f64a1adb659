/* SPDX-License-Identifier: MIT */
/*
 * The JSON of speedscope: a profile of events for each thread that called something. Members of objects have no order,
 * so that what is known at the end is written there: when a profile ends, and the names of all frames.
 */
#include "export/export_calls.h"
#include "export/export_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
    const struct export_job *job;
    FILE *stream;
    size_t profile_count;
    bool has_profile; /* the thread's was begun */
    bool has_event;   /* in it */
    bool is_guessed;
    uint64_t last_ns;
    uint32_t frame_count; /* one more than the highest number of a function that was called */
};

static void begin_profile(struct speedscope *speedscope, const struct export_call *call)
{
    export_put(speedscope->stream, speedscope->profile_count == 0 ? "\n" : ",\n");
    fprintf(speedscope->stream,
            "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64 ",\"events\":[", call->begin_ns);
    speedscope->profile_count++;
    speedscope->has_profile = true;
    speedscope->has_event = speedscope->is_guessed = false;
}

/* "python3 (4711)", with the process if there are others. */
static void put_name(struct speedscope *speedscope, size_t index)
{
    const struct view_trace *trace = speedscope->job->trace;
    const struct view_thread *thread = &trace->threads[index];
    char text[512], process[300] = "";

    if (trace->process_count > 1)
        snprintf(process, sizeof(process), "%" PRIu32 " %.256s: ", view_trace_process_of(trace, index)->pid,
                 view_trace_process_of(trace, index)->command);
    snprintf(text, sizeof(text), "%s%s (%" PRIu32 ")%s", process, thread->name[0] == '\0' ? "thread" : thread->name,
             thread->tid, speedscope->is_guessed ? ", times are guessed" : "");
    export_put_json(speedscope->stream, text);
}

static void end_profile(struct speedscope *speedscope, size_t thread)
{
    if (!speedscope->has_profile)
        return;
    fprintf(speedscope->stream, "\n],\"endValue\":%" PRIu64 ",\"name\":", speedscope->last_ns);
    put_name(speedscope, thread);
    export_put(speedscope->stream, "}");
    speedscope->has_profile = false;
}

static void put_event(struct speedscope *speedscope, const char *text, const struct export_call *call, uint64_t time_ns)
{
    export_put(speedscope->stream, speedscope->has_event ? ",\n" : "\n");
    export_put(speedscope->stream, text);
    export_put_number(speedscope->stream, time_ns);
    export_put(speedscope->stream, ",\"frame\":");
    export_put_number(speedscope->stream, call->function);
    export_put(speedscope->stream, "}");
    speedscope->has_event = true;
    speedscope->last_ns = time_ns;
}

static int put_begin(void *context, const struct export_call *call)
{
    struct speedscope *speedscope = context;

    if (!speedscope->has_profile)
        begin_profile(speedscope, call);
    if (call->function >= speedscope->frame_count)
        speedscope->frame_count = call->function + 1;
    speedscope->is_guessed |= (call->flags & CALL_GUESSED) != 0;
    put_event(speedscope, "{\"type\":\"O\",\"at\":", call, call->begin_ns);
    return ferror(speedscope->stream) != 0;
}

static int put_end(void *context, const struct export_call *call)
{
    struct speedscope *speedscope = context;

    put_event(speedscope, "{\"type\":\"C\",\"at\":", call, call->end_ns);
    return ferror(speedscope->stream) != 0;
}

static int put_threads(struct speedscope *speedscope, struct gait_error *err)
{
    const struct export_receiver receiver = {.begin = put_begin, .end = put_end, .context = speedscope};
    int first = 0;

    for (size_t i = 0; i < speedscope->job->thread_count; i++) {
        int result =
            export_calls_read(speedscope->job, speedscope->job->threads[i], &receiver, first == 0 ? err : NULL);

        end_profile(speedscope, speedscope->job->threads[i]);
        first = first == 0 ? result : first;
    }
    return first;
}

/* Where it is in the source, or the file that its code is in. */
static void put_file(struct speedscope *speedscope, const struct view_function *function)
{
    if (function->file == NULL && function->module == NULL)
        return;
    export_put(speedscope->stream, ",\"file\":");
    export_put_json(speedscope->stream, function->file != NULL ? function->file : function->module->path);
    if (function->line != 0)
        fprintf(speedscope->stream, ",\"line\":%" PRIu32, function->line);
}

static void put_frames(struct speedscope *speedscope)
{
    for (uint32_t i = 0; i < speedscope->frame_count; i++) {
        const struct view_function *function = view_functions_at(speedscope->job->functions, i);

        export_put(speedscope->stream, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        export_put_json(speedscope->stream, function->name);
        put_file(speedscope, function);
        export_put(speedscope->stream, "}");
    }
}

static int write_speedscope(const struct export_job *job, struct gait_error *err)
{
    struct speedscope speedscope = {.job = job, .stream = job->stream};
    const char *program = job->trace->manifest.program;
    int result;

    view_functions_want_sources(job->functions);
    export_put(job->stream, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"gait\",\"name\":");
    export_put_json(job->stream, program == NULL ? "" : program);
    export_put(job->stream, ",\"profiles\":[");
    result = put_threads(&speedscope, err);
    view_functions_prepare(job->functions);
    export_put(job->stream, "],\n\"shared\":{\"frames\":[");
    put_frames(&speedscope);
    export_put(job->stream, "]}}\n");
    return result;
}

extern const struct export_format export_format_speedscope;
const struct export_format export_format_speedscope = {
    .name = "speedscope",
    .file_name = "trace.speedscope.json",
    .kind = EXPORT_TEXT,
    .write = write_speedscope,
};
