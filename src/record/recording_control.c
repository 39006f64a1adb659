/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/recording_control.h"

#include "hosted/system_clock.h"
#include "record/control.h"
#include "record/recorded_process.h"
#include "record/recording.h"
#include "ring/ring_pressure.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

_Static_assert((int)COUNTER_COUNT <= (int)CONTROL_COUNTERS_MAX, "there is room for all counters");
_Static_assert((int)CONTROL_LANE_FREE == (int)RING_PRESSURES, "states of lanes are sent as the ring has them");

static struct control_lane describe(const struct recorded_process *process, const struct ring_lane_status *status)
{
    struct control_lane lane = {
        .pid = process->pid,
        .tid = status->tid,
        .is_detail = status->kind == RING_LANE_DETAIL,
        .state = (uint32_t)status->pressure,
        .drop_reason = (uint32_t)status->drop_reason,
        .full_percent = (uint32_t)(100 * status->used_bytes / status->capacity_bytes),
        .wait_count = status->wait_count,
        .waited_ns = status->waited_ns,
        .drop_count = status->drop_count,
        .lost_bytes = status->lost_bytes,
    };

    memcpy(lane.name, status->name, sizeof(lane.name));
    return lane;
}

/* The worse, the less: threads that drop, wait, did so before, never did. */
static unsigned rank_of(const struct ring_lane_status *status)
{
    if (status->pressure != RING_FILLING)
        return status->pressure == RING_DROPPING ? 0 : 1;
    return status->wait_count != 0 || status->drop_count != 0 ? 2 : 3;
}

#define RANKS 4

/* Lists the lanes of one rank, as many as there is room for. */
static void list_lanes(const struct recorded_process *process, unsigned rank, struct control_stats *stats)
{
    uint32_t count = ring_pressure_lanes(process->ring);
    struct ring_lane_status status;

    for (uint32_t i = 0; i < count && stats->lane_count < CONTROL_LANES_MAX; i++)
        if (ring_pressure_look(process->ring, i, &status) && rank_of(&status) == rank)
            stats->lanes[stats->lane_count++] = describe(process, &status);
}

static void count_lanes(const struct recorded_process *process, struct control_stats *stats)
{
    uint32_t count = ring_pressure_lanes(process->ring);
    struct ring_lane_status status;

    for (uint32_t i = 0; i < count; i++) {
        if (!ring_pressure_look(process->ring, i, &status)) {
            stats->lane_counts[CONTROL_LANE_FREE]++;
            continue;
        }
        stats->lane_counts[status.pressure]++;
        stats->thread_count += status.kind == RING_LANE_INDEX;
        stats->buffered_bytes += status.used_bytes;
        stats->buffer_bytes += status.capacity_bytes;
    }
}

static void list_counters(const struct recording *recording, struct control_stats *stats)
{
    struct counters_snapshot sum;

    recording_counters(recording, &sum);
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        struct control_counter *counter = &stats->counters[stats->counter_count];

        if (sum.values[i] == 0)
            continue;
        counter->value = sum.values[i];
        snprintf(counter->name, sizeof(counter->name), "%s", counter_describe((enum counter)i)->name);
        stats->counter_count++;
    }
}

static void recording_control_stats(const struct recording *recording, struct control_stats *stats_out)
{
    struct recording_waits waits = recording_waited(recording);

    *stats_out = (struct control_stats){
        .written_bytes = recording->written.raw_bytes,
        .record_count = recording->written.record_count,
        .file_bytes = recording_file_bytes(recording),
        .lost_bytes = recording_lost(recording),
        .wait_count = waits.count,
        .waited_ns = waits.nanoseconds,
    };
    for (size_t i = 0; i < recording->process_count; i++) {
        if (recording->processes[i].is_ended)
            continue;
        stats_out->process_count++;
        count_lanes(&recording->processes[i], stats_out);
    }
    for (unsigned rank = 0; rank < RANKS; rank++)
        for (size_t i = 0; i < recording->process_count; i++)
            if (!recording->processes[i].is_ended)
                list_lanes(&recording->processes[i], rank, stats_out);
    list_counters(recording, stats_out);
}

static void read_stats(void *context, struct control_stats *stats_out)
{
    const struct recording_control *control = context;

    recording_control_stats(control->recording, stats_out);
    stats_out->duration_ns = system_clock_ns(CLOCK_MONOTONIC) - control->began_ns;
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

    *control = (struct recording_control){.recording = recording, .began_ns = system_clock_ns(CLOCK_MONOTONIC)};
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
