/* SPDX-License-Identifier: MIT */
/*
 * All packets are of one sequence, behind those of threads. What the kernel reports of a thread that was recorded as
 * well stands on a track of its own with the same numbers: viewers put both together.
 */
#include "export/perfetto_kernel.h"

#include "export/export_records.h"
#include "export/frame_texts.h"
#include "export/perfetto_packet.h"
#include "hosted/error_text.h"
#include "trace/kernel_event_text.h"
#include "view/kernel_sched.h"
#include "view/kernel_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX   510u /* of both stacks together */
#define VALUE_BYTES  1024
#define KERNEL_IMAGE "[kernel.kallsyms]"

struct kernel_packets {
    const struct export_job *job;
    struct protobuf_writer *writer;
    bool is_begun;
    struct kernel_sched sched;
    struct hash_map threads;   /* tid: its track was described */
    struct frame_texts frames; /* numbers of "path\nfunction" */
    struct frame_texts paths;  /* numbers of paths */
    struct hash_map stacks;    /* stack that it is called by and frame -> number of the stack */
    struct hash_map told;      /* numbers of those that were described */
    uint32_t stack_count;
};

static size_t begin_packet(struct kernel_packets *packets)
{
    const struct view_trace *trace = packets->job->trace;
    size_t packet = protobuf_begin_message(packets->writer, TRACE_PACKET);

    protobuf_put_number(packets->writer, PACKET_SEQUENCE, trace->thread_count + trace->silent_count + 1);
    protobuf_put_number(packets->writer, PACKET_FLAGS, packets->is_begun ? FLAG_NEEDS_STATE : FLAG_STATE_CLEARED);
    if (!packets->is_begun)
        protobuf_put_number(packets->writer, PACKET_IS_FIRST, 1);
    packets->is_begun = true;
    return packet;
}

