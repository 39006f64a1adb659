/* SPDX-License-Identifier: MIT */
/* A ring of this process, emptied into files that are read again. */
#define _GNU_SOURCE
#include "record/recorded_process.h"

#include "record/flight.h"
#include "record/ring_drain.h"
#include "ring/crash_lane.h"
#include "ring/ring_counters.h"
#include "ring/ring_writer.h"
#include "support/check.h"
#include "support/trace_folder.h"
#include "trace/modules.h"
#include "trace/trace_crash.h"
#include "trace/trace_details.h"
#include "trace/trace_events.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct gait_error err;
static char path[] = "/tmp/gait-test-XXXXXX";
static int folder;
static struct ring_region *ring;
static struct chunk_encoder *encoder;
static struct ring_drain rings;
static struct recorded_process process;
static struct manifest_process manifest;
static struct flight flight;
static struct flight_options flight_options;
static int fault;

static int process_came(void *context, struct drained_process *drained, struct gait_error *why)
{
    (void)context;
    (void)why;
    drained->owner = &process;
    return recorded_process_begin(&process, folder, "77", drained, encoder);
}

static int process_ended(void *context, struct drained_process *drained, struct gait_error *why)
{
    (void)context;
    (void)drained;
    return recorded_process_end(&process, why);
}

static const struct drain_receiver receiver = {
    .process_came = process_came,
    .process_ended = process_ended,
    .modules = recorded_process_modules,
    .blocks = recorded_process_blocks,
    .lane_began = recorded_process_lane_began,
    .records = recorded_process_records,
    .lane_ended = recorded_process_lane_ended,
    .drained = recorded_process_drained,
    .explain = recorded_process_explain,
};

static void begin(void)
{
    static const struct ring_options options;

    memset(&manifest, 0, sizeof(manifest));
    strcpy(path, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(path) != NULL);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(chunk_encoder_create(false, &encoder), 0);
    ring_drain_init(&rings, &receiver, NULL);
    CHECK_EQUAL(ring_drain_add(&rings, 77, 0, ring->fd, &err), 0);
    process.manifest = &manifest;
    flight_init(&flight, &flight_options, clock_pair_read());
    process.flight = &flight;
    fault = 0;
    process.fault = &fault;
}

static int remove_one(const char *name, const struct stat *status, int flag, struct FTW *place)
{
    (void)status;
    (void)flag;
    (void)place;
    return remove(name);
}

