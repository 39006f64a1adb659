/* SPDX-License-Identifier: MIT */
/* Process by process, for the files of one follow each other; only its modules and counts are kept. */
#include "trace/trace_summary.h"

#include "libgait/error.h"
#include "trace/hook_times.h"
#include "trace/trace_details.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* One thread's events on their way. */
struct gathering {
    struct thread_summary *thread;
    struct call_counts *calls;
    struct hook_times times;
    int result;
};

static void note_call(struct thread_summary *thread, const struct gait_event *event, uint64_t first, uint64_t last)
{
    thread->last_calls[thread->call_count++ % LAST_CALLS_MAX] = (struct last_call){*event, first, last};
}

static int gather_events(void *context, const struct gait_event *events, size_t count, const struct trace_span *span)
{
    struct gathering *gathering = context;

    for (size_t i = 0; i < count && gathering->result == 0; i++) {
        uint64_t first = events[i].time != 0 ? events[i].time : span->first_time;
        uint64_t last = events[i].time != 0 ? events[i].time : span->last_time;

        gathering->thread->counts[__builtin_ctz(events[i].kind)]++;
        if (events[i].kind & (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE))
            note_call(gathering->thread, &events[i], first, last);
        if (events[i].kind == GAIT_EVENT_CALL)
            gathering->result = call_counts_add(gathering->calls, events[i].target, first, last);
        else
            gathering->result = hook_times_take(&gathering->times, &events[i]);
    }
    return gathering->result;
}

static void gather_loss(void *context, uint64_t bytes)
{
    struct gathering *gathering = context;

    gathering->thread->lost_bytes += bytes;
    hook_times_forget(&gathering->times);
}

static void gather_gap(void *context)
{
    hook_times_forget(&((struct gathering *)context)->times);
}

/* -ENOMEM; what else is wrong is kept with the thread. */
static int gather_thread(struct trace_summary *summary, struct call_counts *calls, const struct trace_blocks *blocks,
                         size_t first)
{
    const struct trace_file *file = &summary->files.files[first];
    struct thread_summary *thread = &summary->threads[summary->thread_count++];
    struct gathering gathering = {.thread = thread, .calls = calls};
    struct trace_events_receiver receiver = {
        .process = gather_events, .lose = gather_loss, .skip = gather_gap, .context = &gathering};
    struct trace_events_end end;
    int result;

    thread->file = file;
    hook_times_init(&gathering.times, calls);
    result = trace_events_read(summary->files.folder, file, trace_files_pieces(&summary->files, first), blocks,
                               &receiver, &end, &thread->err);
    hook_times_end_thread(&gathering.times);
    hook_times_deinit(&gathering.times);
    if (result != 0 || gathering.result != 0)
        return gathering.result;
    thread->gap_count = end.gap_count;
    if (end.stream.state != STREAM_COMPLETE)
        stream_end_explain(&end.stream, end.path, &thread->err);
    else if (end.bad_bytes != 0)
        error_set(&thread->err, EPROTO,
                  "cannot read all of '%s': %" PRIu64 " bytes are no records of known blocks, and count as lost; try "
                  "'gait verify'",
                  file->path, end.bad_bytes);
    if (end.stream.state == STREAM_COMPLETE && end.stream.footer.ended.monotonic_ns > summary->ended_ns)
        summary->ended_ns = end.stream.footer.ended.monotonic_ns;
    return 0;
}

static bool is_of(const struct trace_file *file, const struct process_summary *process, enum trace_file_kind kind)
{
    return file->kind == kind && file->pid == process->pid && file->image == process->image;
}

static const struct trace_file *find_file(const struct trace_summary *summary, const struct process_summary *process,
                                          enum trace_file_kind kind)
{
    for (size_t i = 0; i < summary->files.count; i++)
        if (is_of(&summary->files.files[i], process, kind))
            return &summary->files.files[i];
    return NULL;
}

/* No blocks, or none that can be read, are as good as an empty set: what names them is told. */
static int read_blocks(const struct trace_summary *summary, const struct process_summary *process,
                       struct trace_blocks *blocks_out)
{
    const struct trace_file *file = find_file(summary, process, TRACE_FILE_BLOCKS);

    if (file != NULL && trace_blocks_read(blocks_out, summary->files.folder, file->path, NULL) == 0)
        return 0;
    *blocks_out = (struct trace_blocks){.count = 0};
    return hash_map_init(&blocks_out->numbers, 1);
}

/* Without modules, addresses have no names, which is seen well enough. */
static void read_modules(const struct trace_summary *summary, const struct process_summary *process,
                         struct modules *modules_out)
{
    const struct trace_file *file = find_file(summary, process, TRACE_FILE_MODULES);

