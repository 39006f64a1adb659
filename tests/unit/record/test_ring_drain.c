/* SPDX-License-Identifier: MIT */
/* Rings of this process, whose receiver notes what it is given. */
#include "record/ring_drain.h"

#include "hosted/error_text.h"
#include "ring/ring_notice.h"
#include "ring/ring_reader.h"
#include "ring/ring_writer.h"
#include "support/check.h"

#include <errno.h>
#include <string.h>

static struct gait_error err;
static struct ring_drain drain;
static struct ring_region *rings[2];

/* What came, in its order: a letter each. */
static char came[64];
static uint64_t record_bytes, lost_behind;
static int refusal; /* what records are answered */

static void note(char what)
{
    size_t length = strlen(came);

    CHECK(length + 1 < sizeof(came));
    came[length] = what;
    came[length + 1] = '\0';
}

static int begin_look(void *context, struct gait_error *why)
{
    (void)why;
    CHECK(context == came);
    note('[');
    return 0;
}

static int end_look(void *context, struct gait_error *why)
{
    (void)context;
    (void)why;
    note(']');
    return 0;
}

static int process_came(void *context, struct drained_process *process, struct gait_error *why)
{
    (void)context;
    process->owner = &rings;
    note('p');
    return process->pid == 99 ? error_set(why, ENOSPC, "no more") : 0;
}

static void process_changed(void *context, const struct drained_process *process)
{
    (void)context;
    note(process->status == -1 ? 'c' : 's');
}

static int process_ended(void *context, struct drained_process *process, struct gait_error *why)
{
    (void)context;
    (void)why;
    CHECK(process->ring != NULL);
    note('e');
    return 0;
}

static int modules(struct drained_process *process, struct drained_log *log)
{
    char path[DRAINED_PATH_BYTES_MAX + 1];
    struct ring_module module;
    int got;

    (void)process;
    while ((got = drained_modules_next(log, &module, path)) > 0) {
        CHECK_TEXT(path, "abc");
        note('m');
    }
    return got;
}

static int blocks(struct drained_process *process, const struct drained_log *log)
{
    (void)process;
    CHECK(log->size_bytes != 0);
    note('b');
    return 0;
}

static int lane_began(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch)
{
    CHECK(process->owner == &rings);
    CHECK(!lane->is_open);
    lane->owner = came + batch->tid;
    note('(');
    return 0;
}

static int records(struct drained_process *process, struct drained_lane *lane, const struct ring_batch *batch)
{
    CHECK(process->drained_ns != 0);
    CHECK(lane->owner == came + batch->tid);
    if (refusal != 0)
        return refusal;
    record_bytes += batch->size_bytes;
    note(batch->size_bytes == 0 ? '0' : 'r');
    return 0;
}

static int lane_ended(struct drained_process *process, struct drained_lane *lane, uint64_t lost)
{
    (void)process;
    CHECK(lane->owner != NULL);
    lost_behind = lost;
    note(')');
    return 0;
}

static int drained(struct drained_process *process)
{
    (void)process;
    note('.');
    return 0;
}

static int explain(const struct drained_process *process, int result, struct gait_error *why)
{
    return error_set(why, result, "process %d: %s", (int)process->pid, strerror(-result));
}

static const struct drain_receiver receiver = {
    .begin = begin_look,
    .end = end_look,
    .process_came = process_came,
    .process_changed = process_changed,
    .process_ended = process_ended,
    .modules = modules,
    .blocks = blocks,
    .lane_began = lane_began,
    .records = records,
    .lane_ended = lane_ended,
    .drained = drained,
    .explain = explain,
};

static const struct drain_receiver only_records = {
    .process_came = process_came,
    .records = records,
    .explain = explain,
};

static void begin(const struct drain_receiver *with)
{
    static const struct ring_options options;

    came[0] = '\0';
    refusal = 0;
    record_bytes = 0;
    ring_drain_init(&drain, with, came);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ring_region_create(&options, &rings[i]), 0);
        CHECK_EQUAL(ring_drain_add(&drain, 10 + (pid_t)i, 0, rings[i]->fd, &err), 0);
    }
    CHECK_TEXT(came, "pp");
    came[0] = '\0';
}

static void end(void)
{
    ring_drain_deinit(&drain);
    CHECK_EQUAL(drain.count, 0);
    for (unsigned i = 0; i < 2; i++)
        ring_region_destroy(rings[i]);
}

static struct ring_writer *open_lane(unsigned ring, uint32_t tid)
{
    const struct ring_lane_owner owner = {.tid = tid, .events = GAIT_EVENT_BLOCK};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_writer_open(rings[ring], &owner, &writer), 0);
    *(uint32_t *)(uintptr_t)writer->start = event_header(0, EVENT_RECORD_BLOCK);
    return writer;
}