static void end(void)
{
    flight_deinit(&flight);
    ring_drain_deinit(&rings);
    ring_region_destroy(ring);
    chunk_encoder_destroy(encoder);
    free(manifest.threads);
    close(folder);
    CHECK_EQUAL(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static uint64_t events_read, last_location;

static int count(void *context, const struct gait_event *events, size_t event_count, const struct trace_span *span)
{
    (void)context;
    (void)span;
    events_read += event_count;
    last_location = events[event_count - 1].location;
    return 0;
}

/* A thread that runs the same block again and again. */
static void write_records(uint32_t tid, unsigned count_of_records)
{
    const struct ring_lane_owner owner = {.tid = tid, .events = GAIT_EVENT_BLOCK, .space = 0};
    struct ring_writer *writer = NULL;
    uint64_t position;

    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    position = writer->start;
    for (unsigned i = 0; i < count_of_records; i++, position += 4)
        *(uint32_t *)(uintptr_t)position = event_header(0, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
}

static uint64_t size_of(const char *name)
{
    struct stat status = {.st_size = 0};
    char file[64];

    snprintf(file, sizeof(file), "77/%s", name);
    CHECK_EQUAL(fstatat(folder, file, &status, 0), 0);
    return (uint64_t)status.st_size;
}

static void what_the_process_counted_is_noted_while_it_runs_and_at_its_end(void)
{
    begin();
    ring_counters_begin(ring);
    counter_add(COUNTER_hook_returns_guessed, 2);
    CHECK_EQUAL(recorded_process_settle(&process, &err), 0);
    CHECK_EQUAL(manifest.counters.values[COUNTER_hook_returns_guessed], 2);
    counter_add(COUNTER_hook_returns_guessed, 3);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(manifest.counters.values[COUNTER_hook_returns_guessed], 5);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(manifest.counters.values[COUNTER_hook_returns_guessed], 5);
    counters_move(NULL);
    end();
}

static void without_blocks_there_is_no_file_of_them(void)
{
    struct stat status;

    begin();
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK(size_of("modules.gait") > 0);
    CHECK_EQUAL(fstatat(folder, "77/blocks.gait", &status, 0), -1);
    end();
}

/* A thread that left before it did anything. */
static void records_have_a_file_of_blocks_also_if_there_are_none(void)
{
    begin();
    write_records(5, 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK(size_of("5.1.index.gait") > 0);
    CHECK(size_of("blocks.gait") > 0);
    end();
}

static void what_threads_wrote_can_be_read(void)
{
    const struct trace_events_receiver counter = {.process = count};
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    struct trace_events_end how;
    static struct trace_blocks blocks;

    begin();
    CHECK_EQUAL(ring_region_new_space(ring), 0);
    CHECK(ring_region_add_block(ring, 0, 0, &block));
    write_records(5, 1000);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    /* The same thread id once more. */
    write_records(5, 10);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(recorded_process_settle(&process, &err), 0);
    CHECK_EQUAL(process.written.raw_bytes, 4040);
    CHECK_EQUAL(process.written.record_count, 1010);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(process.written.record_count, 1010);
    CHECK_EQUAL(process.written.file_bytes, size_of("blocks.gait") + size_of("modules.gait") +
                                                size_of("5.1.index.gait") + size_of("5.2.index.gait"));
    CHECK_EQUAL(manifest.thread_count, 2);
    CHECK_EQUAL(manifest.threads[1].generation, 2);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder, "77/blocks.gait", &err), 0);
    events_read = 0;
    CHECK_EQUAL(trace_events_read(folder, trace_piece_at("77/5.1.index.gait"), 1, &blocks, &counter, &how, &err), 0);
    CHECK_EQUAL(events_read, 1000);
    CHECK_EQUAL(last_location, 0x4000);
    CHECK_EQUAL(trace_events_read(folder, trace_piece_at("77/5.2.index.gait"), 1, &blocks, &counter, &how, &err), 0);
    CHECK_EQUAL(events_read, 1010);
    trace_blocks_deinit(&blocks);
    end();
}

static uint64_t gaps_in(const char *name, const struct trace_blocks *blocks)
{
    const struct trace_events_receiver counter = {.process = count};
    struct trace_events_end how;

    events_read = 0;
    CHECK_EQUAL(trace_events_read(folder, trace_piece_at(name), 1, blocks, &counter, &how, &err), 0);
    CHECK_EQUAL(how.stream.lost_bytes, 0);
    CHECK_EQUAL(how.stream.state, STREAM_COMPLETE);
    return how.gap_count;
}

/* Three times: the first is too old when something happens, the last comes when the window is over. */
static void only_what_is_around_a_trigger_is_written(void)
{
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK, .space = 0};
    static struct trace_blocks blocks;
    struct ring_writer *writer = NULL;
    uint64_t position;

    flight_options = (struct flight_options){.keeps_index = true, .pre_roll_ns = 50000000};
    begin();
    flight_options = (struct flight_options){.keeps_index = false};
    CHECK_EQUAL(ring_region_new_space(ring), 0);
    CHECK(ring_region_add_block(ring, 0, 0, &block));
    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    position = writer->start;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j <= i; j++, position += 4)
            *(uint32_t *)(uintptr_t)position = event_header(0, EVENT_RECORD_BLOCK);
        CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
        /* Nothing more comes, so nothing is waited for. */
        CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
        if (i == 1)
            CHECK_EQUAL(flight_trigger(&flight, &(struct flight_event){.kind = "manual"}), 0);
        CHECK_EQUAL(flight_settle(&flight), 0);
        CHECK_EQUAL(recorded_process_settle(&process, &err), 0);
        CHECK_EQUAL(process.written.raw_bytes, i == 0 ? 0 : 8);
        /* The window ends where it began to be wanted. */
        CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
        usleep(80000);
    }
    CHECK_EQUAL(flight.windows.count, 1);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder, "77/blocks.gait", &err), 0);
    CHECK_EQUAL(gaps_in("77/5.1.index.gait", &blocks), 1);
    CHECK_EQUAL(events_read, 2);
    trace_blocks_deinit(&blocks);
    end();
}

