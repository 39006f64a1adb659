/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/recording.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "record/recorded_process.h"
#include "record/spare_room.h"
#include "record/trigger_spec.h"
#include "ring/crash_record.h"
#include "ring/left_log.h"
#include "ring/ring_reader.h"
#include "trace/chunk_encoder.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAMES_TRIED_MAX 1000
#define MANIFEST_MS     200

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static int make_folders(const char *path)
{
    char *copy;
    int result = 0;

    /* Mostly there is at least the one that it is in. */
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    copy = strdup(path);
    if (copy == NULL)
        return -ENOMEM;
    for (char *slash = copy + 1; result == 0; *slash++ = '/') {
        slash = strchrnul(slash, '/');
        if (*slash == '\0') {
            result = mkdir(copy, 0777) != 0 && errno != EEXIST ? -errno : 0;
            break;
        }
        *slash = '\0';
        if (mkdir(copy, 0777) != 0 && errno != EEXIST)
            result = -errno;
    }
    free(copy);
    return result;
}

/* Called after the program and the time; with a number if there is one of that name. */
static int make_trace_folder(struct recording *recording)
{
    const char *slash = strrchr(recording->options.program, '/');
    const char *name = slash == NULL ? recording->options.program : slash + 1;
    time_t now = time(NULL);
    struct tm parts;
    char when[32], suffix[16] = "";

    localtime_r(&now, &parts);
    strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &parts);
    for (unsigned i = 2; i < NAMES_TRIED_MAX; i++) {
        if (asprintf(&recording->path, "%s/%s-%s%s", recording->options.output, name, when, suffix) < 0)
            return -ENOMEM;
        if (mkdir(recording->path, 0777) == 0)
            return 0;
        free(recording->path);
        recording->path = NULL;
        if (errno != EEXIST)
            return -errno;
        snprintf(suffix, sizeof(suffix), "-%u", i);
    }
    return -EEXIST;
}

/* ---- the manifest ------------------------------------------------------------------------------------------------ */

static void note_clock(struct recording *recording)
{
    struct manifest *manifest = &recording->manifest;
    if (ARRAY_RESERVE_NEXT(manifest->clocks, manifest->clock_count) == 0)
        manifest->clocks[manifest->clock_count++] = clock_pair_read();
}

static void begin_manifest(struct recording *recording)
{
    recording->manifest = (struct manifest){
        .program = strdup(recording->options.program),
        .arguments = recording->options.arguments,
        .events = recording->options.events,
        .with_times = recording->options.with_times,
        .began_unix_ns = (int64_t)system_clock_ns(CLOCK_REALTIME),
        .ended = "running",
    };
    note_clock(recording);
}