static int end_packet(struct kernel_packets *packets, size_t packet)
{
    return perfetto_end_packet(packets->writer, packet, packets->job->stream);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Behind those of processes and threads that were recorded. */
static uint64_t track_of(const struct kernel_packets *packets, uint32_t tid)
{
    const struct view_trace *trace = packets->job->trace;

    return trace->process_count + trace->thread_count + trace->silent_count + 1 + (uint64_t)tid;
}

/* A CPU that has nothing to do is no thread. */
static int put_thread(struct kernel_packets *packets, const struct export_kernel_event *told)
{
    uint64_t known;
    size_t packet, track, thread;

    if (hash_map_lookup(&packets->threads, told->event->tid, &known))
        return 0;
    if (hash_map_set(&packets->threads, told->event->tid, 1) != 0)
        return -ENOMEM;
    packet = begin_packet(packets);
    track = protobuf_begin_message(packets->writer, PACKET_TRACK);
    protobuf_put_number(packets->writer, TRACK_UUID, track_of(packets, told->event->tid));
    if (told->event->tid == 0) {
        protobuf_put_text(packets->writer, TRACK_NAME, "idle");
    } else {
        thread = protobuf_begin_message(packets->writer, TRACK_THREAD);
        protobuf_put_number(packets->writer, THREAD_PID, told->event->pid);
        protobuf_put_number(packets->writer, THREAD_TID, told->event->tid);
        perfetto_put_clean(packets->writer, THREAD_NAME, told->thread);
        protobuf_end_message(packets->writer, thread);
    }
    protobuf_end_message(packets->writer, track);
    return end_packet(packets, packet);
}

/* ---- who runs ---------------------------------------------------------------------------------------------------- */

static void put_switch(struct protobuf_writer *writer, const struct kernel_sched_change *change)
{
    size_t inner = protobuf_begin_message(writer, FTRACE_SWITCH);

    perfetto_put_clean(writer, SWITCH_PREV_NAME, change->from.name);
    protobuf_put_number(writer, SWITCH_PREV_TID, change->from.tid);
    protobuf_put_number(writer, SWITCH_PREV_PRIORITY, (uint64_t)(int64_t)change->from.priority);
    protobuf_put_number(writer, SWITCH_PREV_STATE, change->state);
    perfetto_put_clean(writer, SWITCH_NEXT_NAME, change->to.name);
    protobuf_put_number(writer, SWITCH_NEXT_TID, change->to.tid);
    protobuf_put_number(writer, SWITCH_NEXT_PRIORITY, (uint64_t)(int64_t)change->to.priority);
    protobuf_end_message(writer, inner);
}

static void put_waking(struct protobuf_writer *writer, const struct kernel_sched_change *change)
{
    size_t inner = protobuf_begin_message(writer, change->kind == KERNEL_SCHED_WAKING ? FTRACE_WAKING : FTRACE_WAKEUP);

    perfetto_put_clean(writer, WAKEUP_NAME, change->from.name);
    protobuf_put_number(writer, WAKEUP_TID, change->from.tid);
    protobuf_put_number(writer, WAKEUP_PRIORITY, (uint64_t)(int64_t)change->from.priority);
    protobuf_put_number(writer, WAKEUP_SUCCESS, 1);
    protobuf_put_number(writer, WAKEUP_CPU, change->target_cpu);
    protobuf_end_message(writer, inner);
}

static int put_sched(struct kernel_packets *packets, const struct export_kernel_event *told,
                     const struct kernel_sched_change *change)
{
    size_t packet = begin_packet(packets), bundle = protobuf_begin_message(packets->writer, PACKET_FTRACE), event;

    protobuf_put_number(packets->writer, FTRACE_CPU, told->event->cpu);
    event = protobuf_begin_message(packets->writer, FTRACE_EVENT);
    protobuf_put_number(packets->writer, FTRACE_TIMESTAMP, told->time_ns);
    protobuf_put_number(packets->writer, FTRACE_PID,
                        change->kind == KERNEL_SCHED_SWITCH ? change->from.tid : told->event->tid);
    if (change->kind == KERNEL_SCHED_SWITCH)
        put_switch(packets->writer, change);
    else
        put_waking(packets->writer, change);
    protobuf_end_message(packets->writer, event);
    protobuf_end_message(packets->writer, bundle);
    return end_packet(packets, packet);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static void put_entry(struct protobuf_writer *writer, enum interned_field field, uint32_t number, const char *text)
{
    size_t entry = protobuf_begin_message(writer, field);

    protobuf_put_number(writer, ENTRY_NUMBER, (uint64_t)number + 1);
    perfetto_put_clean(writer, ENTRY_NAME, text);
    protobuf_end_message(writer, entry);
}

static uint32_t put_mapping(struct kernel_packets *packets, const struct recorded_module *module, const char *path)
{
    size_t known = packets->paths.count, mapping;
    uint32_t number = frame_texts_number(&packets->paths, path);

    if (number == FRAME_NONE || packets->paths.count == known)
        return number;
    put_entry(packets->writer, INTERNED_PATH, number, path);
    mapping = protobuf_begin_message(packets->writer, INTERNED_MAPPING);
    protobuf_put_number(packets->writer, MAPPING_NUMBER, (uint64_t)number + 1);
    if (module != NULL) {
        protobuf_put_number(packets->writer, MAPPING_OFFSET, module->file_offset);
        protobuf_put_number(packets->writer, MAPPING_START, module->start);
        protobuf_put_number(packets->writer, MAPPING_END, module->end);
    }
    protobuf_put_number(packets->writer, MAPPING_PATH, (uint64_t)number + 1);
    protobuf_end_message(packets->writer, mapping);
    return number;
}

/* Frames of the same function are one: what stacks are added up by. */
static uint32_t put_frame(struct kernel_packets *packets, const struct kernel_frame *shown)
{
    const char *path = shown->is_kernel ? KERNEL_IMAGE : shown->module == NULL ? "[unknown]" : shown->module->path;
    char key[KERNEL_FRAME_NAME_BYTES + 4200];
    uint32_t number, mapping;
    size_t known = packets->frames.count, frame;

    snprintf(key, sizeof(key), "%.4096s\n%s", path, shown->name);
    number = frame_texts_number(&packets->frames, key);
    if (number == FRAME_NONE || packets->frames.count == known)
        return number;
    mapping = put_mapping(packets, shown->module, path);
    if (mapping == FRAME_NONE)
        return FRAME_NONE;
    put_entry(packets->writer, INTERNED_FUNCTION, number, shown->name);
    frame = protobuf_begin_message(packets->writer, INTERNED_FRAME);
    protobuf_put_number(packets->writer, FRAME_NUMBER, (uint64_t)number + 1);
    protobuf_put_number(packets->writer, FRAME_FUNCTION, (uint64_t)number + 1);
    protobuf_put_number(packets->writer, FRAME_MAPPING, (uint64_t)mapping + 1);
    protobuf_put_number(packets->writer, FRAME_PLACE,
                        shown->module == NULL ? shown->address - shown->distance
                                              : shown->address - shown->module->start + shown->module->file_offset);
    protobuf_end_message(packets->writer, frame);
    return number;
}

/* The number of a stack, from 1 on, that goes on from another one; 0: there is no memory. */
static uint32_t number_stack(struct kernel_packets *packets, uint32_t below, uint32_t frame)
{
    uint64_t key = (uint64_t)below << 32 | frame, known;

    if (hash_map_lookup(&packets->stacks, key, &known))
        return (uint32_t)known;
    if (packets->stack_count == UINT32_MAX - 1 || hash_map_set(&packets->stacks, key, packets->stack_count + 1) != 0)
        return 0;
    hash_map_reclaim(&packets->stacks);
    return ++packets->stack_count;
}

/* Its number, with all that is needed to know it in the packet; 0: there is no memory. */
static uint32_t put_stack(struct kernel_packets *packets, const struct export_kernel_event *told)
{
    size_t depth = kernel_stack_depth(told->event), interned, stack;
    uint32_t frames[FRAMES_MAX], number = 0, count = 0;
    uint64_t known;

    interned = protobuf_begin_message(packets->writer, PACKET_INTERNED);
    for (size_t i = depth; i-- > 0 && count < FRAMES_MAX; count++) {
        struct kernel_frame frame;

        kernel_stack_frame(packets->job->functions, told->sources, told->event, i, &frame);
        frames[count] = put_frame(packets, &frame);
        number = frames[count] == FRAME_NONE ? 0 : number_stack(packets, number, frames[count]);
        if (number == 0)
            return 0;
    }
    if (!hash_map_lookup(&packets->told, number, &known)) {
        if (hash_map_set(&packets->told, number, 1) != 0)
            return 0;
        hash_map_reclaim(&packets->told);
        stack = protobuf_begin_message(packets->writer, INTERNED_STACK);
        protobuf_put_number(packets->writer, STACK_NUMBER, number);
        for (uint32_t i = 0; i < count; i++)
            protobuf_put_number(packets->writer, STACK_FRAME, (uint64_t)frames[i] + 1);
        protobuf_end_message(packets->writer, stack);
    }
    protobuf_end_message(packets->writer, interned);
    return number;
}

static bool is_sample(const struct export_kernel_event *told)
{
    return strncmp(told->source->spec, "profile:", 8) == 0 && kernel_stack_depth(told->event) != 0;
}

static int put_sample(struct kernel_packets *packets, const struct export_kernel_event *told)
{
    size_t packet = begin_packet(packets), sample;
    uint32_t stack = put_stack(packets, told);

    if (stack == 0)
        return -ENOMEM;
    protobuf_put_number(packets->writer, PACKET_TIMESTAMP, told->time_ns);
    sample = protobuf_begin_message(packets->writer, PACKET_SAMPLE);
    protobuf_put_number(packets->writer, SAMPLE_CPU, told->event->cpu);
    protobuf_put_number(packets->writer, SAMPLE_PID, told->event->pid);
    protobuf_put_number(packets->writer, SAMPLE_TID, told->event->tid);
    protobuf_put_number(packets->writer, SAMPLE_STACK, stack);
    protobuf_put_number(packets->writer, SAMPLE_MODE, told->event->kernel_frame_count != 0 ? MODE_KERNEL : MODE_USER);
    protobuf_end_message(packets->writer, sample);
    return end_packet(packets, packet);
}

/* ---- all others -------------------------------------------------------------------------------------------------- */

static void put_field(struct protobuf_writer *writer, const struct export_kernel_event *told,
                      const struct kernel_field *field)
{
    const struct kernel_value value =
        kernel_value_read(field, told->source->raw_base, told->event->raw, told->event->raw_bytes);
    bool is_number = value.is_there && !value.is_text && field->count == 1 && field->size_bytes <= sizeof(uint64_t);
    char text[VALUE_BYTES];
    size_t annotation;

    if (!is_number || (field->type != KERNEL_FIELD_SIGNED && field->type != KERNEL_FIELD_UNSIGNED)) {
        if (value.is_there && value.is_text)
            snprintf(text, sizeof(text), "%.*s", (int)value.size_bytes, (const char *)value.bytes);
        else
            (void)kernel_value_write(field, &value, text, sizeof(text));
        perfetto_annotate(writer, field->name, text);
        return;
    }
    annotation = protobuf_begin_message(writer, EVENT_ANNOTATION);
    protobuf_put_text(writer, ANNOTATION_NAME, field->name);
    protobuf_put_number(writer, field->type == KERNEL_FIELD_SIGNED ? ANNOTATION_SIGNED : ANNOTATION_NUMBER,
                        value.number);
    protobuf_end_message(writer, annotation);
}

static int put_instant(struct kernel_packets *packets, const struct export_kernel_event *told)
{
    char *stack = kernel_stack_write(packets->job->functions, told->sources, told->event);
    size_t packet = begin_packet(packets), event, annotation;

    protobuf_put_number(packets->writer, PACKET_TIMESTAMP, told->time_ns);
    event = protobuf_begin_message(packets->writer, PACKET_TRACK_EVENT);
    protobuf_put_number(packets->writer, EVENT_TYPE, TYPE_INSTANT);
    protobuf_put_number(packets->writer, EVENT_TRACK, track_of(packets, told->event->tid));
    protobuf_put_text(packets->writer, EVENT_CATEGORY_TEXT, "kernel");
    perfetto_put_clean(packets->writer, EVENT_TEXT, told->source->name);
    annotation = protobuf_begin_message(packets->writer, EVENT_ANNOTATION);
    protobuf_put_text(packets->writer, ANNOTATION_NAME, "cpu");
    protobuf_put_number(packets->writer, ANNOTATION_NUMBER, told->event->cpu);
    protobuf_end_message(packets->writer, annotation);
    for (size_t i = 0; i < told->source->field_count; i++)
        put_field(packets->writer, told, &told->source->fields[i]);
    if (stack != NULL)
        perfetto_annotate(packets->writer, "stack", stack);
    free(stack);
    protobuf_end_message(packets->writer, event);
    return end_packet(packets, packet);
}

static int put_event(void *context, const struct export_kernel_event *told)
{
    struct kernel_packets *packets = context;
    struct kernel_sched_change change;
    int result = 0;

    if (packets->sched.sources == NULL)
        result = kernel_sched_init(&packets->sched, told->sources);
    if (result == 0)
        result = put_thread(packets, told);
    if (result != 0)
        return result;
    kernel_sched_take(&packets->sched, told->source, told->event, &change);
    if (change.kind == KERNEL_SCHED_KNOWN)
        return 0;
    if (change.kind != KERNEL_SCHED_OTHER)
        return put_sched(packets, told, &change);
    return is_sample(told) ? put_sample(packets, told) : put_instant(packets, told);
}

/* ---- from begin to end ------------------------------------------------------------------------------------------- */

static int init(struct kernel_packets *packets)
{
    int results[] = {
        hash_map_init(&packets->threads, 64),
        hash_map_init(&packets->stacks, 64),
        hash_map_init(&packets->told, 64),
        frame_texts_init(&packets->frames, packets->job->functions, NULL),
        frame_texts_init(&packets->paths, packets->job->functions, NULL),
    };

    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        if (results[i] != 0)
            return results[i];
    return 0;
}

static void deinit(struct kernel_packets *packets)
{
    if (packets->sched.sources != NULL)
        kernel_sched_deinit(&packets->sched);
    hash_map_deinit(&packets->threads);
    hash_map_deinit(&packets->stacks);
    hash_map_deinit(&packets->told);
    frame_texts_deinit(&packets->frames);
    frame_texts_deinit(&packets->paths);
}

int perfetto_kernel_behind(const struct export_job *job, int result, struct protobuf_writer *writer,
                           struct gait_error *err)
{
    struct kernel_packets packets = {.job = job, .writer = writer};
    const struct export_kernel_receiver receiver = {put_event, &packets};

    if (init(&packets) == 0)
        result = export_kernel_behind(job, result, &receiver, err);
    else if (result == 0)
        result = error_set(err, ENOMEM, "cannot export the kernel's events: there is no memory");
    deinit(&packets);
    return result;
}