static void a_thread_that_ended_can_be_asked_for_later(void)
{
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    static struct trace_blocks blocks;

    flight_options = (struct flight_options){.keeps_index = true, .pre_roll_ns = 10000000000};
    begin();
    flight_options = (struct flight_options){.keeps_index = false};
    CHECK_EQUAL(ring_region_new_space(ring), 0);
    CHECK(ring_region_add_block(ring, 0, 0, &block));
    write_records(5, 1000);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    /* In the same lane. */
    write_records(6, 10);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(recorded_process_settle(&process, &err), 0);
    CHECK_EQUAL(faccessat(folder, "77/5.1.index.gait", F_OK, 0), -1);
    CHECK_EQUAL(flight_trigger(&flight, &(struct flight_event){.kind = "manual"}), 0);
    CHECK_EQUAL(flight_settle(&flight), 0);
    CHECK_EQUAL(recorded_process_settle(&process, &err), 0);
    CHECK(process.streams == NULL);
    CHECK_EQUAL(process.written.raw_bytes, 4040);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(trace_blocks_read(&blocks, folder, "77/blocks.gait", &err), 0);
    CHECK_EQUAL(gaps_in("77/5.1.index.gait", &blocks), 0);
    CHECK_EQUAL(events_read, 1000);
    CHECK_EQUAL(gaps_in("77/6.1.index.gait", &blocks), 0);
    CHECK_EQUAL(events_read, 10);
    trace_blocks_deinit(&blocks);
    end();
}

static void count_enter(void *context, const struct detail_enter *enter, const uint8_t *stack,
                        struct detail_values values)
{
    (void)values;
    (void)enter;
    (void)stack;
    ++*(unsigned *)context;
}

static void count_leave(void *context, const struct detail_leave *leave, struct detail_values values)
{
    (void)values;
    (void)leave;
    ++*(unsigned *)context;
}

static struct ring_writer *write_leave(uint32_t serial)
{
    const struct ring_lane_owner owner = {.tid = 5, .kind = RING_LANE_DETAIL, .serial = serial};
    struct detail_leave leave = {.record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE}};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    memcpy((void *)(uintptr_t)writer->start, &leave, sizeof(leave));
    return writer;
}

/* Whichever lane is seen first. */
static void the_lanes_of_a_thread_are_known_as_its_own(void)
{
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK};
    const struct event_block block = {.start = 0x4000, .size_bytes = 16, .last_insn_bytes = 2};
    struct ring_writer *index[2] = {NULL}, *detail[2];
    unsigned records = 0;
    const struct trace_details_receiver counter = {
        .enter = count_enter, .leave = count_leave, .stack = NULL, .context = &records};
    struct trace_details_end how;

    begin();
    CHECK_EQUAL(ring_region_new_space(ring), 0);
    CHECK(ring_region_add_block(ring, 0, 0, &block));
    for (unsigned i = 0; i < 2; i++) {
        CHECK_EQUAL(ring_writer_open(ring, &owner, &index[i]), 0);
        *(uint32_t *)(uintptr_t)index[i]->start = event_header(0, EVENT_RECORD_BLOCK);
        detail[i] = write_leave(index[i]->serial);
        CHECK_EQUAL(detail[i]->serial, index[i]->serial);
        /* The first thread has ended when somebody looks, the second has the same id. */
        CHECK_EQUAL(ring_writer_close(index[i], index[i]->start + 4), 0);
        CHECK_EQUAL(ring_writer_close(detail[i], detail[i]->start + sizeof(struct detail_leave)), 0);
        CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    }
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(manifest.thread_count, 2);
    CHECK_EQUAL(manifest.threads[1].generation, 2);
    CHECK_EQUAL(trace_details_read(folder, "77/5.1.detail.gait", &counter, &how, &err), 0);
    CHECK_EQUAL(trace_details_read(folder, "77/5.2.detail.gait", &counter, &how, &err), 0);
    CHECK_EQUAL(records, 2);
    CHECK_EQUAL(faccessat(folder, "77/5.2.index.gait", F_OK, 0), 0);
    end();
}