static int open_trace_folder(struct recording *recording)
{
    int result = make_folders(recording->options.output);

    if (result == 0)
        result = make_trace_folder(recording);
    if (result != 0)
        return result;
    recording->folder = open(recording->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return recording->folder == -1 ? -errno : 0;
}

static int begin_flight(struct recording *recording)
{
    const struct recording_options *options = &recording->options;
    const struct manifest *manifest = &recording->manifest;

    if (manifest->clock_count == 0)
        return -ENOMEM;
    flight_init(&recording->flight, &options->flight, manifest->clocks[0]);
    return trigger_schedule_init(&recording->schedule, options->triggers, options->trigger_count,
                                 manifest->clocks[0].monotonic_ns);
}

static int put_manifest(struct recording *recording, struct gait_error *err)
{
    flight_describe(&recording->flight, &recording->manifest);
    rotation_describe(&recording->rotation, &recording->manifest);
    return manifest_write(&recording->manifest, recording->folder, err);
}

static const struct drain_receiver receiver;

int recording_create(const struct recording_options *options, struct recording *recording_out, struct gait_error *err)
{
    struct recording *recording = recording_out;
    int result;

    *recording = (struct recording){.options = *options, .folder = -1, .spare_room = -1, .began_ms = system_clock_ms()};
    ring_drain_init(&recording->drain, &receiver, recording);
    result = chunk_encoder_create(options->compress, &recording->encoder);
    if (result != 0)
        return error_set(err, result, "cannot prepare to write a trace: %s; try without --compress",
                         result == -EOPNOTSUPP ? "this gait was built without libzstd" : strerror(-result));
    result = open_trace_folder(recording);
    if (result != 0) {
        chunk_encoder_destroy(recording->encoder);
        return error_set(err, result, "cannot make a folder for the trace in %s: %s; choose another one with --output",
                         options->output, strerror(-result));
    }
    begin_manifest(recording);
    rotation_init(&recording->rotation, &options->rotation, system_clock_ns(CLOCK_MONOTONIC));
    result = begin_flight(recording);
    if (result == 0)
        result = disk_sync_begin(&options->sync, recording->folder, &recording->sync);
    if (result != 0)
        return error_set(err, result, "cannot begin a recording: %s", strerror(-result));
    /* Written with the first process, or when the rings are looked at first. */
    recording->is_changed = true;
    return 0;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static char *read_command(pid_t pid)
{
    char path[64], text[4096];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd == -1 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd != -1)
        close(fd);
    if (got <= 0)
        return strdup("");
    for (ssize_t i = 0; i + 1 < got; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[got] = '\0';
    return strdup(text);
}

/* The lists may have moved. */
static void point_to_each_other(struct recording *recording)
{
    for (size_t i = 0; i < recording->process_count; i++) {
        recording->processes[i].manifest = &recording->manifest.processes[i];
        recording->processes[i].flight = &recording->flight;
        recording->processes[i].fault = &recording->fault;
        recording->processes[i].roots = recording->options.roots;
        recording->drain.processes[i].owner = &recording->processes[i];
    }
}

static int make_room(struct recording *recording)
{
    int result = ARRAY_RESERVE_NEXT(recording->processes, recording->process_count);

    if (result == 0)
        result = ARRAY_RESERVE_NEXT(recording->manifest.processes, recording->process_count);
    point_to_each_other(recording);
    return result;
}

/* How many programs of that pid there were, and this one. */
static uint32_t image_of(const struct recording *recording, pid_t pid)
{
    uint32_t image = 1;

    for (size_t i = 0; i < recording->process_count; i++)
        image += recording->processes[i].pid == pid;
    return image;
}

/* At once, unless that was done just before: there may be many processes, each of which lives shortly. */
static bool is_manifest_due(const struct recording *recording)
{
    if (recording->written_ms == 0)
        return system_clock_ms() - recording->began_ms >= recording->options.manifest_delay_ms;
    return system_clock_ms() - recording->written_ms >= MANIFEST_MS;
}

static int write_manifest(struct recording *recording, struct gait_error *err)
{
    if (!recording->is_changed || !is_manifest_due(recording) || recording->fault != 0)
        return 0;
    recording->is_changed = false;
    /* Not of a program that has ended by now: to it, that would be time. */
    if (recording->written_ms == 0)
        recording->spare_room = spare_room_hold(recording->folder);
    recording->written_ms = system_clock_ms();
    return put_manifest(recording, err);
}

static int begin_process(struct recording *recording, const struct drained_process *drained, uint32_t image,
                         struct gait_error *err)
{
    char name[TRACE_PROCESS_NAME_BYTES];
    int result = make_room(recording);

    if (result != 0)
        return error_set(err, result, "cannot record process %d: no memory", (int)drained->pid);
    trace_process_name((uint32_t)drained->pid, image, name);
    result = recorded_process_begin(&recording->processes[recording->process_count], recording->folder, name, drained,
                                    recording->encoder);
    if (result != 0)
        return error_set(err, result, "cannot write the events of process %d: %s", (int)drained->pid,
                         strerror(-result));
    return 0;
}

static int process_came(void *context, struct drained_process *drained, struct gait_error *err)
{
    struct recording *recording = context;
    uint32_t image = image_of(recording, drained->pid);
    int result = begin_process(recording, drained, image, err);

    if (result != 0)
        return result;
    recording->manifest.processes[recording->process_count] = (struct manifest_process){
        .pid = (uint32_t)drained->pid,
        .image = image,
        .parent_pid = (uint32_t)drained->parent,
        .command = read_command(drained->pid),
        .status = -1,
    };
    recording->processes[recording->process_count].piece = rotation_piece(&recording->rotation);
    recording->process_count++;
    recording->manifest.process_count = recording->process_count;
    point_to_each_other(recording);
    recording->is_changed = true;
    /* It is tried again when rings are emptied, with an error that says why. */
    if (write_manifest(recording, NULL) != 0)
        recording->is_changed = true;
    return 0;
}

static void process_changed(void *context, const struct drained_process *drained)
{
    struct recording *recording = context;
    struct manifest_process *listed = ((const struct recorded_process *)drained->owner)->manifest;

    listed->parent_pid = (uint32_t)drained->parent;
    listed->status = drained->status;
    recording->is_changed = true;
}

/* ---- triggers ---------------------------------------------------------------------------------------------------- */

static int explain_trigger(int result, struct gait_error *err)
{
    return error_set(err, result, "cannot keep what a trigger asks for: %s", strerror(-result));
}

int recording_trigger(struct recording *recording, const struct flight_event *event, struct gait_error *err)
{
    int result = flight_trigger(&recording->flight, event);

    return result == 0 ? 0 : explain_trigger(result, err);
}

static int look_at_clock(struct recording *recording, struct gait_error *err)
{
    const struct trigger_spec *trigger;
    int result = 0;

    if (recording->schedule.count == 0)
        return 0;
    while (result == 0 &&
           (trigger = trigger_schedule_next(&recording->schedule, system_clock_ns(CLOCK_MONOTONIC))) != NULL)
        result = recording_trigger(
            recording, &(struct flight_event){.kind = trigger_spec_kind_name(trigger->kind), .text = trigger->text},
            err);
    return result;
}

static int look_at_processes(struct recording *recording, struct gait_error *err)
{
    const struct trigger_list list = {recording->options.triggers, recording->options.trigger_count};
    int result = 0;

    for (size_t i = 0; i < recording->process_count && list.count != 0 && result == 0; i++) {
        struct recorded_process *process = &recording->processes[i];

        if (!process->is_ended)
            result = agent_triggers_take(&process->triggers, process->ring, &list, &recording->flight,
                                         (uint32_t)process->pid);
    }
    return result == 0 ? 0 : explain_trigger(result, err);
}

/* ---- draining ---------------------------------------------------------------------------------------------------- */

/* Writes what windows want that were opened since. */
static int settle(struct recording *recording, struct gait_error *err)
{
    int result = recording->fault != 0 ? 0 : flight_settle(&recording->flight);

    recording->is_changed |= flight_take_news(&recording->flight);
    if (result == 0)
        return 0;
    recording->fault = result;
    if (result == -ENOSPC || result == -EDQUOT)
        return error_set(err, result, "the disk is full: the recording ends here, with what was written before");
    return error_set(err, result, "cannot write what was kept in memory: %s", strerror(-result));
}

static void sum_up(struct recording *recording)
{
    recording->written = (struct recorded_amount){.raw_bytes = 0};
    for (size_t i = 0; i < recording->process_count; i++) {
        const struct recorded_amount *written = &recording->processes[i].written;

        recording->written.raw_bytes += written->raw_bytes;
        recording->written.record_count += written->record_count;
        recording->written.file_bytes += written->file_bytes;
    }
}

static int settle_processes(struct recording *recording, struct gait_error *err)
{
    int first = 0;

    for (size_t i = 0; i < recording->process_count; i++) {
        struct recorded_process *process = &recording->processes[i];
        int result = recorded_process_settle(process, first == 0 ? err : NULL);

        first = first == 0 ? result : first;
        recording->is_changed |= process->has_new_probes;
        process->has_new_probes = false;
    }
    sum_up(recording);
    return first;
}

/* Ends the piece that is written: all that follows goes to other files. */
static int begin_piece(struct recording *recording, struct clock_pair now, struct gait_error *err)
{
    int result = rotation_turn(&recording->rotation, now.monotonic_ns, now.counter, recording->written.file_bytes);

    if (result != 0)
        return error_set(err, result, "cannot begin another piece of the trace: %s", strerror(-result));
    for (size_t i = 0; i < recording->process_count && result == 0; i++)
        result = recorded_process_turn(&recording->processes[i], rotation_piece(&recording->rotation), err);
    return result;
}

/* What is not kept any more is deleted once the manifest says so. */
static int rotate(struct recording *recording, struct gait_error *err)
{
    struct clock_pair now;
    int result;

    if ((recording->options.rotation.bytes == 0 && recording->options.rotation.age_ns == 0) || recording->fault != 0)
        return 0;
    now = clock_pair_read();
    if (!rotation_is_due(&recording->rotation, now.monotonic_ns, recording->written.file_bytes))
        return 0;
    result = begin_piece(recording, now, err);
    if (result == 0)
        result = put_manifest(recording, err);
    if (result != 0)
        return result;
    result = rotation_delete_old(&recording->rotation, recording->path);
    if (result != 0)
        return error_set(err, result, "cannot delete the oldest piece of the trace: %s", strerror(-result));
    return 0;
}

static int begin_drain(void *context, struct gait_error *err)
{
    struct recording *recording = context;
    int result = look_at_clock(recording, err);

    if (result == 0)
        result = look_at_processes(recording, err);
    if (result == 0)
        result = settle(recording, err);
    return result == 0 ? write_manifest(recording, err) : result;
}

static int end_drain(void *context, struct gait_error *err)
{
    struct recording *recording = context;
    int result = settle_processes(recording, err);

    return result == 0 ? rotate(recording, err) : result;
}

/* ---- the ends of processes --------------------------------------------------------------------------------------- */

static int trigger_crash(struct recording *recording, pid_t pid, const struct crash_signal *crash, int signal,
                         struct gait_error *err)
{
    const char *name = sigabbrev_np(signal);
    char text[32];
    struct flight_event event = {
        .kind = trigger_spec_kind_name(TRIGGER_SPEC_CRASH),
        .text = text,
        .pid = (uint32_t)pid,
        .tid = crash->tid & INT32_MAX,
        .wants_all = true,
    };
    int result;

    if (name == NULL)
        snprintf(text, sizeof(text), "signal %d", signal);
    else
        snprintf(text, sizeof(text), "SIG%s", name);
    result = recording_trigger(recording, &event, err);
    return result == 0 ? settle(recording, err) : result;
}

/* Writes how it died, and what was in memory then, if a signal ended it. */
static int note_death(struct recording *recording, size_t which, struct gait_error *err)
{
    int status = recording->manifest.processes[which].status, signal;
    struct crash_signal crash;
    int result;

    if (status != -1 && !WIFSIGNALED(status))
        return 0;
    result = recorded_process_note_crash(&recording->processes[which], &crash, err);
    recording->has_crash |= recording->processes[which].has_crash;
    signal = status == -1 ? crash.signal : WTERMSIG(status);
    if (result != 0 || signal == 0)
        return result;
    return trigger_crash(recording, recording->processes[which].pid, &crash, signal, err);
}

static int process_ended(void *context, struct drained_process *drained, struct gait_error *err)
{
    struct recording *recording = context;
    struct recorded_process *process = drained->owner;
    int result = note_death(recording, (size_t)(process - recording->processes), err), ended;

    process->is_ended = true;
    recording->ended_lost += ring_reader_lost(process->ring);
    recording->ended_matched |= ring_reader_matched(process->ring);
    recording->ended_armed |= ring_reader_armed(process->ring);
    recording->ended_unresolved |= ring_reader_unresolved(process->ring);
    ended = recorded_process_end(process, result == 0 ? err : NULL);
    return result == 0 ? ended : result;
}

static const struct drain_receiver receiver = {
    .begin = begin_drain,
    .end = end_drain,
    .process_came = process_came,
    .process_changed = process_changed,
    .process_ended = process_ended,
    .modules = recorded_process_modules,
    .blocks = recorded_process_blocks,
    .lane_began = recorded_process_lane_began,
    .records = recorded_process_records,
    .lane_ended = recorded_process_lane_ended,
    .drained = recorded_process_drained,
    .explain = recorded_process_explain,
};

uint64_t recording_file_bytes(const struct recording *recording)
{
    return recording->written.file_bytes - recording->rotation.deleted_bytes;
}

struct recording_waits recording_waited(const struct recording *recording)
{
    struct recording_waits waits = {0};

    for (size_t i = 0; i < recording->manifest.process_count; i++) {
        const struct manifest_process *process = &recording->manifest.processes[i];

        for (size_t j = 0; j < process->thread_count; j++) {
            waits.count += process->threads[j].wait_count;
            waits.nanoseconds += process->threads[j].waited_ns;
        }
    }
    return waits;
}

void recording_counters(const struct recording *recording, struct counters_snapshot *sum_out)
{
    *sum_out = (struct counters_snapshot){.values = {0}};
    for (size_t i = 0; i < recording->manifest.process_count; i++)
        for (unsigned j = 0; j < COUNTER_COUNT; j++)
            if (__builtin_add_overflow(sum_out->values[j], recording->manifest.processes[i].counters.values[j],
                                       &sum_out->values[j]))
                sum_out->values[j] = UINT64_MAX;
}

uint64_t recording_lost(const struct recording *recording)
{
    uint64_t lost = recording->ended_lost;

    for (size_t i = 0; i < recording->process_count; i++) {
        const struct recorded_process *process = &recording->processes[i];

        if (!process->is_ended)
            lost += ring_reader_lost(process->ring);
        lost += recorded_process_unwritten(process);
    }
    return lost;
}

uint64_t recording_left(const struct recording *recording)
{
    uint64_t left = 0;

    for (size_t i = 0; i < recording->process_count; i++)
        left += recording->processes[i].is_ended ? recording->manifest.processes[i].left_count
                                                 : left_log_count(recording->processes[i].ring);
    return left;
}

/* What the rings of processes say that have not ended, with what those said that have. */
static uint64_t gather_bits(const struct recording *recording, uint64_t bits,
                            uint64_t (*read)(const struct ring_reader *reader))
{
    for (size_t i = 0; i < recording->process_count; i++)
        if (!recording->processes[i].is_ended)
            bits |= read(recording->processes[i].ring);
    return bits;
}

uint64_t recording_matched(const struct recording *recording)
{
    return gather_bits(recording, recording->ended_matched, ring_reader_matched);
}

uint64_t recording_armed(const struct recording *recording)
{
    return gather_bits(recording, recording->ended_armed, ring_reader_armed);
}

uint64_t recording_unresolved(const struct recording *recording)
{
    return gather_bits(recording, recording->ended_unresolved, ring_reader_unresolved);
}

static void give_back(struct recording *recording)
{
    for (size_t i = 0; i < recording->manifest.process_count; i++) {
        free(recording->manifest.processes[i].command);
        free(recording->manifest.processes[i].threads);
        free(recording->manifest.processes[i].left);
        manifest_free_indirect(&recording->manifest.processes[i]);
        manifest_free_unhooked(&recording->manifest.processes[i]);
        manifest_free_probes(&recording->manifest.processes[i]);
    }
    flight_deinit(&recording->flight);
    rotation_deinit(&recording->rotation);
    trigger_schedule_deinit(&recording->schedule);
    free(recording->manifest.processes);
    free(recording->manifest.clocks);
    free(recording->manifest.program);
    free(recording->processes);
    ring_drain_deinit(&recording->drain);
    chunk_encoder_destroy(recording->encoder);
    close(recording->folder);
}

void recording_discard(struct recording *recording)
{
    /* There is nothing that has to be on the disk. */
    (void)!disk_sync_end(recording->sync);
    (void)unlinkat(recording->folder, TRACE_MANIFEST_NAME, 0);
    (void)rmdir(recording->path);
    give_back(recording);
}

/* The first ones of the list are those that lost most. */
static void note_unwritten(struct recording *recording, const struct manifest_thread *thread)
{
    struct recording_unwritten last = {.tid = thread->tid, .bytes = thread->unwritten_bytes};

    memcpy(last.name, thread->name, sizeof(last.name));
    recording->unwritten_bytes += thread->unwritten_bytes;
    recording->unwritten_count++;
    for (size_t i = 0; i < RECORDING_UNWRITTEN_MAX && last.bytes != 0; i++) {
        struct recording_unwritten *place = &recording->unwritten[i], before = *place;

        if (place->bytes >= last.bytes)
            continue;
        *place = last;
        last = before;
    }
}

/* Processes that run the same program have the same functions. */
static void note_unhooked(struct recording *recording, const struct manifest_unhooked *unhooked)
{
    struct recording_unhooked *place = &recording->unhooked[recording->unhooked_count];

    if (!unhooked->is_named || unhooked->name == NULL || unhooked->why == NULL)
        return;
    for (size_t i = 0; i < recording->unhooked_count; i++)
        if (strcmp(recording->unhooked[i].name, unhooked->name) == 0)
            return;
    recording->has_more_unhooked |= recording->unhooked_count == RECORDING_UNHOOKED_MAX;
    if (recording->has_more_unhooked)
        return;
    snprintf(place->name, sizeof(place->name), "%s", unhooked->name);
    snprintf(place->why, sizeof(place->why), "%s", unhooked->why);
    recording->unhooked_count++;
}

static void sum_up_losses(struct recording *recording)
{
    recording->lost_bytes = recording_lost(recording);
    for (size_t i = 0; i < recording->manifest.process_count; i++) {
        const struct manifest_process *process = &recording->manifest.processes[i];

        for (size_t j = 0; j < process->thread_count; j++)
            if (process->threads[j].unwritten_bytes != 0)
                note_unwritten(recording, &process->threads[j]);
        for (size_t j = 0; j < process->unhooked_listed; j++)
            note_unhooked(recording, &process->unhooked[j]);
    }
}

int recording_end(struct recording *recording, const char *how, struct gait_error *err)
{
    int first = 0, result;

    if (recording->fault != 0)
        flight_give_up(&recording->flight);
    for (size_t i = 0; i < recording->process_count; i++) {
        result = ring_drain_end_process(&recording->drain, i, first == 0 ? err : NULL);
        if (first == 0)
            first = result;
        result = recorded_process_release(&recording->processes[i], first == 0 ? err : NULL);
        if (first == 0)
            first = result;
    }
    sum_up(recording);
    sum_up_losses(recording);
    /* It was full, or failed, when nothing was wrong with what came before, too. */
    recording->manifest.ended = first == -ENOSPC || first == -EDQUOT ? "disk full" : how;
    recording->spare_room = spare_room_release(recording->spare_room);
    note_clock(recording);
    flight_end(&recording->flight);
    result = put_manifest(recording, first == 0 ? err : NULL);
    first = first == 0 ? result : first;
    result = disk_sync_end(recording->sync);
    if (result != 0 && first == 0)
        (void)error_set(err, result, "what was recorded may not be on the disk: %s", strerror(-result));
    give_back(recording);
    return first == 0 ? result : first;
}
