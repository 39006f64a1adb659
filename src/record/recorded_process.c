/* SPDX-License-Identifier: MIT */
/*
 * Records go to the file as they are in the ring. Blocks are written before the records that name them, so that a trace
 * that is cut off at any place can be read up to there.
 */
#define _GNU_SOURCE
#include "record/recorded_process.h"

#include "base/time_counter.h"
#include "inject/pid_namespace.h"
#include "libgait/error.h"
#include "ring/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODULE_PATH_BYTES_MAX 4096

static struct trace_stream_header header_of(const struct recorded_process *process, enum trace_stream_kind kind)
{
    return (struct trace_stream_header){
        .kind = kind,
        .pid = (uint32_t)process->pid,
        .began = clock_pair_read(),
    };
}

static int open_streams(struct recorded_process *process)
{
    struct trace_stream_header header = header_of(process, TRACE_STREAM_BLOCKS);
    int result = stream_writer_open(&process->blocks, process->folder, "blocks.gait", &header, process->encoder);

    if (result != 0)
        return result;
    header = header_of(process, TRACE_STREAM_MODULES);
    return stream_writer_open(&process->modules, process->folder, "modules.gait", &header, process->encoder);
}

static int open_files(struct recorded_process *process, int parent, const char *name)
{
    if (mkdirat(parent, name, 0777) != 0)
        return -errno;
    process->folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process->folder == -1)
        return -errno;
    return open_streams(process);
}

int recorded_process_begin(struct recorded_process *process, int parent, const char *name, pid_t pid, int ring_fd,
                           struct chunk_encoder *encoder, struct gait_error *err)
{
    int result;

