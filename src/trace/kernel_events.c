/* SPDX-License-Identifier: MIT */
/* A reader for each CPU, which stands at its next event; the earliest of these is handed out. */
#include "trace/kernel_events.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kernel_events_cpu {
    uint32_t cpu;
    const char *path;
    struct stream_reader reader;
    struct stream_chunk chunk;
    size_t at; /* in the chunk, behind the next event */
    struct kernel_event next;
    bool is_over;
};

size_t kernel_record_read(const uint8_t *bytes, size_t available, struct kernel_event *event_out)
{
    struct kernel_record record;
    uint64_t needed;

    if (available < sizeof(record))
        return 0;
    memcpy(&record, bytes, sizeof(record));
    needed = sizeof(record) + trace_padded(record.raw_bytes) +
             sizeof(uint64_t) * ((uint64_t)record.kernel_frames + record.user_frames);
    if (record.size_bytes != needed || record.size_bytes > available || record.source == 0)
        return 0;
    *event_out = (struct kernel_event){
        .time = record.time,
        .source = record.source,
        .pid = record.pid,
        .tid = record.tid,
        .raw = bytes + sizeof(record),
        .raw_bytes = record.raw_bytes,
        .kernel_frames = (const uint64_t *)(const void *)(bytes + sizeof(record) + trace_padded(record.raw_bytes)),
        .kernel_frame_count = record.kernel_frames,
        .user_frame_count = record.user_frames,
    };
    event_out->user_frames = event_out->kernel_frames + record.kernel_frames;
    return record.size_bytes;
}

static void note_end(struct kernel_events *events, struct kernel_events_cpu *cpu)
{
    struct gait_error why;

    cpu->is_over = true;
    if (stream_end_check(&cpu->reader.end, cpu->path, &why) != 0 && stream_error_outweighs(&why, &events->problem))
        events->problem = why;
    if (cpu->reader.end.state == STREAM_COMPLETE)
        events->lost_count += cpu->reader.end.lost_behind;
}

/* Goes to the next event. What is no record ends its chunk. */
static void advance(struct kernel_events *events, struct kernel_events_cpu *cpu)
{
    for (;;) {
        size_t available = cpu->chunk.size_bytes - cpu->at;
        size_t size = available == 0 ? 0 : kernel_record_read(cpu->chunk.bytes + cpu->at, available, &cpu->next);

        if (size != 0) {
            cpu->at += size;
            cpu->next.cpu = cpu->cpu;
            return;
        }
        events->bad_bytes += available;
        if (!stream_reader_next(&cpu->reader, &cpu->chunk)) {
            note_end(events, cpu);
            return;
        }
        cpu->at = 0;
        events->lost_count += cpu->chunk.lost_before;
    }
}

static int open_cpu(struct kernel_events *events, const struct trace_files *files, const struct trace_file *file,
                    struct gait_error *err)
{
    struct kernel_events_cpu *cpu = &events->cpus[events->cpu_count];
    int result = stream_reader_open(&cpu->reader, files->folder, file->path, err);

    if (result != 0)
        return result;
    cpu->cpu = file->tid;
    cpu->path = file->path;
    events->cpu_count++;
    if (cpu->reader.header.kind != TRACE_STREAM_KERNEL_EVENTS)
        return error_set(err, EPROTO,
                         "cannot read '%s': it is a stream, but not one of events of the kernel; files were mixed up",
                         file->path);
    advance(events, cpu);
    return 0;
}

int kernel_events_open(struct kernel_events *events, const struct trace_files *files, struct gait_error *err)
{
    size_t count = 0;
    int result = 0;

    *events = (struct kernel_events){.cpu_count = 0};
    for (size_t i = 0; i < files->count; i++)
        count += files->files[i].kind == TRACE_FILE_KERNEL_EVENTS;
    if (count == 0)
        return error_set(err, ENOENT, "the trace has no events of the kernel");
    events->cpus = calloc(count, sizeof(*events->cpus));
    if (events->cpus == NULL)
        return error_set(err, ENOMEM, "cannot read events of the kernel: there is no memory");
    for (size_t i = 0; i < files->count && result == 0; i++)
        if (files->files[i].kind == TRACE_FILE_KERNEL_EVENTS)
            result = open_cpu(events, files, &files->files[i], err);
    if (result != 0)
        kernel_events_close(events);
    return result;
}

void kernel_events_close(struct kernel_events *events)
{
    for (size_t i = 0; i < events->cpu_count; i++)
        stream_reader_close(&events->cpus[i].reader);
    free(events->cpus);
    events->cpus = NULL;
    events->cpu_count = 0;
}

bool kernel_events_next(struct kernel_events *events, struct kernel_event *event_out)
{
    struct kernel_events_cpu *first = NULL;

    if (events->last != NULL)
        advance(events, events->last);
    for (size_t i = 0; i < events->cpu_count; i++) {
        struct kernel_events_cpu *cpu = &events->cpus[i];

        if (!cpu->is_over && (first == NULL || cpu->next.time < first->next.time))
            first = cpu;
    }
    events->last = first;
    if (first == NULL)
        return false;
    *event_out = first->next;
    return true;
}

void kernel_events_skip(struct kernel_events *events, uint64_t before)
{
    for (size_t i = 0; i < events->cpu_count; i++) {
        struct kernel_events_cpu *cpu = &events->cpus[i];

        if (cpu->is_over || cpu->chunk.last_time >= before)
            continue;
        (void)stream_reader_skip(&cpu->reader, before);
        cpu->at = cpu->chunk.size_bytes;
        advance(events, cpu);
    }
    events->last = NULL;
}

int kernel_events_sources(const struct trace_files *files, struct kernel_sources *sources_out, struct gait_error *err)
{
    for (size_t i = 0; i < files->count; i++)
        if (files->files[i].kind == TRACE_FILE_KERNEL_SOURCES)
            return kernel_sources_read(sources_out, files->folder, files->files[i].path, err);
    return error_set(err, ENOENT, "the trace has no events of the kernel");
}
