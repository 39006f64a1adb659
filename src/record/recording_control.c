/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/recording_control.h"

#include "record/control.h"
#include "record/recorded_process.h"
#include "record/recording.h"
#include "ring/ring_reader.h"

#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void recording_control_stats(const struct recording *recording, struct control_stats *stats_out)
{
    *stats_out = (struct control_stats){
        .written_bytes = recording->event_bytes,
        .lost_bytes = recording_lost(recording),
    };
    for (size_t i = 0; i < recording->process_count; i++) {
        struct ring_fill fill;

        if (recording->processes[i].is_ended)
            continue;
        fill = ring_reader_fill(recording->processes[i].ring);
        stats_out->process_count++;
        stats_out->thread_count += fill.lane_count;
        stats_out->buffered_bytes += fill.used_bytes;
        stats_out->buffer_bytes += fill.capacity_bytes;
    }
}

static void read_stats(void *context, struct control_stats *stats_out)
{
    const struct recording_control *control = context;

    recording_control_stats(control->recording, stats_out);
    stats_out->duration_ns = now_ns() - control->began_ns;
}

static bool has_process(void *context, pid_t pid)
{
    const struct recording *recording = ((struct recording_control *)context)->recording;

    for (size_t i = 0; i < recording->process_count; i++)
        if (recording->processes[i].pid == pid && !recording->processes[i].is_ended)
            return true;
    return false;
}

static void trigger(void *context, const char *note)
{
    struct recording_control *control = context;

    if (control->trigger != NULL)
        control->trigger(control->context, note);
}

static void detach(void *context)
{
    ((struct recording_control *)context)->is_to_end = true;
}

int recording_control_begin(struct recording_control *control, struct recording *recording)
{
    const struct control_handlers handlers = {
        .context = control,
        .has_process = has_process,
        .read_stats = read_stats,
        .path = recording->path,
        .trigger = trigger,
        .detach = detach,
    };

    *control = (struct recording_control){.recording = recording, .began_ns = now_ns()};
    return control_open(&handlers, &control->control);
}

int recording_control_fd(const struct recording_control *control)
{
    return control->control == NULL ? -1 : control_fd(control->control);
}

void recording_control_serve(struct recording_control *control)
{
    if (control->control != NULL)
        control_serve(control->control);
}

void recording_control_end(struct recording_control *control, int result, const char *text)
{
    control_close(control->control, result, text);
    control->control = NULL;
}