    *process = (struct recorded_process){.pid = pid, .folder = -1, .encoder = encoder};
    result = ring_reader_open(ring_fd, &process->ring);
    if (result != 0)
        return error_set(err, result, "cannot read the events of process %d: %s", (int)pid, strerror(-result));
    result = open_files(process, parent, name);
    if (result != 0)
        return error_set(err, result, "cannot write the events of process %d: %s", (int)pid, strerror(-result));
    return 0;
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

static int add_thread(struct recorded_process *process, uint32_t tid, size_t *thread_out)
{
    struct manifest_process *manifest = process->manifest;
    struct manifest_thread *grown =
        realloc(manifest->threads, (manifest->thread_count + 1) * sizeof(*manifest->threads));
    struct manifest_thread *thread;

    if (grown == NULL)
        return -ENOMEM;
    manifest->threads = grown;
    thread = &grown[manifest->thread_count];
    *thread = (struct manifest_thread){.tid = tid, .generation = generation_of(manifest, tid)};
    read_name(process->pid, tid, thread->name, sizeof(thread->name));
    *thread_out = manifest->thread_count++;
    return 0;
}

static int open_lane(struct recorded_process *process, struct recorded_lane *lane, const struct ring_piece *piece)
{
    struct trace_stream_header header = header_of(process, TRACE_STREAM_INDEX);
    const struct manifest_thread *thread;
    char name[64];
    int result = add_thread(process, piece->tid, &lane->thread);

    if (result != 0)
        return result;
    thread = &process->manifest->threads[lane->thread];
    header.tid = piece->tid;
    header.generation = thread->generation;
    header.space = piece->space;
    header.events = piece->events;
    header.with_times = piece->with_times;
    snprintf(name, sizeof(name), "%u.%u.index.gait", piece->tid, thread->generation);
    result = stream_writer_open(&lane->stream, process->folder, name, &header, process->encoder);
    lane->is_open = result == 0;
    lane->generation = piece->generation;
    return result;
}

static int close_lane(struct recorded_lane *lane, uint64_t lost_behind)
{
    if (!lane->is_open)
        return 0;
    lane->is_open = false;
    return stream_writer_close(&lane->stream, lost_behind);
}

static int lane_for(struct recorded_process *process, const struct ring_piece *piece, struct recorded_lane **lane_out)
{
    int result = 0;

    if (piece->lane >= process->lane_count) {
        size_t count = piece->lane + 1;
        struct recorded_lane *grown = realloc(process->lanes, count * sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        memset(grown + process->lane_count, 0, (count - process->lane_count) * sizeof(*grown));
        process->lanes = grown;
        process->lane_count = count;
    }
    *lane_out = &process->lanes[piece->lane];
    if ((*lane_out)->generation == piece->generation)
        return 0;
    result = close_lane(*lane_out, 0);
    return result == 0 ? open_lane(process, *lane_out, piece) : result;
}

/* ---- draining ---------------------------------------------------------------------------------------------------- */

static int write_blocks(struct recorded_process *process)
{
    struct stream_piece piece = {.first_time = time_counter()};
    const uint8_t *bytes;
    int result = ring_reader_blocks(process->ring, &bytes, &piece.size_bytes);

    if (result != 0 || piece.size_bytes == 0)
        return result;
    piece.bytes = bytes;
    piece.last_time = piece.first_time;
    return stream_writer_put(&process->blocks, &piece);
}

/* Writes one, copied before it is looked at: the process may change it. */
static long write_module(struct recorded_process *process, const uint8_t *place, size_t available)
{
    uint8_t record[sizeof(struct trace_module) + MODULE_PATH_BYTES_MAX] = {0};
    struct trace_module *written = (struct trace_module *)(void *)record;
    struct stream_piece piece = {.bytes = record};
    struct ring_module module;
    int result;

    if (available < sizeof(module))
        return -EPROTO;
    memcpy(&module, place, sizeof(module));
    if (module.size_bytes < sizeof(module) || module.size_bytes > available ||
        module.path_bytes > module.size_bytes - sizeof(module) || module.path_bytes > MODULE_PATH_BYTES_MAX ||
        module.build_id_bytes > sizeof(module.build_id))
        return -EPROTO;
    *written = (struct trace_module){
        .size_bytes = (uint32_t)((sizeof(*written) + module.path_bytes + 7) & ~7ul),
        .change = module.is_loaded ? TRACE_MODULE_LOADED : TRACE_MODULE_UNLOADED,
        .time = module.time,
        .start = module.start,
        .end = module.end,
        .file_offset = module.file_offset,
        .path_bytes = module.path_bytes,
        .build_id_bytes = module.build_id_bytes,
    };
    memcpy(written->build_id, module.build_id, module.build_id_bytes);
    memcpy(written + 1, place + sizeof(module), module.path_bytes);
    piece.size_bytes = written->size_bytes;
    piece.first_time = piece.last_time = module.time;
    result = stream_writer_put(&process->modules, &piece);
    return result == 0 ? (long)module.size_bytes : result;
}

static int write_modules(struct recorded_process *process)
{
    const uint8_t *place;
    size_t size;
    int result = ring_reader_modules(process->ring, &place, &size);

    while (result == 0 && size != 0) {
        long used = write_module(process, place, size);

        if (used < 0)
            return (int)used;
        place += used;
        size -= (size_t)used;
    }
    return result;
}

static int take(void *context, const struct ring_piece *piece)
{
    struct recorded_process *process = context;
    struct stream_piece written = {
        .bytes = piece->bytes,
        .size_bytes = piece->size_bytes,
        .first_time = piece->first_time,
        .last_time = piece->last_time,
        .lost_before = piece->lost_before,
    };
    struct recorded_lane *lane;
    int result = write_modules(process);

    if (result == 0)
        result = write_blocks(process);
    if (result == 0)
        result = lane_for(process, piece, &lane);
    if (result == 0 && piece->size_bytes != 0)
        result = stream_writer_put(&lane->stream, &written);
    if (result != 0)
        return result;
    process->written_bytes += piece->size_bytes;
    process->manifest->threads[lane->thread].lost_bytes += piece->lost_before;
    return piece->is_last ? close_lane(lane, piece->size_bytes == 0 ? piece->lost_before : 0) : 0;
}

static int explain(const struct recorded_process *process, int result, struct gait_error *err)
{
    switch (result) {
    case 0:
        return 0;
    case -EPROTO:
        return error_set(err, result, "process %d wrote into the memory of its events what no followed thread writes",
                         (int)process->pid);
    case -ENOSPC:
    case -EDQUOT:
        return error_set(err, result, "the disk is full: the recording ends here, with what was written before");
    default:
        return error_set(err, result, "cannot write the events of process %d: %s", (int)process->pid,
                         strerror(-result));
    }
}

int recorded_process_drain(struct recorded_process *process, struct gait_error *err)
{
    const struct ring_taker taker = {take, process};

    return explain(process, ring_reader_take(process->ring, &taker), err);
}

int recorded_process_end(struct recorded_process *process, struct gait_error *err)
{
    int result = 0, closed;

    for (size_t i = 0; i < process->lane_count; i++) {
        closed = close_lane(&process->lanes[i], 0);
        if (result == 0)
            result = closed;
    }
    closed = stream_writer_close(&process->blocks, 0);
    if (result == 0)
        result = closed;
    closed = stream_writer_close(&process->modules, 0);
    if (result == 0)
        result = closed;
    free(process->lanes);
    ring_reader_close(process->ring);
    if (process->folder != -1)
        close(process->folder);
    return explain(process, result, err);
}
