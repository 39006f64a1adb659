/* SPDX-License-Identifier: MIT */
/* The files of a process follow each other, as trace_files lists them, so one pass finds processes and threads. */
#include "view/view_trace.h"

#include "hosted/error_text.h"
#include "view/goroutine_stacks.h"

#include <errno.h>
#include <stdlib.h>

static const struct manifest_process *listed_process(const struct view_trace *trace, const struct trace_file *file)
{
    for (size_t i = 0; i < trace->manifest.process_count; i++)
        if (trace->manifest.processes[i].pid == file->pid && trace->manifest.processes[i].image == file->image)
            return &trace->manifest.processes[i];
    return NULL;
}

static const char *thread_name(const struct manifest_process *process, const struct trace_file *file)
{
    for (size_t i = 0; process != NULL && i < process->thread_count; i++)
        if (process->threads[i].tid == file->tid && process->threads[i].generation == file->generation)
            return process->threads[i].name;
    return "";
}

/* The process of a file: the last one, or a new one. */
static int process_of(struct view_trace *trace, const struct trace_file *file, struct view_process **process_out)
{
    struct view_process *process = trace->process_count == 0 ? NULL : &trace->processes[trace->process_count - 1];

    if (process == NULL || process->pid != file->pid || process->image != file->image) {
        const struct manifest_process *listed = listed_process(trace, file);
        int result;

        process = &trace->processes[trace->process_count];
        *process = (struct view_process){.pid = file->pid, .image = file->image, .command = ""};
        result = hash_map_init(&process->blocks.numbers, 1);
        if (result != 0)
            return result;
        trace->process_count++;
        if (listed != NULL) {
            process->parent_pid = listed->parent_pid;
            process->command = listed->command == NULL ? "" : listed->command;
        }
    }
    *process_out = process;
    return 0;
}

static void read_blocks(const struct view_trace *trace, struct view_process *process, const struct trace_file *file)
{
    struct trace_blocks blocks;

    if (trace_blocks_read(&blocks, trace->files.folder, file->path, NULL) != 0)
        return;
    trace_blocks_deinit(&process->blocks);
    process->blocks = blocks;
}

static void add_thread(struct view_trace *trace, const struct trace_file *file, size_t piece_count)
{
    trace->threads[trace->thread_count++] = (struct view_thread){
        .process = trace->process_count - 1,
        .tid = file->tid,
        .generation = file->generation,
        .name = thread_name(listed_process(trace, file), file),
        .pieces = file,
        .piece_count = piece_count,
    };
}

/* What indirect functions are is called by their names. */
static int name_indirect(struct modules *modules, const struct manifest_process *listed)
{
    int result = 0;

    for (size_t i = 0; listed != NULL && i < listed->indirect_count && result == 0; i++)
        if (listed->indirect[i].name != NULL)
            result = modules_set_name(modules, listed->indirect[i].address, listed->indirect[i].name);
    return result;
}

/* What of a process cannot be read is as if it was not there: events tell what they miss, addresses have no names. */
static int take_file(struct view_trace *trace, const struct trace_file *file, size_t piece_count)
{
    struct view_process *process;
    int result = process_of(trace, file, &process);

    if (result != 0)
        return result;
    if (file->kind == TRACE_FILE_MODULES && modules_read(&process->modules, trace->files.folder, file->path, NULL) != 0)
        process->modules = (struct modules){.count = 0};
    else if (file->kind == TRACE_FILE_MODULES)
        result = name_indirect(&process->modules, listed_process(trace, file));
    else if (file->kind == TRACE_FILE_BLOCKS)
        read_blocks(trace, process, file);
    else if (file->kind == TRACE_FILE_INDEX)
        add_thread(trace, file, piece_count);
    return result;
}

