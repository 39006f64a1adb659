/* SPDX-License-Identifier: MIT */
/* Logs are handed over before the records behind which they were found: a receiver knows what those refer to. */
#include "record/ring_drain.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "hosted/system_clock.h"
#include "ring/ring_notice.h"
#include "ring/ring_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RINGS_AWAITED 1024

void ring_drain_init(struct ring_drain *drain, const struct drain_receiver *receiver, void *context)
{
    *drain = (struct ring_drain){.receiver = receiver, .context = context};
}

static void close_process(struct drained_process *process)
{
    ring_reader_close(process->ring);
    free(process->lanes);
    process->ring = NULL;
    process->lanes = NULL;
    process->lane_count = 0;
}

void ring_drain_deinit(struct ring_drain *drain)
{
    for (size_t i = 0; i < drain->count; i++)
        close_process(&drain->processes[i]);
    free(drain->processes);
    *drain = (struct ring_drain){.count = 0};
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static int open_ring(struct drained_process *process, int fd, struct gait_error *err)
{
    int result = ring_reader_open(fd, &process->ring);

    if (result == 0)
        return 0;
    return error_set(err, result, "cannot read the events of process %d: %s", (int)process->pid, strerror(-result));
}

int ring_drain_add(struct ring_drain *drain, pid_t pid, pid_t parent, int ring_fd, struct gait_error *err)
{
    struct drained_process *process;
    int result;

    if (ARRAY_RESERVE_NEXT(drain->processes, drain->count) != 0)
        return error_set(err, ENOMEM, "cannot record process %d: no memory", (int)pid);
    process = &drain->processes[drain->count];
    *process = (struct drained_process){.pid = pid, .parent = parent, .status = -1};
    result = open_ring(process, ring_fd, err);
    if (result != 0)
        return result;
    result = drain->receiver->process_came(drain->context, process, err);
    if (result != 0) {
        close_process(process);
        return result;
    }
    drain->count++;
    return 0;
}

static void note_change(const struct ring_drain *drain, const struct drained_process *process)
{
    if (drain->receiver->process_changed != NULL)
        drain->receiver->process_changed(drain->context, process);
}

void ring_drain_set_parent(struct ring_drain *drain, size_t which, pid_t parent)
{
    drain->processes[which].parent = parent;
    note_change(drain, &drain->processes[which]);
}

void ring_drain_set_status(struct ring_drain *drain, pid_t pid, int status)
{
    for (size_t i = drain->count; i-- > 0;)
        if (drain->processes[i].pid == pid) {
            drain->processes[i].status = status;
            note_change(drain, &drain->processes[i]);
            return;
        }
}

struct ring_notices *ring_drain_notices(const struct ring_drain *drain, size_t which)
{
    const struct ring_reader *ring = drain->processes[which].ring;

    return ring == NULL ? NULL : ring_notices_in(ring->base);
}

void ring_drain_wait(const struct ring_drain *drain, struct ring_wait_word other, unsigned timeout_ms)
{
    struct ring_reader *rings[RINGS_AWAITED];
    size_t count = 0;

    for (size_t i = 0; i < drain->count && count < RINGS_AWAITED; i++)
        if (drain->processes[i].ring != NULL)
            rings[count++] = drain->processes[i].ring;
    ring_wait(rings, count, other, timeout_ms);
}

/* ---- logs -------------------------------------------------------------------------------------------------------- */

static bool is_possible(const struct ring_module *module, size_t available)
{
    return module->size_bytes >= sizeof(*module) && module->size_bytes <= available &&
           module->path_bytes <= module->size_bytes - sizeof(*module) && module->path_bytes <= DRAINED_PATH_BYTES_MAX &&
           module->build_id_bytes <= sizeof(module->build_id);
}

int drained_modules_next(struct drained_log *log, struct ring_module *module_out,
                         char path_out[DRAINED_PATH_BYTES_MAX + 1])
{
    if (log->size_bytes == 0)
        return 0;
    if (log->size_bytes < sizeof(*module_out))
        return -EPROTO;
    memcpy(module_out, log->bytes, sizeof(*module_out));
    if (!is_possible(module_out, log->size_bytes))
        return -EPROTO;
    memcpy(path_out, log->bytes + sizeof(*module_out), module_out->path_bytes);
    path_out[module_out->path_bytes] = '\0';
    log->bytes += module_out->size_bytes;
    log->size_bytes -= module_out->size_bytes;
    return 1;
}

static int take_logs(const struct drain_receiver *receiver, struct drained_process *process)
{
    struct drained_log log = {.size_bytes = 0};
    int result = 0;

    if (receiver->modules != NULL)
        result = ring_reader_modules(process->ring, &log.bytes, &log.size_bytes);
    if (result == 0 && log.size_bytes != 0)
        result = receiver->modules(process, &log);
    if (result != 0 || receiver->blocks == NULL)
        return result;
    result = ring_reader_blocks(process->ring, &log.bytes, &log.size_bytes);
    return result == 0 && log.size_bytes != 0 ? receiver->blocks(process, &log) : result;
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* A process whose ring is being emptied. */
struct emptying {
    struct ring_drain *drain;
    struct drained_process *process;
};

static int end_lane(const struct emptying *emptying, struct drained_lane *lane, uint64_t lost_behind)
{
    const struct drain_receiver *receiver = emptying->drain->receiver;

    if (!lane->is_open)
        return 0;
    lane->is_open = false;
    return receiver->lane_ended == NULL ? 0 : receiver->lane_ended(emptying->process, lane, lost_behind);
}

static int begin_lane(const struct emptying *emptying, struct drained_lane *lane, const struct ring_batch *batch)
{
    const struct drain_receiver *receiver = emptying->drain->receiver;
    int result = receiver->lane_began == NULL ? 0 : receiver->lane_began(emptying->process, lane, batch);

    if (result != 0)
        return result;
    lane->generation = batch->generation;
    lane->is_open = true;
    return 0;
}

static int lane_for(const struct emptying *emptying, const struct ring_batch *batch, struct drained_lane **lane_out)
{
    struct drained_process *process = emptying->process;
    int result = ARRAY_RESERVE_ZEROED(process->lanes, process->lane_count, (size_t)batch->lane + 1);
    struct drained_lane *lane;

    if (result != 0)
        return result;
    lane = *lane_out = &emptying->process->lanes[batch->lane];
    if (lane->generation == batch->generation)
        return 0;
    result = end_lane(emptying, lane, 0);
    return result == 0 ? begin_lane(emptying, lane, batch) : result;
}

static int take_batch(void *context, const struct ring_batch *batch)
{
    const struct emptying *emptying = context;
    const struct drain_receiver *receiver = emptying->drain->receiver;
    struct drained_lane *lane;
    int result = take_logs(receiver, emptying->process);

    if (result == 0)
        result = lane_for(emptying, batch, &lane);
    if (result != 0)
        return result;
    emptying->drain->taken_bytes += batch->size_bytes;
    result = receiver->records(emptying->process, lane, batch);
    if (result != 0 || !batch->is_last)
        return result;
    return end_lane(emptying, lane, batch->size_bytes == 0 ? batch->lost_before : 0);
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static int explain(const struct ring_drain *drain, const struct drained_process *process, int result,
                   struct gait_error *err)
{
    if (result == 0)
        return 0;
    if (result == -EPROTO)
        return error_set(
            err, result,
            "cannot read the events of process %d: its ring is damaged, perhaps by a stray write of the program",
            (int)process->pid);
    return drain->receiver->explain(process, result, err);
}

static int take_process(struct ring_drain *drain, struct drained_process *process)
{
    struct emptying emptying = {drain, process};
    const struct ring_taker taker = {take_batch, &emptying};
    int result, drained = 0;

    process->drained_ns = system_clock_ns(CLOCK_MONOTONIC);
    result = ring_reader_take(process->ring, &taker);
    if (drain->receiver->drained != NULL)
        drained = drain->receiver->drained(process);
    return result == 0 ? drained : result;
}

int ring_drain_take(struct ring_drain *drain, struct gait_error *err)
{
    const struct drain_receiver *receiver = drain->receiver;
    int first = receiver->begin == NULL ? 0 : receiver->begin(drain->context, err), result;

    if (first != 0)
        return first;
    for (size_t i = 0; i < drain->count; i++) {
        struct drained_process *process = &drain->processes[i];

        result = process->ring == NULL ? 0 : take_process(drain, process);
        if (first == 0)
            first = explain(drain, process, result, err);
    }
    result = receiver->end == NULL ? 0 : receiver->end(drain->context, first == 0 ? err : NULL);
    return first == 0 ? result : first;
}

/* What was begun is not completed any more. Also where no record came, logs say what was there. */
static int take_rest(struct ring_drain *drain, struct drained_process *process)
{
    const struct emptying emptying = {drain, process};
    int result;

    ring_reader_conclude(process->ring);
    result = take_process(drain, process);
    if (result == 0)
        result = take_logs(drain->receiver, process);
    for (size_t i = 0; i < process->lane_count; i++) {
        int ended = end_lane(&emptying, &process->lanes[i], 0);

        result = result == 0 ? ended : result;
    }
    return result;
}

int ring_drain_end_process(struct ring_drain *drain, size_t which, struct gait_error *err)
{
    struct drained_process *process = &drain->processes[which];
    int result, ended = 0;

    if (process->ring == NULL)
        return 0;
    result = explain(drain, process, take_rest(drain, process), err);
    if (drain->receiver->process_ended != NULL)
        ended = drain->receiver->process_ended(drain->context, process, result == 0 ? err : NULL);
    close_process(process);
    return result == 0 ? ended : result;
}
