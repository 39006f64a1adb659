/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's own format: packets of track events. Each thread is a sequence of packets with a track; names stand in its
 * first packet that needs them, and are numbers from then on. Times are nanoseconds since the recording began. Field
 * numbers are those of Perfetto's protos/perfetto/trace; tests/export/perfetto.proto has those that are used here.
 */
#include "export/export_calls.h"
#include "export/export_records.h"
#include "export/export_text.h"
#include "export/function_texts.h"
#include "export/perfetto_kernel.h"
#include "export/perfetto_packet.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096u

struct perfetto {
    const struct export_job *job;
    struct protobuf_writer writer;
    struct function_texts names;
    size_t thread;      /* index */
    uint32_t *named_in; /* of each function: one more than the thread that named it last */
    size_t function_capacity;
};

/* ---- packets ----------------------------------------------------------------------------------------------------- */

static size_t begin_packet(struct perfetto *perfetto, uint64_t flags)
{
    size_t packet = protobuf_begin_message(&perfetto->writer, TRACE_PACKET);

    /* 0 is for no sequence. */
    protobuf_put_number(&perfetto->writer, PACKET_SEQUENCE, perfetto->thread + 1);
    protobuf_put_number(&perfetto->writer, PACKET_FLAGS, flags);
    return packet;
}

static int end_packet(struct perfetto *perfetto, size_t packet)
{
    return perfetto_end_packet(&perfetto->writer, packet, perfetto->job->stream);
}

