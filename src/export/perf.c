/* SPDX-License-Identifier: MIT */
/*
 * Text as `perf script` prints it: a sample each time the stack of a thread changes, at that time, with the stack that
 * it has from then on, the innermost frame first; the period is for how many nanoseconds it has. So who adds up periods
 * and who looks at the time up to the next sample finds the same. Between calls that were recorded a frame says so.
 * Stacks that the kernel took are samples as perf itself would write them, behind all others.
 * Memory grows with how deep calls go.
 */
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "hosted/growing_array.h"
#include "view/kernel_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_BYTES 64u
#define EVENT_BYTES  256u
#define PATH_BYTES   4096u
#define FRAMES_MAX   127u /* of a stack, the innermost, as perf has it */
#define EVENT        "gait"
#define OUTSIDE      "[outside]"
#define KERNEL_IMAGE "[kernel.kallsyms]"

struct perf {
    const struct export_job *job;
    struct function_texts texts;
    uint32_t *stack; /* numbers of functions, the outermost first */
    size_t depth;
    size_t capacity;
    size_t thread;
    uint64_t since_ns; /* when it became so */
    bool is_begun;     /* of the thread, something was told */
};

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* "name+0x0 (/path/of/file)"; the offset is that of the first instruction. */
static char *make_text(const struct view_function *function)
{
    const char *path = function->module == NULL ? "[unknown]" : function->module->path;
    size_t bytes = strlen(function->name) * 3 + strlen(path) * 3 + sizeof("+0x0 ()");
    char *text = malloc(bytes);
    size_t used;

    if (text == NULL)
        return NULL;
    used = export_text_clean(text, bytes, function->name);
    used += (size_t)snprintf(text + used, bytes - used, "+0x0 (");
    used += export_text_clean(text + used, bytes - used, path);
    snprintf(text + used, bytes - used, ")");
    return text;
}

/* "name  123/124  1.234567890:  1000 gait:" */
static void put_header(const struct perf *perf, uint64_t period_ns)
{
    const struct view_trace *trace = perf->job->trace;
    const struct view_thread *thread = &trace->threads[perf->thread];
    char name[THREAD_BYTES];

    export_text_clean(name, sizeof(name), thread->name);
    if (name[0] == '\0')
        snprintf(name, sizeof(name), ":%" PRIu32, thread->tid);
    fprintf(perf->job->stream, "%s %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " " EVENT ":\n", name,
            view_trace_process_of(trace, perf->thread)->pid, thread->tid, perf->since_ns / 1000000000,
            perf->since_ns % 1000000000, period_ns);
}

static int put_frames(struct perf *perf)
{
    FILE *stream = perf->job->stream;
    size_t outermost = perf->depth < FRAMES_MAX ? 0 : perf->depth - FRAMES_MAX;

    if (perf->depth == 0)
        export_put(stream, "\t0 " OUTSIDE " ([gait])\n");
    for (size_t i = perf->depth; i-- > outermost;) {
        const char *text = function_texts_get(&perf->texts, perf->stack[i]);

        if (text == NULL)
            return -ENOMEM;
        fprintf(stream, "\t%16" PRIx64 " %s\n", view_functions_at(perf->job->functions, perf->stack[i])->address, text);
    }
    export_put(stream, "\n");
    return ferror(stream) != 0;
}

/* The stack was the same up to that time. */
static int put_sample(struct perf *perf, uint64_t until_ns)
{
    if (!perf->is_begun || until_ns <= perf->since_ns)
        return 0;
    put_header(perf, until_ns - perf->since_ns);
    perf->since_ns = until_ns;
    return put_frames(perf);
}

