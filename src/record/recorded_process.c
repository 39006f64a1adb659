/* SPDX-License-Identifier: MIT */
/*
 * Records go to the file as they are in the ring. Blocks are written before the records that name them, so that a trace
 * that is cut off at any place can be read up to there.
 */
#define _GNU_SOURCE
#include "record/recorded_process.h"

#include "base/time_counter.h"
#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "inject/pid_namespace.h"
#include "record/flight.h"
#include "record/recorded_probes.h"
#include "record/recorded_stream.h"
#include "record/ring_drain.h"
#include "ring/crash_lane.h"
#include "ring/detail_record.h"
#include "ring/indirect_log.h"
#include "ring/left_log.h"
#include "ring/ring_counters.h"
#include "ring/ring_reader.h"
#include "ring/unhooked_log.h"
#include "trace/foreign_roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE_BYTES_MAX (sizeof(struct trace_module) + DRAINED_PATH_BYTES_MAX + 8)

static struct trace_stream_header header_of(const struct recorded_process *process, enum trace_stream_kind kind)
{
    return (struct trace_stream_header){
        .kind = kind,
        .pid = (uint32_t)process->pid,
        .began = clock_pair_read(),
    };
}

static int open_modules(struct recorded_process *process)
{
    struct trace_stream_header header = header_of(process, TRACE_STREAM_MODULES);

    return stream_writer_open(&process->modules, process->folder, TRACE_MODULES_NAME, &header, process->encoder);
}

/* Only where there are some, or streams of records, which name them: it takes a while to make a file. */
static int open_blocks(struct recorded_process *process)
{
    struct trace_stream_header header;
    int result;

    if (process->has_blocks)
        return 0;
    header = header_of(process, TRACE_STREAM_BLOCKS);
    result = stream_writer_open(&process->blocks, process->folder, TRACE_BLOCKS_NAME, &header, process->encoder);
    process->has_blocks = result == 0;
    return result;
}

static int open_files(struct recorded_process *process, int parent, const char *name)
{
    if (mkdirat(parent, name, 0777) != 0)
        return -errno;
    process->folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process->folder == -1)
        return -errno;
    return open_modules(process);
}

static void close_folder(struct recorded_process *process)
{
    if (process->folder != -1)
        close(process->folder);
    process->folder = -1;
}

int recorded_process_begin(struct recorded_process *process, int parent, const char *name,
                           const struct drained_process *drained, struct chunk_encoder *encoder)
{
    int result;

    *process = (struct recorded_process){.pid = drained->pid, .folder = -1, .encoder = encoder, .ring = drained->ring};
    result = open_files(process, parent, name);
    if (result != 0)
        close_folder(process);
    return result;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static bool has_fault(const struct recorded_process *process)
{
    return *process->fault != 0;
}

/* What cannot be written now would leave a hole if something was written later. A damaged ring is no such matter. */
static int note_fault(const struct recorded_process *process, int result)
{
    if (result != 0 && result != -EPROTO && !has_fault(process))
        *process->fault = result;
    return result;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The name that the thread has now; it may be gone. */
static void read_name(pid_t pid, uint32_t tid, char *name_out, size_t size)
{
    char path[64];
    FILE *file;

    /* In a container it has another number for itself. */
    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)pid_namespace_outer_tid(pid, (pid_t)tid));
    file = fopen(path, "re");
    name_out[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(name_out, (int)size, file) != NULL)
        name_out[strcspn(name_out, "\n")] = '\0';
    fclose(file);
}

/* How often that thread id came before, and this time. */
static uint32_t generation_of(const struct manifest_process *process, uint32_t tid)
{
    uint32_t generation = 1;

    for (size_t i = 0; i < process->thread_count; i++)
        generation += process->threads[i].tid == tid;
    return generation;
}

/*
 * The name that the thread has now, which others may have given it; else the one that it told. Of a process in another
 * pid namespace we cannot say which of its threads is which.
 */