static void what_a_process_says_of_its_death_is_written_once(void)
{
    struct crash_signal *said, told;
    struct trace_crash crash;

    begin();
    CHECK_EQUAL(recorded_process_note_crash(&process, &told, &err), 0);
    CHECK_EQUAL(told.signal, 0);
    said = crash_lane_reserve(ring, sizeof(*said));
    said->signal = 11;
    said->tid = 5;
    crash_lane_commit(said, sizeof(*said), CRASH_SIGNAL);
    CHECK_EQUAL(recorded_process_note_crash(&process, &told, &err), 0);
    CHECK_EQUAL(told.signal, 11);
    CHECK_EQUAL(told.tid, 5);
    CHECK_EQUAL(recorded_process_note_crash(&process, &told, &err), 0);
    CHECK_EQUAL(told.signal, 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(trace_crash_read(&crash, folder, "77/crash.gait", &err), 0);
    CHECK_EQUAL(crash.count, 1);
    trace_crash_deinit(&crash);
    end();
}

static void modules_are_written_as_they_come_and_go(void)
{
    const struct ring_module loaded = {
        .is_loaded = 1,
        .time = 10,
        .start = 0x1000,
        .end = 0x3000,
        .path_bytes = 7,
        .build_id_bytes = 3,
        .build_id = {1, 2, 3},
    };
    const struct ring_module unloaded = {.time = 20, .start = 0x1000, .end = 0x3000};
    struct modules modules = {0};

    begin();
    CHECK(ring_region_add_module(ring, &loaded, "/a/file"));
    CHECK(ring_region_add_module(ring, &unloaded, ""));
    write_records(5, 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(modules_read(&modules, folder, "77/modules.gait", &err), 0);
    CHECK_EQUAL(modules.count, 1);
    CHECK_TEXT(modules.modules[0].path, "/a/file");
    CHECK_EQUAL(modules.modules[0].loaded, 10);
    CHECK_EQUAL(modules.modules[0].build_id_bytes, 3);
    CHECK(memcmp(modules.modules[0].build_id, "\1\2\3", 4) == 0);
    CHECK_EQUAL(modules.modules[0].unloaded, 20);
    modules_deinit(&modules);
    end();
}

/* Threads that are gone when somebody looks for them. */
static void threads_have_the_names_that_they_had_last(void)
{
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK};
    struct ring_writer *writer = NULL;

    begin();
    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    ring_writer_set_name(writer, "first");
    *(uint32_t *)(uintptr_t)writer->start = event_header(0, EVENT_RECORD_BLOCK);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(manifest.thread_count, 1);
    CHECK_TEXT(manifest.threads[0].name, "first");
    ring_writer_set_name(writer, "second");
    CHECK_EQUAL(ring_writer_close(writer, writer->start + 4), 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_TEXT(manifest.threads[0].name, "second");
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    end();
}

/* With long paths, so that they do not fit into one chunk. */
static void modules_that_come_together_are_written_together(void)
{
    enum { COUNT = 40, PATH_BYTES = 3000 };
    static char long_path[PATH_BYTES];
    struct modules modules = {0};

    memset(long_path, 'x', sizeof(long_path));
    begin();
    for (uint64_t i = 0; i < COUNT; i++) {
        struct ring_module module = {.is_loaded = 1, .time = i, .start = i << 12, .end = (i + 1) << 12};

        module.path_bytes = (uint32_t)(PATH_BYTES - i);
        CHECK(ring_region_add_module(ring, &module, long_path));
    }
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(modules_read(&modules, folder, "77/modules.gait", &err), 0);
    CHECK_EQUAL(modules.count, COUNT);
    CHECK(modules.end.chunk_count > 1 && modules.end.chunk_count <= COUNT / 4 + 1);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK_EQUAL(modules.modules[i].loaded, i);
        CHECK_EQUAL(strlen(modules.modules[i].path), PATH_BYTES - i);
    }
    modules_deinit(&modules);
    end();
}

static off_t stream_bytes(void)
{
    struct stat status;

    CHECK_EQUAL(fstatat(folder, "77/5.1.index.gait", &status, 0), 0);
    return status.st_size;
}

/* One record more, and a drain. */
static void run_block(uint64_t *position)
{
    __atomic_store_n((uint32_t *)(uintptr_t)*position, event_header(0, EVENT_RECORD_BLOCK), __ATOMIC_RELEASE);
    *position += 4;
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
}

/* Records wait for more, but not for long: not when none come, and not when they never end. */
static void records_are_gathered_for_a_while(void)
{
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK, .space = 0};
    const struct timespec pause = {0, 1000000};
    struct ring_writer *writer = NULL;
    off_t before;
    uint64_t position;
    unsigned drains = 0;

    begin();
    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    position = writer->start;
    run_block(&position);
    before = stream_bytes();
    CHECK_EQUAL(before, sizeof(struct trace_stream_header));
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK(stream_bytes() > before);
    before = stream_bytes();
    for (; stream_bytes() == before; drains++) {
        CHECK(drains < 100);
        run_block(&position);
        nanosleep(&pause, NULL);
    }
    /* Fewer if the machine is slow: it goes by the clock. */
    CHECK(drains >= 2 && drains <= 8);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(rings.taken_bytes, 4 * (drains + 1));
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    end();
}