    if (file == NULL || modules_read(modules_out, summary->files.folder, file->path, NULL) != 0)
        *modules_out = (struct modules){.count = 0};
}

static void gather_enter(void *context, const struct detail_enter *enter, const uint8_t *stack,
                         struct detail_values values)
{
    (void)stack;
    detail_counts_enter(context, enter, values);
}

static void gather_leave(void *context, const struct detail_leave *leave, struct detail_values values)
{
    detail_counts_leave(context, leave, values);
}

/* -ENOMEM; what else is wrong is kept. */
static int gather_details(struct trace_summary *summary, struct detail_counts *counts, const struct trace_file *file)
{
    const struct trace_details_receiver receiver = {gather_enter, gather_leave, NULL, counts};
    struct trace_details_end end;

    if (trace_details_read(summary->files.folder, file->path, &receiver, &end, &summary->detail_err) != 0)
        return 0;
    if (end.stream.state != STREAM_COMPLETE)
        stream_end_explain(&end.stream, file->path, &summary->detail_err);
    else if (end.bad_bytes != 0)
        error_set(&summary->detail_err, EPROTO,
                  "cannot read all of '%s': %" PRIu64 " bytes are no records; try 'gait verify'", file->path,
                  end.bad_bytes);
    return counts->result;
}

static void read_crash(struct trace_summary *summary, struct process_summary *process)
{
    const struct trace_file *file = find_file(summary, process, TRACE_FILE_CRASH);

    process->has_crash =
        file != NULL && trace_crash_read(&process->crash, summary->files.folder, file->path, NULL) == 0;
}

static int gather_process(struct trace_summary *summary, const struct trace_file *first)
{
    struct process_summary *process = &summary->processes[summary->process_count++];
    struct trace_blocks blocks;
    int result;

    process->pid = first->pid;
    process->image = first->image;
    read_modules(summary, process, &process->modules);
    read_crash(summary, process);
    result = call_counts_init(&process->calls, &process->modules);
    if (result == 0)
        result = detail_counts_init(&process->details);
    if (result == 0)
        result = read_blocks(summary, process, &blocks);
    if (result != 0)
        return result;
    for (size_t i = 0; i < summary->files.count && result == 0; i += trace_files_pieces(&summary->files, i))
        if (is_of(&summary->files.files[i], process, TRACE_FILE_INDEX))
            result = gather_thread(summary, &process->calls, &blocks, i);
    for (size_t i = 0; i < summary->files.count && result == 0; i++)
        if (is_of(&summary->files.files[i], process, TRACE_FILE_DETAIL))
            result = gather_details(summary, &process->details, &summary->files.files[i]);
    trace_blocks_deinit(&blocks);
    detail_counts_sort(&process->details);
    call_counts_sort(&process->calls);
    return result;
}

static int gather(struct trace_summary *summary)
{
    uint32_t pid = 0, image = 0;
    int result = 0;

    summary->threads = calloc(summary->files.count, sizeof(*summary->threads));
    summary->processes = calloc(summary->files.count, sizeof(*summary->processes));
    if (summary->threads == NULL || summary->processes == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < summary->files.count && result == 0; i++) {
        const struct trace_file *file = &summary->files.files[i];

        if (file->kind == TRACE_FILE_OTHER || file->pid == 0 || (file->pid == pid && file->image == image))
            continue;
        pid = file->pid;
        image = file->image;
        result = gather_process(summary, file);
    }
    return result;
}

int trace_summary_read(struct trace_summary *summary, const char *path, struct gait_error *err)
{
    int result;

    *summary = (struct trace_summary){.thread_count = 0};
    result = trace_files_open(&summary->files, path, err);
    if (result != 0)
        return result;
    result = manifest_read(summary->files.folder, &summary->manifest, err);
    if (result != 0) {
        trace_files_close(&summary->files);
        return result;
    }
    result = gather(summary);
    if (result == 0)
        return 0;
    trace_summary_free(summary);
    return error_set(err, result,
                     "cannot count what is in '%s': there is no memory for its functions; try to free some", path);
}

void trace_summary_free(struct trace_summary *summary)
{
    for (size_t i = 0; i < summary->process_count; i++) {
        call_counts_deinit(&summary->processes[i].calls);
        modules_deinit(&summary->processes[i].modules);
        detail_counts_deinit(&summary->processes[i].details);
        trace_crash_deinit(&summary->processes[i].crash);
    }
    free(summary->processes);
    free(summary->threads);
    manifest_free(&summary->manifest);
    trace_files_close(&summary->files);
}