static void find_name(const struct recorded_process *process, uint32_t lane, uint32_t generation,
                      struct manifest_thread *thread)
{
    char name[sizeof(thread->name)];

    read_name(process->pid, thread->tid, name, sizeof(name));
    if (name[0] == '\0')
        ring_reader_name(process->ring, lane, generation, name);
    if (name[0] != '\0')
        memcpy(thread->name, name, sizeof(name));
}

static int add_thread(struct recorded_process *process, const struct ring_batch *batch, size_t *thread_out)
{
    struct manifest_process *manifest = process->manifest;
    struct manifest_thread *thread;

    if (ARRAY_RESERVE_NEXT(manifest->threads, manifest->thread_count) != 0)
        return -ENOMEM;
    thread = &manifest->threads[manifest->thread_count];
    *thread = (struct manifest_thread){.tid = batch->tid, .generation = generation_of(manifest, batch->tid)};
    find_name(process, batch->lane, batch->generation, thread);
    *thread_out = manifest->thread_count++;
    return 0;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static bool is_keeping(const struct recorded_process *process, const struct ring_batch *batch)
{
    const struct flight_options *options = &process->flight->options;

    return batch->kind == RING_LANE_DETAIL ? options->keeps_detail : options->keeps_index;
}

/* The thread that the lane is of: it may have another one. */
static int thread_of(struct recorded_process *process, const struct ring_batch *batch, size_t *thread_out)
{
    const struct manifest_process *manifest = process->manifest;
    uint32_t lane = 1u << batch->kind;
    int result;

    for (size_t i = manifest->thread_count; i-- > 0;)
        if (manifest->threads[i].serial == batch->serial && manifest->threads[i].tid == batch->tid &&
            !(manifest->threads[i].lanes & lane)) {
            *thread_out = i;
            manifest->threads[i].lanes |= lane;
            return 0;
        }
    result = add_thread(process, batch, thread_out);
    if (result != 0)
        return result;
    manifest->threads[*thread_out].serial = batch->serial;
    manifest->threads[*thread_out].lanes = lane;
    return 0;
}

static struct recorded_stream_plan plan_of(const struct recorded_process *process, const struct ring_batch *batch,
                                           size_t thread)
{
    bool is_detail = batch->kind == RING_LANE_DETAIL;
    struct recorded_stream_plan plan = {
        .folder = process->folder,
        .encoder = process->encoder,
        .header = header_of(process, is_detail ? TRACE_STREAM_DETAIL : TRACE_STREAM_INDEX),
    };

    plan.header.tid = batch->tid;
    plan.header.generation = process->manifest->threads[thread].generation;
    plan.header.space = batch->space;
    plan.header.events = batch->events;
    plan.header.with_times = batch->with_times;
    plan.header.is_whole = batch->is_whole;
    plan.piece = process->piece;
    plan.thread = thread;
    plan.lane = batch->lane;
    plan.lane_generation = batch->generation;
    return plan;
}

static int create_stream(struct recorded_process *process, const struct ring_batch *batch,
                         struct recorded_stream **stream_out)
{
    struct recorded_stream_plan plan;
    size_t thread;
    int result = 0;

    if (batch->kind == RING_LANE_INDEX && !has_fault(process))
        result = open_blocks(process);
    if (result == 0)
        result = thread_of(process, batch, &thread);
    if (result != 0)
        return result;
    plan = plan_of(process, batch, thread);
    result = recorded_stream_create(&plan, stream_out);
    if (result != 0)
        return result;
    (*stream_out)->next = process->streams;
    process->streams = *stream_out;
    return 0;
}

static int begin_lane(const struct drained_process *drained, struct drained_lane *lane, const struct ring_batch *batch)
{
    struct recorded_process *process = drained->owner;
    struct recorded_stream *stream = lane->owner;
    /* There is one if its file could not be made the last time. */
    int result = stream != NULL ? 0 : create_stream(process, batch, &stream);

    if (result != 0)
        return result;
    lane->owner = stream;
    /* A thread of which nothing is kept has no file. */
    return is_keeping(process, batch) || has_fault(process) ? 0 : recorded_stream_open(stream);
}

int recorded_process_lane_began(struct drained_process *drained, struct drained_lane *lane,
                                const struct ring_batch *batch)
{
    return note_fault(drained->owner, begin_lane(drained, lane, batch));
}

int recorded_process_lane_ended(struct drained_process *drained, struct drained_lane *lane, uint64_t lost_behind)
{
    const struct recorded_process *process = drained->owner;
    struct recorded_stream *stream = lane->owner;
    const struct recorded_stream_plan *plan = &stream->plan;

    lane->owner = NULL;
    /* It may have been named since it began. */
    find_name(process, plan->lane, plan->lane_generation, &process->manifest->threads[plan->thread]);
    return note_fault(process, recorded_stream_finish(stream, lost_behind));
}

static void add_amount(struct recorded_amount *amount, const struct recorded_stream *stream)
{
    amount->raw_bytes += stream->written_bytes;
    amount->record_count += stream->written_count;
    amount->file_bytes += recorded_stream_file_bytes(stream);
}

/* Closes and forgets streams that are over; or all, with what is in memory of them. */
static int close_streams(struct recorded_process *process, bool all)
{
    struct recorded_stream **place = &process->streams, *stream;
    int first = 0;

    while ((stream = *place) != NULL) {
        int result;

        if (!all && (!stream->is_ended || stream->kept_count != 0)) {
            place = &stream->next;
            continue;
        }
        *place = stream->next;
        kept_chunks_forget(&process->flight->chunks, stream);
        result = recorded_stream_close(stream);
        process->manifest->threads[stream->plan.thread].unwritten_bytes += stream->unwritten_bytes;
        if (first == 0)
            first = result;
        add_amount(&process->closed, stream);
        recorded_stream_destroy(stream);
    }
    return first;
}

/* ---- draining ---------------------------------------------------------------------------------------------------- */

int recorded_process_blocks(struct drained_process *drained, const struct drained_log *log)
{
    struct recorded_process *process = drained->owner;
    const uint64_t now = time_counter();
    const struct chunk_contents contents = {
        .bytes = log->bytes, .size_bytes = log->size_bytes, .first_time = now, .last_time = now};
    int result = 0;

    if (has_fault(process))
        return 0;
    result = open_blocks(process);
    return note_fault(process, result == 0 ? stream_writer_put(&process->blocks, &contents) : result);
}

/* Modules on their way into a chunk. */
struct module_batch {
    struct chunk_contents contents;
    _Alignas(8) uint8_t bytes[4 * MODULE_BYTES_MAX];
};

static int write_batch(struct recorded_process *process, struct module_batch *batch)
{
    int result;

    if (batch->contents.size_bytes == 0 || has_fault(process))
        return 0;
    batch->contents.bytes = batch->bytes;
    result = note_fault(process, stream_writer_put(&process->modules, &batch->contents));
    batch->contents.size_bytes = 0;
    return result;
}

static void add_module(struct module_batch *batch, const struct ring_module *module, const char *path)
{
    struct trace_module *written = (struct trace_module *)(void *)(batch->bytes + batch->contents.size_bytes);
    size_t size_bytes = trace_padded(sizeof(*written) + module->path_bytes);

    memset(written, 0, size_bytes);
    *written = (struct trace_module){
        .size_bytes = (uint32_t)size_bytes,
        .change = module->is_loaded ? TRACE_MODULE_LOADED : TRACE_MODULE_UNLOADED,
        .time = module->time,
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .path_bytes = module->path_bytes,
        .build_id_bytes = module->build_id_bytes,
    };
    memcpy(written->build_id, module->build_id, module->build_id_bytes);
    memcpy(written + 1, path, module->path_bytes);
    if (batch->contents.size_bytes == 0)
        batch->contents.first_time = module->time;
    batch->contents.last_time = module->time;
    batch->contents.size_bytes += size_bytes;
}

int recorded_process_modules(struct drained_process *drained, struct drained_log *log)
{
    struct recorded_process *process = drained->owner;
    char path[DRAINED_PATH_BYTES_MAX + 1];
    struct ring_module module;
    static struct module_batch batch; /* large */
    int result = 0, got;

    batch.contents = (struct chunk_contents){.size_bytes = 0};
    if (process->roots != NULL)
        foreign_roots_note(process->roots, process->pid);
    while (result == 0 && (got = drained_modules_next(log, &module, path)) != 0) {
        if (got < 0)
            return got;
        if (sizeof(batch.bytes) - batch.contents.size_bytes < MODULE_BYTES_MAX)
            result = write_batch(process, &batch);
        add_module(&batch, &module, path);
    }
    return result == 0 ? write_batch(process, &batch) : result;
}

/* What was not noted before; what a lane says can go back only if somebody else writes there. */
static uint64_t take_more(uint64_t *noted, uint64_t told)
{
    uint64_t more = told > *noted ? told - *noted : 0;

    *noted = told;
    return more;
}

static void note_pressure(struct manifest_thread *thread, struct recorded_stream *stream,
                          const struct ring_batch *batch)
{
    thread->wait_count += take_more(&stream->wait_count, batch->wait_count);
    thread->waited_ns += take_more(&stream->waited_ns, batch->waited_ns);
    if (batch->kind == RING_LANE_DETAIL)
        thread->lost_detail_bytes += batch->lost_before;
    else
        thread->lost_bytes += batch->lost_before;
}

/* What would not have been written anyway is not lost. */
static void lose(const struct recorded_process *process, struct recorded_stream *stream, const struct ring_batch *batch)
{
    if (is_keeping(process, batch) && !flight_wants(process->flight, batch->first_time))
        recorded_stream_leave_out(stream);
    else
        recorded_stream_lose(stream, batch->size_bytes);
}

/* Windows begin and end between batches, so those that are kept are not gathered. */
static int put(struct recorded_process *process, struct recorded_stream *stream, const struct ring_batch *batch,
               int64_t now_ns)
{
    const struct chunk_contents written = {
        .bytes = batch->bytes,
        .size_bytes = batch->size_bytes,
        .first_time = batch->first_time,
        .last_time = batch->last_time,
        .lost_before = batch->lost_before,
        .has_records = batch->kind == RING_LANE_INDEX,
        .format = event_format_of(batch->events, batch->with_times),
        .record_count = batch->kind == RING_LANE_DETAIL ? detail_records_count(batch->bytes, batch->size_bytes) : 0,
    };

    if (has_fault(process)) {
        lose(process, stream, batch);
        return 0;
    }
    if (is_keeping(process, batch))
        return flight_put(process->flight, stream, &written, true);
    return recorded_stream_gather(stream, &written, now_ns);
}

/* Known before records of them are written. */
static int note_probes(struct recorded_process *process)
{
    bool has_new;
    int result = recorded_probes_take(process->ring, &process->probes_place, process->manifest, &has_new);

    process->has_new_probes |= has_new;
    return result;
}

int recorded_process_records(struct drained_process *drained, struct drained_lane *lane, const struct ring_batch *batch)
{
    struct recorded_process *process = drained->owner;
    struct recorded_stream *stream = lane->owner;
    int result;

    /* Its last batch, which is empty, comes again if it could not be written what came before. */
    if (stream == NULL)
        return 0;
    result = note_probes(process);
    if (result == 0 && batch->size_bytes != 0)
        result = put(process, stream, batch, drained->drained_ns);
    if (result == 0)
        note_pressure(&process->manifest->threads[stream->plan.thread], stream, batch);
    return note_fault(process, result);
}

/* Writes what no more came to, and what has waited long enough. */
int recorded_process_drained(struct drained_process *drained)
{
    const struct recorded_process *process = drained->owner;
    int first = 0;

    for (struct recorded_stream *stream = process->streams; stream != NULL && !has_fault(process);
         stream = stream->next) {
        int result = stream->is_ended ? 0 : recorded_stream_flush(stream, drained->drained_ns);

        first = first == 0 ? result : first;
    }
    return note_fault(process, first);
}

static int explain(const struct recorded_process *process, int result, struct gait_error *err)
{
    switch (result) {
    case 0:
        return 0;
    case -ENOSPC:
    case -EDQUOT:
        return error_set(err, result, "the disk is full: the recording ends here, with what was written before");
    default:
        return error_set(err, result, "cannot write the events of process %d: %s", (int)process->pid,
                         strerror(-result));
    }
}

int recorded_process_explain(const struct drained_process *drained, int result, struct gait_error *err)
{
    return explain(drained->owner, result, err);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int write_crash(struct recorded_process *process, const uint8_t *bytes, size_t size_bytes)
{
    struct trace_stream_header header = header_of(process, TRACE_STREAM_CRASH);
    struct chunk_contents contents = {.bytes = bytes, .size_bytes = size_bytes, .first_time = time_counter()};
    struct stream_writer stream;
    int result = stream_writer_open(&stream, process->folder, TRACE_CRASH_NAME, &header, process->encoder), closed;

    if (result != 0)
        return result;
    contents.last_time = contents.first_time;
    result = stream_writer_put(&stream, &contents);
    closed = stream_writer_close(&stream, 0);
    return result == 0 ? closed : result;
}

int recorded_process_note_crash(struct recorded_process *process, struct crash_signal *signal_out,
                                struct gait_error *err)
{
    uint8_t *bytes = process->has_crash ? NULL : malloc(RING_CRASHES_BYTES);
    size_t size_bytes = bytes == NULL ? 0 : crash_lane_read(process->ring, bytes, RING_CRASHES_BYTES);
    struct crash_record record;
    int result = 0;

    *signal_out = (struct crash_signal){.signal = 0};
    if (size_bytes != 0) {
        memcpy(&record, bytes, sizeof(record));
        if (record.kind == CRASH_SIGNAL)
            memcpy(signal_out, bytes, sizeof(*signal_out));
        process->has_crash = true;
        result = write_crash(process, bytes, size_bytes);
    }
    free(bytes);
    return explain(process, result, err);
}

int recorded_process_turn(struct recorded_process *process, uint32_t piece, struct gait_error *err)
{
    int first = 0;

    process->piece = piece;
    for (struct recorded_stream *stream = process->streams; stream != NULL; stream = stream->next) {
        int result = recorded_stream_turn(stream, piece);

        first = first == 0 ? result : first;
    }
    return explain(process, note_fault(process, first), err);
}

/* Without memory for the list there is still the number. */
static void note_left(struct recorded_process *process)
{
    struct manifest_process *manifest = process->manifest;
    struct ring_left left[RING_LEFT_KEPT];
    struct manifest_left *list;
    size_t count;

    manifest->left_count = left_log_count(process->ring);
    if (manifest->left_count <= manifest->left_listed || manifest->left_listed == RING_LEFT_KEPT)
        return;
    count = left_log_read(process->ring, left, RING_LEFT_KEPT);
    if (count <= manifest->left_listed)
        return;
    list = realloc(manifest->left, count * sizeof(*list));
    if (list == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        list[i] = (struct manifest_left){
            .time = left[i].time,
            .pc = left[i].pc,
            .tid = left[i].tid & INT32_MAX,
            .reason = left[i].reason,
            .code_bytes = left[i].code_bytes,
        };
        memcpy(list[i].code, left[i].code, sizeof(list[i].code));
    }
    manifest->left = list;
    manifest->left_listed = count;
}

/* They are told when a module is looked at; without memory for the list there is still the number. */
static void note_unhooked(struct recorded_process *process)
{
    static struct ring_unhooked unhooked[RING_UNHOOKED_KEPT]; /* large */
    struct manifest_process *manifest = process->manifest;
    struct manifest_unhooked *list;
    size_t count;

    if (unhooked_log_count(process->ring) <= manifest->unhooked_listed ||
        manifest->unhooked_listed == RING_UNHOOKED_KEPT)
        return;
    count = unhooked_log_read(process->ring, unhooked, RING_UNHOOKED_KEPT);
    list = realloc(manifest->unhooked, (count + 1) * sizeof(*list));
    if (list == NULL)
        return;
    manifest->unhooked = list;
    for (size_t i = manifest->unhooked_listed; i < count; i++) {
        list[i] = (struct manifest_unhooked){
            .name = strdup(unhooked[i].name), .why = strdup(unhooked[i].why), .is_named = unhooked[i].is_named};
        manifest->unhooked_listed++;
    }
}

/* The same. */
static void note_indirect(struct recorded_process *process)
{
    static struct ring_indirect indirect[RING_INDIRECT_KEPT]; /* large */
    struct manifest_process *manifest = process->manifest;
    size_t count = indirect_log_read(process->ring, indirect, RING_INDIRECT_KEPT);
    struct manifest_indirect *list =
        count <= manifest->indirect_count ? NULL : realloc(manifest->indirect, count * sizeof(*list));

    if (list == NULL)
        return;
    manifest->indirect = list;
    for (; manifest->indirect_count < count; manifest->indirect_count++)
        list[manifest->indirect_count] = (struct manifest_indirect){indirect[manifest->indirect_count].address,
                                                                    strdup(indirect[manifest->indirect_count].name)};
}

static void note_losses(struct recorded_process *process)
{
    struct ring_losses losses;

    ring_reader_losses(process->ring, &losses);
    process->manifest->losses = (struct manifest_losses){
        .late_bytes = losses.late_bytes,
        .no_lane_bytes = losses.no_lane_bytes,
        .no_room_count = losses.no_room_count,
        .no_memory_count = losses.no_memory_count,
        .not_hooked_count = losses.not_hooked_count,
    };
    ring_counters_read(process->ring, &process->manifest->counters);
    note_left(process);
    note_unhooked(process);
    note_indirect(process);
}

static void sum_up(struct recorded_process *process)
{
    process->written = process->closed;
    process->written.file_bytes += process->blocks.file_bytes + process->modules.file_bytes;
    for (const struct recorded_stream *stream = process->streams; stream != NULL; stream = stream->next)
        add_amount(&process->written, stream);
}

uint64_t recorded_process_unwritten(const struct recorded_process *process)
{
    uint64_t bytes = manifest_unwritten_bytes(process->manifest);

    for (const struct recorded_stream *stream = process->streams; stream != NULL; stream = stream->next)
        bytes += stream->unwritten_bytes;
    return bytes;
}

int recorded_process_settle(struct recorded_process *process, struct gait_error *err)
{
    int result = close_streams(process, false);

    sum_up(process);
    if (process->ring != NULL)
        note_losses(process);
    else if (process->streams == NULL)
        close_folder(process);
    return explain(process, result, err);
}

int recorded_process_end(struct recorded_process *process, struct gait_error *err)
{
    int result = note_probes(process), closed;

    note_losses(process);
    closed = process->has_blocks ? stream_writer_close(&process->blocks, 0) : 0;
    result = result == 0 ? closed : result;
    closed = stream_writer_close(&process->modules, 0);
    result = result == 0 ? closed : result;
    process->ring = NULL;
    closed = recorded_process_settle(process, result == 0 ? err : NULL);
    return result == 0 ? closed : explain(process, result, err);
}

int recorded_process_release(struct recorded_process *process, struct gait_error *err)
{
    int result = close_streams(process, true);

    sum_up(process);
    close_folder(process);
    return explain(process, result, err);
}