/* Both lanes of a thread, each of which tells all that it waited so far. */
static void waits_are_noted_once(void)
{
    const struct ring_lane_owner owner = {.tid = 5, .events = GAIT_EVENT_BLOCK};
    struct ring_writer *writer = NULL;
    uint64_t position;

    begin();
    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    position = writer->start;
    atomic_store(&writer->lane->wait_count, 2);
    atomic_store(&writer->lane->waited_ns, 1000);
    run_block(&position);
    CHECK_EQUAL(manifest.threads[0].wait_count, 2);
    CHECK_EQUAL(manifest.threads[0].waited_ns, 1000);
    run_block(&position);
    CHECK_EQUAL(manifest.threads[0].wait_count, 2);
    atomic_store(&writer->lane->wait_count, 3);
    atomic_store(&writer->lane->waited_ns, 1500);
    run_block(&position);
    CHECK_EQUAL(manifest.threads[0].wait_count, 3);
    CHECK_EQUAL(manifest.threads[0].waited_ns, 1500);
    /* What cannot be changes nothing. */
    atomic_store(&writer->lane->waited_ns, 3);
    run_block(&position);
    CHECK_EQUAL(manifest.threads[0].waited_ns, 1500);
    CHECK_EQUAL(ring_writer_close(writer, position), 0);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    end();
}

/* What is to be written is, up to the fault; then it is counted, by thread, also of threads that come later. */
static void what_comes_behind_a_fault_is_counted(void)
{
    begin();
    write_records(5, 1000);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(recorded_process_unwritten(&process), 0);
    fault = -ENOSPC;
    write_records(5, 10);
    write_records(6, 100);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(recorded_process_unwritten(&process), 440);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(process.written.raw_bytes, 4000);
    CHECK_EQUAL(recorded_process_unwritten(&process), 440);
    CHECK_EQUAL(manifest.thread_count, 3);
    CHECK_EQUAL(manifest.threads[0].unwritten_bytes, 0);
    CHECK_EQUAL(manifest.threads[1].unwritten_bytes, 40);
    CHECK_EQUAL(manifest.threads[2].unwritten_bytes, 400);
    end();
}

/* Of a flight recorder, what no window wants is left out, as it would have been. */
static void what_nobody_wants_is_not_lost_by_a_fault(void)
{
    flight_options = (struct flight_options){.keeps_index = true, .pre_roll_ns = 10000000000};
    begin();
    flight_options = (struct flight_options){.keeps_index = false};
    write_records(5, 1000);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    fault = -ENOSPC;
    write_records(6, 100);
    CHECK_EQUAL(ring_drain_take(&rings, &err), 0);
    CHECK_EQUAL(recorded_process_unwritten(&process), 0);
    /* The window that opens now wants what is in memory. */
    CHECK_EQUAL(flight_trigger(&flight, &(struct flight_event){.kind = "manual"}), 0);
    flight_give_up(&flight);
    CHECK_EQUAL(recorded_process_unwritten(&process), 4000);
    CHECK_EQUAL(ring_drain_end_process(&rings, 0, &err), 0);
    CHECK_EQUAL(recorded_process_release(&process, &err), 0);
    CHECK_EQUAL(manifest.threads[0].unwritten_bytes, 4000);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_the_process_counted_is_noted_while_it_runs_and_at_its_end),
    CHECK_CASE(without_blocks_there_is_no_file_of_them),
    CHECK_CASE(records_have_a_file_of_blocks_also_if_there_are_none),
    CHECK_CASE(what_threads_wrote_can_be_read),
    CHECK_CASE(only_what_is_around_a_trigger_is_written),
    CHECK_CASE(a_thread_that_ended_can_be_asked_for_later),
    CHECK_CASE(records_are_gathered_for_a_while),
    CHECK_CASE(waits_are_noted_once),
    CHECK_CASE(the_lanes_of_a_thread_are_known_as_its_own),
    CHECK_CASE(what_a_process_says_of_its_death_is_written_once),
    CHECK_CASE(modules_are_written_as_they_come_and_go),
    CHECK_CASE(threads_have_the_names_that_they_had_last),
    CHECK_CASE(modules_that_come_together_are_written_together),
    CHECK_CASE(what_comes_behind_a_fault_is_counted),
    CHECK_CASE(what_nobody_wants_is_not_lost_by_a_fault),
};

CHECK_MAIN(cases)
