/* SPDX-License-Identifier: MIT */
/*
 * Events are packed as they come, into a buffer for each CPU that becomes a chunk when it is full or flushed. Names of
 * threads are written when they are first seen and when they change; functions of the kernel when the first stack is in
 * them; so the rest of the trace can be read on another machine.
 */
#define _GNU_SOURCE
#include "kernel/kernel_recorder.h"

#include "base/hash_map.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "kernel/module_streams.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/named_code.h"
#include "trace/kernel_packing.h"
#include "trace/stream_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES  (1u << 20) /* of records, as they are when they are read */
#define BUFFER_BYTES (CHUNK_BYTES + CHUNK_BYTES / 2)
#define PLACES_KNOWN 1024u
#define NO_TID       UINT32_MAX

struct cpu_stream {
    bool is_open;
    struct stream_writer writer;
    struct kernel_predictor *predictor;
    uint8_t *buffer;
    size_t used;
    size_t unpacked; /* what that was packed from */
    uint32_t tid;    /* the last one, whose name was told; NO_TID */
    uint64_t first_time;
    uint64_t last_time;
    uint64_t record_count;
    uint64_t lost_before;
};

struct kernel_recorder {
    int folder;
    const struct chosen_probes *list;
    uint32_t switch_source;
    struct chunk_encoder *encoder;
    struct clock_pair began;
    struct stream_writer sources;
    bool has_sources;
    uint8_t *definitions; /* not yet written */
    size_t definitions_used;
    size_t definitions_room;
    struct cpu_stream *cpus; /* by number */
    size_t cpu_count;
    struct hash_map threads;   /* whose names were told */
    struct hash_map functions; /* by start, the same */
    struct named_code kernel;
    bool has_kernel;                /* it was read, or cannot be */
    uint64_t places[PLACES_KNOWN];  /* in functions that were told, by their low bits: stacks have few */
    struct module_streams *modules; /* NULL: nobody wants names of the frames of programs, or an agent tells them */
    uint64_t *event_counts;
    uint64_t event_count;
    uint64_t last_time;
    int result; /* the first error */
};