static void write_lane(unsigned ring, uint32_t tid)
{
    struct ring_writer *writer = open_lane(ring, tid);

    CHECK_EQUAL(ring_writer_close(writer, writer->start + 4), 0);
}

static void add_module(unsigned ring)
{
    const struct ring_module module = {.is_loaded = 1, .path_bytes = 3};

    CHECK(ring_region_add_module(rings[ring], &module, "abc"));
}

/* What records refer to comes before them; the next thread's come behind the end of the one before in that lane. */
static void records_come_lane_by_lane(void)
{
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    struct ring_writer *writer;

    begin(&receiver);
    CHECK_EQUAL(ring_region_new_space(rings[0]), 0);
    CHECK(ring_region_add_block(rings[0], 0, 0, &block));
    add_module(0);
    writer = open_lane(0, 5);
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
    CHECK_TEXT(came, "[mb(r..]");
    CHECK_EQUAL(ring_writer_close(writer, writer->start + 4), 0);
    came[0] = '\0';
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
    CHECK_TEXT(came, "[0)..]");
    write_lane(0, 6);
    write_lane(1, 7);
    came[0] = '\0';
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
    CHECK_TEXT(came, "[(r0).(r0).]");
    CHECK_EQUAL(lost_behind, 0);
    CHECK_EQUAL(record_bytes, 12);
    CHECK_EQUAL(drain.taken_bytes, 12);
    end();
}

static void the_end_of_a_process_brings_what_is_left(void)
{
    begin(&receiver);
    (void)open_lane(0, 5);
    add_module(0);
    ring_drain_set_parent(&drain, 0, 3);
    ring_drain_set_status(&drain, 10, 7);
    ring_drain_set_status(&drain, 12, 7);
    CHECK_EQUAL(drain.processes[0].parent, 3);
    CHECK(ring_drain_notices(&drain, 0) != NULL);
    CHECK_EQUAL(ring_drain_end_process(&drain, 0, &err), 0);
    CHECK_TEXT(came, "csm(r.)e");
    CHECK(ring_drain_notices(&drain, 0) == NULL);
    CHECK_EQUAL(ring_drain_end_process(&drain, 0, &err), 0);
    came[0] = '\0';
    /* Where there are no records, logs come with the end. */
    add_module(1);
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&drain, 1, &err), 0);
    CHECK_TEXT(came, "[.].me");
    end();
}

static void a_receiver_may_want_records_alone(void)
{
    begin(&only_records);
    add_module(0);
    write_lane(0, 5);
    drain.processes[0].owner = NULL;
    CHECK_EQUAL(ring_drain_end_process(&drain, 1, &err), 0);
    end();
}

/* They come again, and those of other processes come all the same. */
static void what_a_receiver_refuses_is_kept(void)
{
    begin(&receiver);
    (void)open_lane(0, 5);
    (void)open_lane(1, 6);
    refusal = -ENOSPC;
    CHECK_EQUAL(ring_drain_take(&drain, &err), -ENOSPC);
    CHECK_TEXT(err.text, "process 10: No space left on device");
    CHECK_TEXT(came, "[(.(.]");
    refusal = 0;
    came[0] = '\0';
    CHECK_EQUAL(ring_drain_take(&drain, &err), 0);
    CHECK_TEXT(came, "[r.r.]");
    end();
}

static void forged_modules_are_refused(void)
{
    begin(&receiver);
    add_module(0);
    ((struct ring_module *)(void *)(rings[0]->base + RING_MODULES_OFFSET))->path_bytes = 1u << 30;
    write_lane(0, 5);
    write_lane(1, 6);
    CHECK_EQUAL(ring_drain_take(&drain, &err), -EPROTO);
    CHECK(strstr(err.text, "cannot read the events of process 10: its ring is damaged") != NULL);
    CHECK_TEXT(came, "[.(r0).]");
    CHECK_EQUAL(ring_drain_end_process(&drain, 0, &err), 0);
    end();
}

static void what_is_no_ring_is_refused(void)
{
    begin(&receiver);
    CHECK_EQUAL(ring_drain_add(&drain, 78, 0, -1, &err), -EBADF);
    CHECK(strstr(err.text, "cannot read the events of process 78") != NULL);
    CHECK_EQUAL(ring_drain_add(&drain, 99, 0, rings[0]->fd, &err), -ENOSPC);
    CHECK_TEXT(err.text, "no more");
    CHECK_EQUAL(drain.count, 2);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(records_come_lane_by_lane),         CHECK_CASE(the_end_of_a_process_brings_what_is_left),
    CHECK_CASE(a_receiver_may_want_records_alone), CHECK_CASE(what_a_receiver_refuses_is_kept),
    CHECK_CASE(forged_modules_are_refused),        CHECK_CASE(what_is_no_ring_is_refused),
};

CHECK_MAIN(cases)