static void put_clean(struct perfetto *perfetto, uint32_t field, const char *text)
{
    perfetto_put_clean(&perfetto->writer, field, text);
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

/* 0 is for no track. */
static uint64_t process_track(size_t process)
{
    return process + 1;
}

static uint64_t thread_track(const struct perfetto *perfetto, size_t thread)
{
    return perfetto->job->trace->process_count + thread + 1;
}

static int put_process(struct perfetto *perfetto, size_t index)
{
    const struct view_process *process = &perfetto->job->trace->processes[index];
    size_t packet = protobuf_begin_message(&perfetto->writer, TRACE_PACKET), track, inner;

    track = protobuf_begin_message(&perfetto->writer, PACKET_TRACK);
    protobuf_put_number(&perfetto->writer, TRACK_UUID, process_track(index));
    inner = protobuf_begin_message(&perfetto->writer, TRACK_PROCESS);
    protobuf_put_number(&perfetto->writer, PROCESS_PID, process->pid);
    put_clean(perfetto, PROCESS_NAME, process->command);
    protobuf_end_message(&perfetto->writer, inner);
    protobuf_end_message(&perfetto->writer, track);
    return end_packet(perfetto, packet);
}

/* What all packets of the sequence that follow need not say. */
static void put_defaults(struct perfetto *perfetto)
{
    size_t defaults = protobuf_begin_message(&perfetto->writer, PACKET_DEFAULTS);
    size_t event = protobuf_begin_message(&perfetto->writer, DEFAULTS_TRACK_EVENT);

    protobuf_put_number(&perfetto->writer, EVENT_TRACK, thread_track(perfetto, perfetto->thread));
    protobuf_end_message(&perfetto->writer, event);
    protobuf_end_message(&perfetto->writer, defaults);
}

static int put_thread(struct perfetto *perfetto)
{
    const struct view_thread *thread = &perfetto->job->trace->threads[perfetto->thread];
    size_t packet = begin_packet(perfetto, FLAG_STATE_CLEARED), track, inner;

    protobuf_put_number(&perfetto->writer, PACKET_IS_FIRST, 1);
    put_defaults(perfetto);
    track = protobuf_begin_message(&perfetto->writer, PACKET_TRACK);
    protobuf_put_number(&perfetto->writer, TRACK_UUID, thread_track(perfetto, perfetto->thread));
    inner = protobuf_begin_message(&perfetto->writer, TRACK_THREAD);
    protobuf_put_number(&perfetto->writer, THREAD_PID, perfetto->job->trace->processes[thread->process].pid);
    protobuf_put_number(&perfetto->writer, THREAD_TID, thread->tid);
    put_clean(perfetto, THREAD_NAME, thread->name);
    protobuf_end_message(&perfetto->writer, inner);
    protobuf_end_message(&perfetto->writer, track);
    return end_packet(perfetto, packet);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void put_entry(struct perfetto *perfetto, enum interned_field field, uint32_t function, const char *name)
{
    size_t entry = protobuf_begin_message(&perfetto->writer, field);

    /* 0 is for none. */
    protobuf_put_number(&perfetto->writer, ENTRY_NUMBER, (uint64_t)function + 1);
    protobuf_put_text(&perfetto->writer, ENTRY_NAME, name);
    protobuf_end_message(&perfetto->writer, entry);
}

static void put_source(struct perfetto *perfetto, const struct view_function *function, const char *name)
{
    char file[PATH_BYTES];
    size_t source;

    if (function->file == NULL)
        return;
    source = protobuf_begin_message(&perfetto->writer, INTERNED_SOURCE);
    protobuf_put_number(&perfetto->writer, SOURCE_NUMBER, (uint64_t)function->number + 1);
    protobuf_put_bytes(&perfetto->writer, SOURCE_FILE, file, export_text_clean(file, sizeof(file), function->file));
    protobuf_put_text(&perfetto->writer, SOURCE_FUNCTION, name);
    if (function->line != 0)
        protobuf_put_number(&perfetto->writer, SOURCE_LINE, function->line);
    protobuf_end_message(&perfetto->writer, source);
}

/* The function's name, as its category the file that its code is in, and where it is in the source. */
static int put_names(struct perfetto *perfetto, uint32_t function)
{
    const struct view_function *shown;
    const char *name;
    char category[PERFETTO_TEXT_BYTES];
    size_t interned;

    if (ARRAY_RESERVE_ZEROED(perfetto->named_in, perfetto->function_capacity, (size_t)function + 1) != 0)
        return -ENOMEM;
    if (perfetto->named_in[function] == perfetto->thread + 1)
        return 0;
    perfetto->named_in[function] = (uint32_t)perfetto->thread + 1;
    name = function_texts_get(&perfetto->names, function);
    if (name == NULL)
        return -ENOMEM;
    shown = view_functions_at(perfetto->job->functions, function);
    export_text_clean(category, sizeof(category),
                      shown->module == NULL ? "no file" : export_last_name(shown->module->path));
    interned = protobuf_begin_message(&perfetto->writer, PACKET_INTERNED);
    put_entry(perfetto, INTERNED_CATEGORY, function, category);
    put_entry(perfetto, INTERNED_NAME, function, name);
    put_source(perfetto, shown, name);
    protobuf_end_message(&perfetto->writer, interned);
    return 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static size_t begin_event(struct perfetto *perfetto, uint64_t time_ns, enum event_type type)
{
    size_t event;

    protobuf_put_number(&perfetto->writer, PACKET_TIMESTAMP, time_ns);
    event = protobuf_begin_message(&perfetto->writer, PACKET_TRACK_EVENT);
    protobuf_put_number(&perfetto->writer, EVENT_TYPE, type);
    return event;
}

static void annotate(struct perfetto *perfetto, const char *name, const char *text)
{
    perfetto_annotate(&perfetto->writer, name, text);
}

static int put_begin(void *context, const struct export_call *call)
{
    struct perfetto *perfetto = context;
    size_t packet = begin_packet(perfetto, FLAG_NEEDS_STATE), event;

    if (put_names(perfetto, call->function) != 0)
        return -ENOMEM;
    event = begin_event(perfetto, call->begin_ns, call->flags & CALL_ENTRY_ONLY ? TYPE_INSTANT : TYPE_BEGIN);
    protobuf_put_number(&perfetto->writer, EVENT_CATEGORY, (uint64_t)call->function + 1);
    protobuf_put_number(&perfetto->writer, EVENT_NAME, (uint64_t)call->function + 1);
    if (view_functions_at(perfetto->job->functions, call->function)->file != NULL)
        protobuf_put_number(&perfetto->writer, EVENT_SOURCE, (uint64_t)call->function + 1);
    if (call->flags & CALL_GUESSED)
        annotate(perfetto, "times", "guessed");
    if (call->flags & CALL_RESUMED)
        annotate(perfetto, "begin", "resumed");
    if (call->flags & CALL_ENTRY_ONLY)
        annotate(perfetto, "end", "not known");
    protobuf_end_message(&perfetto->writer, event);
    return end_packet(perfetto, packet);
}

static int put_end(void *context, const struct export_call *call)
{
    struct perfetto *perfetto = context;
    size_t packet, event;

    if (call->flags & CALL_ENTRY_ONLY)
        return 0;
    packet = begin_packet(perfetto, FLAG_NEEDS_STATE);
    event = begin_event(perfetto, call->end_ns, TYPE_END);
    if (call->flags & CALL_CUT)
        annotate(perfetto, "end", "cut off");
    else if (call->flags & CALL_SUSPENDED)
        annotate(perfetto, "end", "suspended");
    else if (call->flags & CALL_UNWOUND)
        annotate(perfetto, "end", "unwound");
    else if (call->flags & CALL_NO_RETURN)
        annotate(perfetto, "end", "return not seen");
    protobuf_end_message(&perfetto->writer, event);
    return end_packet(perfetto, packet);
}

static int put_gap(void *context, size_t thread, uint64_t time_ns, uint64_t lost_bytes)
{
    struct perfetto *perfetto = context;
    size_t packet = begin_packet(perfetto, FLAG_NEEDS_STATE), event = begin_event(perfetto, time_ns, TYPE_INSTANT);
    size_t annotation;

    (void)thread;
    protobuf_put_text(&perfetto->writer, EVENT_TEXT, lost_bytes == 0 ? "left out" : "lost");
    annotation = protobuf_begin_message(&perfetto->writer, EVENT_ANNOTATION);
    protobuf_put_text(&perfetto->writer, ANNOTATION_NAME, "lost bytes");
    protobuf_put_number(&perfetto->writer, ANNOTATION_NUMBER, lost_bytes);
    protobuf_end_message(&perfetto->writer, annotation);
    protobuf_end_message(&perfetto->writer, event);
    return end_packet(perfetto, packet);
}

static int put_probe(void *context, const struct export_probe *probe)
{
    struct perfetto *perfetto = context;
    size_t packet = begin_packet(perfetto, FLAG_NEEDS_STATE);
    size_t event = begin_event(perfetto, probe->time_ns, TYPE_INSTANT);

    protobuf_put_text(&perfetto->writer, EVENT_CATEGORY_TEXT, "probe");
    put_clean(perfetto, EVENT_TEXT, probe->name);
    annotate(perfetto, "arguments", probe->arguments);
    protobuf_end_message(&perfetto->writer, event);
    return end_packet(perfetto, packet);
}

/* On the same track as calls, behind them in the file: readers put all in the order of time. */
static int put_system_call(void *context, const struct export_system_call *call)
{
    struct perfetto *perfetto = context;
    size_t packet = begin_packet(perfetto, FLAG_NEEDS_STATE), event;
    int result;

    event = begin_event(perfetto, call->begin_ns, call->has_returned ? TYPE_BEGIN : TYPE_INSTANT);
    protobuf_put_text(&perfetto->writer, EVENT_CATEGORY_TEXT, "syscall");
    protobuf_put_text(&perfetto->writer, EVENT_TEXT, call->name);
    annotate(perfetto, "text", call->text);
    protobuf_end_message(&perfetto->writer, event);
    result = end_packet(perfetto, packet);
    if (result != 0 || !call->has_returned)
        return result;
    packet = begin_packet(perfetto, FLAG_NEEDS_STATE);
    event = begin_event(perfetto, call->end_ns, TYPE_END);
    protobuf_end_message(&perfetto->writer, event);
    return end_packet(perfetto, packet);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int write_thread(struct perfetto *perfetto, size_t thread, struct gait_error *err)
{
    const struct export_receiver receiver = {put_begin, put_end, put_gap, perfetto};
    const struct export_system_call_receiver system_calls = {put_system_call, perfetto};
    const struct export_probe_receiver probes = {put_probe, perfetto};
    int result, other;

    perfetto->thread = thread;
    result = put_thread(perfetto);
    if (result == 0 && perfetto->job->trace->threads[thread].piece_count != 0)
        result = export_calls_read(perfetto->job, thread, &receiver, err);
    if (result > 0 || result == -ENOMEM)
        return result;
    other = export_system_calls_read(perfetto->job, thread, &system_calls, result == 0 ? err : NULL);
    result = result == 0 ? other : result;
    if (result > 0 || result == -ENOMEM)
        return result;
    other = export_probes_read(perfetto->job, thread, &probes, result == 0 ? err : NULL);
    return result == 0 ? other : result;
}

static int write_all(struct perfetto *perfetto, struct gait_error *err)
{
    const struct export_job *job = perfetto->job;
    size_t put = SIZE_MAX;
    int first = 0;

    for (size_t i = 0; i < job->thread_count + job->silent_count && first <= 0; i++) {
        size_t process = job->trace->threads[job->threads[i]].process;
        int result = process == put ? 0 : put_process(perfetto, process);

        put = process;
        if (result == 0)
            result = write_thread(perfetto, job->threads[i], first == 0 ? err : NULL);
        first = first == 0 ? result : first;
    }
    return first;
}

static int write_perfetto(const struct export_job *job, struct gait_error *err)
{
    struct perfetto perfetto = {.job = job};
    int result;

    protobuf_writer_init(&perfetto.writer);
    view_functions_want_sources(job->functions);
    function_texts_init(&perfetto.names, job->functions, function_texts_name);
    result = perfetto_kernel_behind(job, write_all(&perfetto, err), &perfetto.writer, err);
    if (protobuf_writer_flush(&perfetto.writer, job->stream) != 0)
        result = error_set(err, ENOMEM, "cannot export: there is no memory");
    function_texts_deinit(&perfetto.names);
    protobuf_writer_deinit(&perfetto.writer);
    free(perfetto.named_in);
    return result;
}

extern const struct export_format export_format_perfetto;
const struct export_format export_format_perfetto = {
    .name = "perfetto",
    .file_name = "trace.pftrace",
    .kind = EXPORT_BINARY,
    .write = write_perfetto,
};
