/* SPDX-License-Identifier: MIT */
/*
 * The JSON of speedscope: a profile of events for each thread that called something, and one of samples for each source
 * of the kernel's that has stacks. Members of objects have no order,
 * so that what is known at the end is written there: when a profile ends, and the names of all frames.
 */
#include "export/export_calls.h"
#include "export/export_text.h"
#include "export/stack_tree.h"
#include "hosted/json_text.h"

#include <inttypes.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
    const struct export_job *job;
    FILE *stream;
    size_t profile_count;
    bool has_profile; /* the thread's was begun */
    bool has_event;   /* in it */
    bool is_guessed;
    uint64_t entry_only; /* calls without a duration, which have no events: widths are durations */
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
    speedscope->entry_only = 0;
    speedscope->last_ns = call->begin_ns;
}

/* "python3 (4711)", with the process if there are others. */
static void put_name(struct speedscope *speedscope, size_t index)
{
    const struct view_trace *trace = speedscope->job->trace;
    const struct view_thread *thread = &trace->threads[index];
    char text[600], process[300] = "", left_out[96] = "";

    if (trace->process_count > 1)
        snprintf(process, sizeof(process), "%" PRIu32 " %.256s: ", view_trace_process_of(trace, index)->pid,
                 view_trace_process_of(trace, index)->command);
    if (speedscope->entry_only != 0)
        snprintf(left_out, sizeof(left_out), ", without %" PRIu64 " calls of which only the entry is known",
                 speedscope->entry_only);
    snprintf(text, sizeof(text), "%s%s (%" PRIu32 ")%s%s", process, thread->name[0] == '\0' ? "thread" : thread->name,
             thread->tid, speedscope->is_guessed ? ", times are guessed" : "", left_out);
    json_put_text(speedscope->stream, JSON_CLEAN, text);
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
    if (call->flags & CALL_ENTRY_ONLY) {
        speedscope->entry_only++;
        return 0;
    }
    put_event(speedscope, "{\"type\":\"O\",\"at\":", call, call->begin_ns);
    return ferror(speedscope->stream) != 0;
}

static int put_end(void *context, const struct export_call *call)
{
    struct speedscope *speedscope = context;

    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
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
    json_put_text(speedscope->stream, JSON_CLEAN, function->file != NULL ? function->file : function->module->path);
    if (function->line != 0)
        fprintf(speedscope->stream, ",\"line\":%" PRIu32, function->line);
}

static void put_frames(struct speedscope *speedscope)
{
    for (uint32_t i = 0; i < speedscope->frame_count; i++) {
        const struct view_function *function = view_functions_at(speedscope->job->functions, i);

        export_put(speedscope->stream, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        json_put_text(speedscope->stream, JSON_CLEAN, function->name);
        put_file(speedscope, function);
        export_put(speedscope->stream, "}");
    }
}

/* ---- what the kernel saw ----------------------------------------------------------------------------------------- */

/* [1,2,3]: the stack, the outermost first, without what was asked for. */
static void put_stack(struct speedscope *speedscope, const struct stack_tree *tree, uint32_t node)
{
    uint32_t frames[STACK_TREE_DEPTH_MAX + 2];
    size_t count = 0;

    for (uint32_t at = node; tree->nodes[at].parent != 0; at = tree->nodes[at].parent)
        frames[count++] = tree->nodes[at].frame;
    export_put(speedscope->stream, "[");
    for (size_t i = count; i-- > 0;) {
        export_put_number(speedscope->stream, (uint64_t)speedscope->frame_count + frames[i]);
        export_put(speedscope->stream, i == 0 ? "]" : ",");
    }
}

/* The nodes below one that have a time of their own: their stacks, or those times. */
static void put_list(struct speedscope *speedscope, const struct stack_tree *tree, uint32_t top, bool is_weights)
{
    uint32_t end = stack_tree_next_beside(tree, top);
    bool is_first = true;

    for (uint32_t node = stack_tree_next(tree, top); node != end; node = stack_tree_next(tree, node)) {
        if (tree->nodes[node].self_ns == 0)
            continue;
        export_put(speedscope->stream, is_first ? "" : ",");
        is_first = false;
        if (is_weights)
            export_put_number(speedscope->stream, tree->nodes[node].self_ns);
        else
            put_stack(speedscope, tree, node);
    }
}

/* A profile for each source: equal stacks are together, whenever they were. */
static void put_samples(struct speedscope *speedscope, const struct stack_tree *tree)
{
    for (uint32_t top = tree->nodes[0].first_child; top != STACK_NO_NODE; top = tree->nodes[top].next_sibling) {
        bool is_time = strncmp(stack_tree_text(tree, top), "profile:", 8) == 0;

        export_put(speedscope->stream, speedscope->profile_count++ == 0 ? "\n" : ",\n");
        fprintf(speedscope->stream, "{\"type\":\"sampled\",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64,
                is_time ? "nanoseconds" : "none", tree->nodes[top].total_ns);
        export_put(speedscope->stream, ",\"name\":");
        json_put_text(speedscope->stream, JSON_CLEAN, stack_tree_text(tree, top));
        export_put(speedscope->stream, ",\"samples\":[");
        put_list(speedscope, tree, top, false);
        export_put(speedscope->stream, "],\"weights\":[");
        put_list(speedscope, tree, top, true);
        export_put(speedscope->stream, "]}");
    }
}

static void put_sample_frames(struct speedscope *speedscope, const struct stack_tree *tree)
{
    for (size_t i = 0; i < tree->frames.count; i++) {
        export_put(speedscope->stream, speedscope->frame_count == 0 && i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        json_put_text(speedscope->stream, JSON_CLEAN, tree->frames.texts[i]);
        export_put(speedscope->stream, "}");
    }
}

static int write_speedscope(const struct export_job *job, struct gait_error *err)
{
    struct speedscope speedscope = {.job = job, .stream = job->stream};
    const char *program = job->trace->manifest.program;
    struct stack_tree samples;
    int result, other;

    view_functions_want_sources(job->functions);
    export_put(job->stream, "{\"$schema\":\"" SCHEMA "\",\"exporter\":\"gait\",\"name\":");
    json_put_text(job->stream, JSON_CLEAN, program == NULL ? "" : program);
    export_put(job->stream, ",\"profiles\":[");
    result = put_threads(&speedscope, err);
    other = stack_tree_read_samples(&samples, job, result == 0 ? err : NULL);
    if (samples.node_count != 0)
        put_samples(&speedscope, &samples);
    view_functions_prepare(job->functions);
    export_put(job->stream, "],\n\"shared\":{\"frames\":[");
    put_frames(&speedscope);
    put_sample_frames(&speedscope, &samples);
    export_put(job->stream, "]}}\n");
    stack_tree_deinit(&samples);
    return result == 0 ? other : result;
}

extern const struct export_format export_format_speedscope;
const struct export_format export_format_speedscope = {
    .name = "speedscope",
    .file_name = "trace.speedscope.json",
    .kind = EXPORT_TEXT,
    .write = write_speedscope,
};