/* What comes is of another thread, or there is nothing any more: a last sample ends the one before. */
static int end_thread(struct perf *perf)
{
    if (!perf->is_begun)
        return 0;
    perf->depth = 0;
    put_header(perf, 0);
    perf->is_begun = false;
    return put_frames(perf);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static int push(struct perf *perf, uint32_t function)
{
    if (ARRAY_RESERVE(perf->stack, perf->capacity, perf->depth + 1) != 0)
        return -ENOMEM;
    perf->stack[perf->depth++] = function;
    return 0;
}

static int take_begin(void *context, const struct export_call *call)
{
    struct perf *perf = context;
    int result;

    /* A sample says how long something took. */
    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
    result = call->thread == perf->thread ? put_sample(perf, call->begin_ns) : end_thread(perf);

    if (!perf->is_begun) {
        perf->thread = call->thread;
        perf->since_ns = call->begin_ns;
        perf->is_begun = true;
    }
    return result != 0 ? result : push(perf, call->function);
}

static int take_end(void *context, const struct export_call *call)
{
    struct perf *perf = context;
    int result;

    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
    result = put_sample(perf, call->end_ns);
    perf->depth -= perf->depth != 0;
    return result;
}

/* ---- what the kernel saw ----------------------------------------------------------------------------------------- */

static void put_kernel_frame(FILE *stream, const struct kernel_frame *frame)
{
    const char *path = frame->is_kernel ? KERNEL_IMAGE : frame->module == NULL ? "[unknown]" : frame->module->path;
    char name[KERNEL_FRAME_NAME_BYTES], file[PATH_BYTES];

    export_text_clean(name, sizeof(name), frame->is_named ? frame->name : "[unknown]");
    export_text_clean(file, sizeof(file), path);
    if (frame->is_named)
        fprintf(stream, "\t%16" PRIx64 " %s+0x%" PRIx64 " (%s)\n", frame->address, name, frame->distance, file);
    else
        fprintf(stream, "\t%16" PRIx64 " %s (%s)\n", frame->address, name, file);
}

/* "name  123/124 [001]  1.234567890:  10101010 profile:hz:99:"; what has no stack has no sample. */
static int put_kernel_sample(void *context, const struct export_kernel_event *told)
{
    struct perf *perf = context;
    FILE *stream = perf->job->stream;
    char name[THREAD_BYTES], event[EVENT_BYTES];
    struct kernel_frame frame;

    if (kernel_stack_depth(told->event) == 0)
        return 0;
    export_text_clean(name, sizeof(name), told->thread);
    export_text_clean(event, sizeof(event), told->source->spec);
    if (name[0] == '\0')
        snprintf(name, sizeof(name), ":%" PRIu32, told->event->tid);
    fprintf(stream, "%s %" PRIu32 "/%" PRIu32 " [%03" PRIu32 "] %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s:\n", name,
            told->event->pid, told->event->tid, told->event->cpu, told->time_ns / 1000000000,
            told->time_ns % 1000000000, export_kernel_weight(told->source), event);
    for (size_t i = 0; i < kernel_stack_depth(told->event); i++) {
        kernel_stack_frame(perf->job->functions, told->sources, told->event, i, &frame);
        put_kernel_frame(stream, &frame);
    }
    export_put(stream, "\n");
    return ferror(stream) != 0;
}

static int write_perf(const struct export_job *job, struct gait_error *err)
{
    struct perf perf = {.job = job, .thread = SIZE_MAX};
    const struct export_receiver receiver = {take_begin, take_end, NULL, &perf};
    const struct export_kernel_receiver samples = {put_kernel_sample, &perf};
    int result;

    function_texts_init(&perf.texts, job->functions, make_text);
    result = export_calls_read_all(job, &receiver, err);
    if (end_thread(&perf) == -ENOMEM && result == 0)
        result = -ENOMEM;
    result = export_kernel_behind(job, result, &samples, err);
    function_texts_deinit(&perf.texts);
    free(perf.stack);
    return result;
}

extern const struct export_format export_format_perf;
const struct export_format export_format_perf = {
    .name = "perf",
    .file_name = "trace.perf",
    .kind = EXPORT_TEXT,
    .write = write_perf,
};