static int compare_threads(const void *left_thread, const void *right_thread)
{
    const struct trace_file *left = ((const struct view_thread *)left_thread)->pieces;
    const struct trace_file *right = ((const struct view_thread *)right_thread)->pieces;
    const uint32_t keys[][2] = {{left->pid, right->pid},
                                {left->image, right->image},
                                {left->tid, right->tid},
                                {left->generation, right->generation}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static size_t process_index(const struct view_trace *trace, const struct trace_file *file)
{
    size_t i = 0;

    while (i + 1 < trace->process_count &&
           (trace->processes[i].pid != file->pid || trace->processes[i].image != file->image))
        i++;
    return i;
}

/* Of a thread that was not followed, and called nothing that was hooked but for its details. */
static void add_silent(struct view_trace *trace, const struct trace_file *file)
{
    struct view_thread thread = {
        .process = process_index(trace, file),
        .tid = file->tid,
        .generation = file->generation,
        .name = thread_name(listed_process(trace, file), file),
        .pieces = file,
    };

    if (bsearch(&thread, trace->threads, trace->thread_count, sizeof(thread), compare_threads) == NULL)
        trace->threads[trace->thread_count + trace->silent_count++] = thread;
}

static int take_files(struct view_trace *trace)
{
    size_t piece_count;
    int result = 0;

    trace->processes = calloc(trace->files.count, sizeof(*trace->processes));
    trace->threads = calloc(trace->files.count, sizeof(*trace->threads));
    if (trace->processes == NULL || trace->threads == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < trace->files.count && result == 0; i += piece_count) {
        const struct trace_file *file = &trace->files.files[i];

        piece_count = trace_files_pieces(&trace->files, i);
        if (file->kind != TRACE_FILE_OTHER && file->pid != 0)
            result = take_file(trace, file, piece_count);
    }
    for (size_t i = 0; i < trace->files.count && result == 0; i += trace_files_pieces(&trace->files, i))
        if (trace->files.files[i].kind == TRACE_FILE_DETAIL)
            add_silent(trace, &trace->files.files[i]);
    return result;
}

/* A recording that was killed has no pair of its end; the beginnings of its streams are the next best. */
static void set_clock(struct view_trace *trace)
{
    struct view_clock *clock = &trace->clock;

    if (trace->manifest.clock_count == 0)
        return;
    clock->first = trace->manifest.clocks[0];
    clock->last = trace->manifest.clocks[trace->manifest.clock_count - 1];
    for (size_t i = 0; i < trace->thread_count && trace->manifest.clock_count == 1; i++) {
        const struct view_thread *thread = &trace->threads[i];
        struct stream_reader reader;

        if (stream_reader_open(&reader, trace->files.folder, thread->pieces[thread->piece_count - 1].path, NULL) != 0)
            continue;
        if (reader.header.began.counter > clock->last.counter)
            clock->last = reader.header.began;
        stream_reader_close(&reader);
    }
}

int view_trace_open(struct view_trace *trace, const char *path, struct gait_error *err)
{
    int result;

    *trace = (struct view_trace){.process_count = 0};
    result = trace_files_open(&trace->files, path, err);
    if (result != 0)
        return result;
    result = manifest_read(trace->files.folder, &trace->manifest, err);
    if (result != 0) {
        trace_files_close(&trace->files);
        return result;
    }
    result = take_files(trace);
    if (result != 0) {
        view_trace_close(trace);
        return error_set(err, result, "cannot open '%s': there is no memory; try to free some", path);
    }
    for (size_t i = 0; i < trace->process_count && result == 0; i++)
        result = goroutine_stacks_read(&trace->processes[i].goroutines, trace, i);
    if (result != 0) {
        view_trace_close(trace);
        return error_set(err, result, "cannot open '%s': there is no memory for its goroutines; try to free some",
                         path);
    }
    set_clock(trace);
    return 0;
}

void view_trace_close(struct view_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++) {
        modules_deinit(&trace->processes[i].modules);
        trace_blocks_deinit(&trace->processes[i].blocks);
        goroutine_stacks_destroy(trace->processes[i].goroutines);
    }
    free(trace->processes);
    free(trace->threads);
    manifest_free(&trace->manifest);
    trace_files_close(&trace->files);
}