static void note_result(struct kernel_recorder *recorder, int result)
{
    if (recorder->result == 0 && result != 0)
        recorder->result = result;
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

/* Room for one of that size, all zero. */
static void *add_definition(struct kernel_recorder *recorder, uint32_t kind, size_t size_bytes)
{
    size_t padded = trace_padded(size_bytes);
    struct kernel_definition *definition;

    if (ARRAY_RESERVE(recorder->definitions, recorder->definitions_room, recorder->definitions_used + padded) != 0) {
        note_result(recorder, -ENOMEM);
        return NULL;
    }
    definition = (struct kernel_definition *)(void *)(recorder->definitions + recorder->definitions_used);
    memset(definition, 0, padded);
    *definition = (struct kernel_definition){(uint32_t)padded, kind};
    recorder->definitions_used += padded;
    return definition;
}

static void define_source(struct kernel_recorder *recorder, size_t which)
{
    const struct source_probe *probe = recorder->list->probes[which];
    size_t spec_bytes = strlen(probe->spec), name_bytes = strlen(probe->name),
           format_bytes = probe->format == NULL ? 0 : strlen(probe->format);
    size_t fields_bytes = probe->field_count * sizeof(probe->fields[0]);
    struct kernel_source_definition *source = add_definition(
        recorder, KERNEL_DEFINES_SOURCE, sizeof(*source) + fields_bytes + spec_bytes + name_bytes + format_bytes);
    char *at;

    if (source == NULL)
        return;
    source->id = (uint32_t)which + 1;
    source->raw_base = probe->raw_base;
    source->field_count = (uint32_t)probe->field_count;
    source->spec_bytes = (uint32_t)spec_bytes;
    source->name_bytes = (uint32_t)name_bytes;
    source->format_bytes = (uint32_t)format_bytes;
    at = mempcpy(source + 1, probe->fields, fields_bytes);
    at = mempcpy(at, probe->spec, spec_bytes);
    at = mempcpy(at, probe->name, name_bytes);
    if (format_bytes != 0)
        memcpy(at, probe->format, format_bytes);
}

static void define_thread(struct kernel_recorder *recorder, uint32_t pid, uint32_t tid, const char *name, uint64_t time)
{
    struct kernel_thread_definition *thread = add_definition(recorder, KERNEL_DEFINES_THREAD, sizeof(*thread));

    if (thread == NULL)
        return;
    thread->time = time;
    thread->pid = pid;
    thread->tid = tid;
    memcpy(thread->name, name, strnlen(name, sizeof(thread->name)));
    if (hash_map_set(&recorder->threads, tid, 1) != 0)
        note_result(recorder, -ENOMEM);
}

/* Who is seen for the first time has a name already; thread 0 is the CPU doing nothing. */
static void look_up_thread(struct kernel_recorder *recorder, uint32_t pid, uint32_t tid)
{
    char path[64], name[32] = "";
    uint64_t known;
    ssize_t got;
    int fd;

    if (hash_map_lookup(&recorder->threads, tid, &known))
        return;
    snprintf(path, sizeof(path), "/proc/%u/comm", tid);
    fd = tid == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
    if (fd >= 0)
        close(fd);
    name[got > 0 ? got : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (tid == 0)
        snprintf(name, sizeof(name), "idle");
    /* From the beginning on: it had the name before. */
    define_thread(recorder, pid, tid, name, recorder->began.counter);
}

static void look_up_function(struct kernel_recorder *recorder, uint64_t address)
{
    uint64_t *place = &recorder->places[address % PLACES_KNOWN];
    const struct named_range *range;
    struct kernel_function_definition *function;
    const char *name;
    uint64_t known;
    size_t length;

    if (*place == address)
        return;
    *place = address;
    if (!recorder->has_kernel && kernel_symbols_read(&recorder->kernel, NULL) != 0)
        named_code_finish(&recorder->kernel);
    recorder->has_kernel = true;
    range = named_code_find(&recorder->kernel, address, 0);
    if (range == NULL || hash_map_lookup(&recorder->functions, range->begin, &known))
        return;
    name = named_code_name(&recorder->kernel, range);
    length = strlen(name);
    function = add_definition(recorder, KERNEL_DEFINES_FUNCTION, sizeof(*function) + length);
    if (function == NULL)
        return;
    function->start = range->begin;
    function->end = range->end;
    function->name_bytes = (uint32_t)length;
    memcpy(function + 1, name, length);
    if (hash_map_set(&recorder->functions, range->begin, 1) != 0)
        note_result(recorder, -ENOMEM);
}

static int write_definitions(struct kernel_recorder *recorder)
{
    const struct chunk_contents contents = {
        .bytes = recorder->definitions,
        .size_bytes = recorder->definitions_used,
        .first_time = recorder->began.counter,
        .last_time = recorder->last_time > recorder->began.counter ? recorder->last_time : recorder->began.counter,
    };
    int result;

    if (recorder->definitions_used == 0)
        return 0;
    result = stream_writer_put(&recorder->sources, &contents);
    recorder->definitions_used = 0;
    return result;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void free_stream(struct cpu_stream *cpu)
{
    free(cpu->buffer);
    kernel_predictor_destroy(cpu->predictor);
    cpu->buffer = NULL;
    cpu->predictor = NULL;
}

static int open_stream(struct kernel_recorder *recorder, struct cpu_stream *cpu, uint32_t number)
{
    const struct trace_stream_header header = {.kind = TRACE_STREAM_KERNEL_EVENTS, .began = recorder->began};
    char name[48];
    int result;

    snprintf(name, sizeof(name), "%u" KERNEL_EVENTS_SUFFIX, number);
    cpu->tid = NO_TID;
    cpu->buffer = malloc(BUFFER_BYTES);
    result = cpu->buffer == NULL ? -ENOMEM : kernel_predictor_create(&cpu->predictor);
    if (result == 0)
        result = stream_writer_open(&cpu->writer, recorder->folder, name, &header, recorder->encoder);
    cpu->is_open = result == 0;
    if (result != 0)
        free_stream(cpu);
    return result;
}

static struct cpu_stream *stream_of(struct kernel_recorder *recorder, uint32_t number)
{
    if (number < recorder->cpu_count && recorder->cpus[number].is_open)
        return &recorder->cpus[number];
    if (ARRAY_RESERVE_ZEROED(recorder->cpus, recorder->cpu_count, (size_t)number + 1) != 0) {
        note_result(recorder, -ENOMEM);
        return NULL;
    }
    if (!recorder->cpus[number].is_open)
        note_result(recorder, open_stream(recorder, &recorder->cpus[number], number));
    return recorder->cpus[number].is_open ? &recorder->cpus[number] : NULL;
}

/* What does not get smaller by packing is stored as it is. */
static int put_contents(struct cpu_stream *cpu, const struct chunk_contents *packed)
{
    struct chunk_contents contents = *packed;
    uint8_t *records;
    int result;

    if (packed->size_bytes < packed->unpacked_bytes)
        return stream_writer_put(&cpu->writer, packed);
    records = malloc(packed->unpacked_bytes);
    if (records == NULL)
        return -ENOMEM;
    result = kernel_packing_undo(cpu->predictor, packed->bytes, packed->size_bytes, records, packed->unpacked_bytes);
    contents.bytes = records;
    contents.size_bytes = packed->unpacked_bytes;
    contents.unpacked_bytes = 0;
    if (result == 0)
        result = stream_writer_put(&cpu->writer, &contents);
    free(records);
    return result;
}

static void write_events(struct kernel_recorder *recorder, struct cpu_stream *cpu)
{
    const struct chunk_contents contents = {
        .bytes = cpu->buffer,
        .size_bytes = cpu->used,
        .unpacked_bytes = cpu->unpacked,
        .first_time = cpu->first_time,
        .last_time = cpu->last_time + 1,
        .lost_before = cpu->lost_before,
        .record_count = cpu->record_count,
    };

    if (cpu->used == 0 || recorder->result != 0)
        return;
    /* Whoever reads events knows what they mean. */
    note_result(recorder, write_definitions(recorder));
    if (recorder->result == 0)
        note_result(recorder, put_contents(cpu, &contents));
    kernel_packing_begin(cpu->predictor);
    cpu->used = 0;
    cpu->unpacked = 0;
    cpu->record_count = 0;
    cpu->lost_before = 0;
}

/* Whether it fits into a record; mostly it does. */
static bool fits(const struct kernel_event *event)
{
    return event->raw_bytes <= KERNEL_RAW_BYTES_MAX && event->kernel_frame_count <= KERNEL_FRAMES_MAX &&
           event->user_frame_count <= KERNEL_FRAMES_MAX;
}

static struct kernel_event cut(const struct kernel_event *event)
{
    struct kernel_event made = *event;

    if (made.raw_bytes > KERNEL_RAW_BYTES_MAX)
        made.raw_bytes = KERNEL_RAW_BYTES_MAX;
    if (made.kernel_frame_count > KERNEL_FRAMES_MAX)
        made.kernel_frame_count = KERNEL_FRAMES_MAX;
    if (made.user_frame_count > KERNEL_FRAMES_MAX)
        made.user_frame_count = KERNEL_FRAMES_MAX;
    return made;
}

static void put_event(struct kernel_recorder *recorder, struct cpu_stream *cpu, const struct kernel_event *event)
{
    size_t size = sizeof(struct kernel_record) + trace_padded(event->raw_bytes) +
                  sizeof(uint64_t) * (event->kernel_frame_count + event->user_frame_count);

    if (cpu->unpacked + size > CHUNK_BYTES || cpu->used > BUFFER_BYTES - KERNEL_PACKED_BYTES_MAX)
        write_events(recorder, cpu);
    if (cpu->used == 0)
        cpu->first_time = event->time;
    cpu->last_time = event->time;
    cpu->used += kernel_packing_put(cpu->predictor, event, cpu->buffer + cpu->used);
    cpu->unpacked += size;
    cpu->record_count++;
}

static void take_event(void *context, const struct kernel_event *event)
{
    struct kernel_recorder *recorder = context;
    struct cpu_stream *cpu = stream_of(recorder, event->cpu);
    struct kernel_event whole;

    if (cpu == NULL || recorder->result != 0)
        return;
    if (event->tid != cpu->tid) {
        look_up_thread(recorder, event->pid, event->tid);
        cpu->tid = event->tid;
    }
    for (size_t i = 0; i < event->kernel_frame_count; i++)
        look_up_function(recorder, event->kernel_frames[i]);
    if (event->user_frame_count != 0 && recorder->modules != NULL)
        module_streams_want(recorder->modules, event->pid);
    if (event->time > recorder->last_time)
        recorder->last_time = event->time;
    if (!fits(event)) {
        whole = cut(event);
        event = &whole;
    }
    put_event(recorder, cpu, event);
    recorder->event_count++;
    recorder->event_counts[event->source - 1]++;
}

static void take_name(void *context, uint32_t pid, uint32_t tid, const char *name, uint64_t time, bool by_exec)
{
    struct kernel_recorder *recorder = context;

    define_thread(recorder, pid, tid, name, time);
    if (by_exec && recorder->modules != NULL)
        module_streams_execute(recorder->modules, pid, time);
}

/* A thread that is made has the name of its maker. */
static void take_fork(void *context, uint32_t pid, uint32_t parent_pid, uint32_t tid, uint64_t time)
{
    struct kernel_recorder *recorder = context;

    (void)hash_map_remove(&recorder->threads, tid);
    look_up_thread(recorder, pid, tid);
    if (recorder->modules != NULL)
        module_streams_fork(recorder->modules, pid, parent_pid, time);
}

static void take_mapping(void *context, const struct perf_mapping *mapping)
{
    struct kernel_recorder *recorder = context;

    if (recorder->modules != NULL)
        module_streams_map(recorder->modules, mapping);
}

static void take_exit(void *context, uint32_t pid, uint32_t tid, uint64_t time)
{
    struct kernel_recorder *recorder = context;

    (void)time;
    if (recorder->modules != NULL && pid == tid)
        module_streams_exit(recorder->modules, pid);
}

static void take_switch(void *context, const struct perf_switch *change)
{
    struct kernel_recorder *recorder = context;
    const uint32_t fields[2] = {!change->is_out, change->is_preempted};
    const struct kernel_event event = {
        .time = change->time,
        .cpu = change->cpu,
        .source = recorder->switch_source,
        .pid = change->pid,
        .tid = change->tid,
        .raw = (const uint8_t *)fields,
        .raw_bytes = sizeof(fields),
    };

    if (recorder->switch_source != 0)
        take_event(recorder, &event);
}

static void take_lost(void *context, uint32_t cpu, uint64_t count, uint64_t time)
{
    struct kernel_recorder *recorder = context;
    struct cpu_stream *stream = stream_of(recorder, cpu);

    (void)time;
    if (stream == NULL)
        return;
    /* What stands before the gap is not behind it. */
    write_events(recorder, stream);
    stream->lost_before += count;
}

struct perf_receiver kernel_recorder_receiver(struct kernel_recorder *recorder)
{
    return (struct perf_receiver){.event = take_event,
                                  .named = take_name,
                                  .forked = take_fork,
                                  .mapped = take_mapping,
                                  .exited = take_exit,
                                  .switched = take_switch,
                                  .lost = take_lost,
                                  .context = recorder};
}

/* ---- from begin to end ------------------------------------------------------------------------------------------- */

static int make_folder(int trace, int *folder_out)
{
    if (mkdirat(trace, KERNEL_FOLDER, 0777) != 0 && errno != EEXIST)
        return -errno;
    *folder_out = openat(trace, KERNEL_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *folder_out < 0 ? -errno : 0;
}

static int begin(struct kernel_recorder *recorder, const struct kernel_recorder_options *options)
{
    const struct trace_stream_header header = {.kind = TRACE_STREAM_KERNEL_SOURCES, .began = recorder->began};
    int result = make_folder(options->folder, &recorder->folder);

    if (result == 0)
        result = chunk_encoder_create(options->compress, &recorder->encoder);
    if (result == 0)
        result = hash_map_init(&recorder->threads, 64);
    if (result == 0)
        result = hash_map_init(&recorder->functions, 64);
    if (result == 0)
        result =
            stream_writer_open(&recorder->sources, recorder->folder, KERNEL_SOURCES_NAME, &header, recorder->encoder);
    recorder->has_sources = result == 0;
    if (result == 0 && options->with_modules)
        result = module_streams_create(options->folder, recorder->encoder, &recorder->modules);
    for (size_t i = 0; i < recorder->list->count && result == 0; i++)
        define_source(recorder, i);
    return result == 0 ? write_definitions(recorder) : result;
}

static void destroy(struct kernel_recorder *recorder)
{
    if (recorder->modules != NULL)
        note_result(recorder, module_streams_end(recorder->modules));
    for (size_t i = 0; i < recorder->cpu_count; i++)
        free_stream(&recorder->cpus[i]);
    free(recorder->cpus);
    free(recorder->definitions);
    free(recorder->event_counts);
    named_code_deinit(&recorder->kernel);
    hash_map_deinit(&recorder->threads);
    hash_map_deinit(&recorder->functions);
    chunk_encoder_destroy(recorder->encoder);
    if (recorder->folder >= 0)
        close(recorder->folder);
    free(recorder);
}

int kernel_recorder_create(const struct kernel_recorder_options *options, struct kernel_recorder **recorder_out,
                           struct gait_error *err)
{
    struct kernel_recorder *recorder = calloc(1, sizeof(*recorder));
    int result;

    if (recorder == NULL)
        return error_set(err, ENOMEM, "cannot record events of the kernel: there is no memory");
    recorder->folder = -1;
    recorder->list = options->list;
    recorder->switch_source = options->switch_source;
    recorder->began = clock_pair_read();
    recorder->event_counts = calloc(options->list->count + 1, sizeof(*recorder->event_counts));
    named_code_init(&recorder->kernel);
    result = recorder->event_counts == NULL ? -ENOMEM : begin(recorder, options);
    if (result != 0) {
        destroy(recorder);
        return error_set(err, result, "cannot record events of the kernel: %s", strerror(-result));
    }
    *recorder_out = recorder;
    return 0;
}

int kernel_recorder_flush(struct kernel_recorder *recorder)
{
    for (size_t i = 0; i < recorder->cpu_count; i++)
        if (recorder->cpus[i].is_open)
            write_events(recorder, &recorder->cpus[i]);
    return recorder->result;
}

uint64_t kernel_recorder_events(const struct kernel_recorder *recorder)
{
    return recorder->event_count;
}

uint64_t kernel_recorder_bytes(const struct kernel_recorder *recorder)
{
    uint64_t bytes = recorder->sources.file_bytes;

    for (size_t i = 0; i < recorder->cpu_count; i++)
        if (recorder->cpus[i].is_open)
            bytes += recorder->cpus[i].writer.file_bytes;
    return bytes;
}

static void define_totals(struct kernel_recorder *recorder, const struct perf_session *session)
{
    for (size_t i = 0; i < recorder->list->count; i++) {
        struct kernel_total_definition *total = add_definition(recorder, KERNEL_DEFINES_TOTAL, sizeof(*total));

        if (total == NULL)
            return;
        total->id = (uint32_t)i + 1;
        total->event_count = recorder->event_counts[i];
        total->lost_count = perf_session_lost(session, i);
    }
}

int kernel_recorder_end(struct kernel_recorder *recorder, const struct perf_session *session)
{
    int result;

    (void)!kernel_recorder_flush(recorder);
    define_totals(recorder, session);
    note_result(recorder, write_definitions(recorder));
    for (size_t i = 0; i < recorder->cpu_count; i++)
        if (recorder->cpus[i].is_open)
            note_result(recorder, stream_writer_close(&recorder->cpus[i].writer, recorder->cpus[i].lost_before));
    note_result(recorder, stream_writer_close(&recorder->sources, 0));
    if (recorder->modules != NULL)
        note_result(recorder, module_streams_end(recorder->modules));
    recorder->modules = NULL;
    result = recorder->result;
    destroy(recorder);
    return result;
}
