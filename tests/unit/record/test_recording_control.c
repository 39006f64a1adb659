/* SPDX-License-Identifier: MIT */
/* A recording of this process, which is asked by a child. */
#define _GNU_SOURCE
#include "record/recording_control.h"

#include "cli/control_client.h"
#include "record/recording.h"
#include "ring/ring_counters.h"
#include "ring/ring_region.h"
#include "ring/ring_writer.h"
#include "support/check.h"

#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static char folder[] = "/tmp/gait-test-XXXXXX";
static struct recording recording;
static struct ring_region *ring;
static struct recording_control control;
static char last_note[64];
static const _Atomic uint32_t never;

/* What the child was answered. */
static struct {
    int result;
    struct control_answer answer;
} * shared;

static void note_trigger(void *context, const char *note)
{
    CHECK(context == &recording);
    snprintf(last_note, sizeof(last_note), "%s", note);
}

static void begin(void)
{
    static char *arguments[] = {(char *)"program", NULL};
    struct recording_options options = {.output = folder, .program = "program", .arguments = arguments, .events = 8};
    static const struct ring_options ring_options = {.buffer_bytes = 4096, .buffer_count = 4};

    strcpy(folder, "/tmp/gait-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQUAL(ring_region_create(&ring_options, &ring), 0);
    CHECK_EQUAL(recording_create(&options, &recording, &err), 0);
    CHECK_EQUAL(ring_drain_add(&recording.drain, getpid(), 0, ring->fd, &err), 0);
    CHECK_EQUAL(recording_control_begin(&control, &recording), 0);
    control.trigger = note_trigger;
    control.context = &recording;
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
    recording_control_end(&control, 0, NULL);
    CHECK_EQUAL(recording_end(&recording, "exit", &err), 0);
    free(recording.path);
    ring_region_destroy(ring);
    CHECK_EQUAL(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A child asks; we serve until it has its answer, or waits for the end. */
static pid_t ask(enum control_operation operation, const char *note)
{
    struct control_question question = {operation, getpid(), note};
    pid_t child = fork();

    if (child == 0) {
        shared->result = control_client_ask(&question, &shared->answer, &err);
        _exit(0);
    }
    while (waitpid(child, NULL, WNOHANG) == 0 && !control.is_to_end) {
        struct pollfd waited = {.fd = recording_control_fd(&control), .events = POLLIN};

        poll(&waited, 1, 10);
        recording_control_serve(&control);
    }
    return child;
}

static void figures_are_those_of_the_recording(void)
{
    const struct ring_lane_owner owner = {.tid = 5, .events = 8};
    struct ring_writer *writer = NULL;

    begin();
    CHECK_EQUAL(ring_writer_open(ring, &owner, &writer), 0);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    (void)ask(CONTROL_STATS, NULL);
    CHECK_EQUAL(shared->result, 0);
    CHECK_EQUAL(shared->answer.stats.process_count, 1);
    CHECK_EQUAL(shared->answer.stats.thread_count, 1);
    CHECK_EQUAL(shared->answer.stats.buffer_bytes, 4 * 4096);
    CHECK_EQUAL(shared->answer.stats.buffered_bytes, 0);
    CHECK(shared->answer.stats.duration_ns > 0 && shared->answer.stats.duration_ns < 60000000000);
    CHECK(shared->answer.text_bytes == strlen(recording.path) &&
          memcmp(shared->answer.text, recording.path, shared->answer.text_bytes) == 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &never), 0);
    CHECK_EQUAL(ring_writer_next(writer, writer->end, &never), 0);
    (void)ask(CONTROL_STATS, NULL);
    CHECK_EQUAL(shared->answer.stats.buffered_bytes, 2 * 4096);
    CHECK_EQUAL(shared->answer.stats.lane_counts[CONTROL_LANE_FILLING], 1);
    CHECK_EQUAL(shared->answer.stats.lane_count, 1);
    CHECK_EQUAL(shared->answer.stats.lanes[0].tid, 5);
    CHECK_EQUAL(shared->answer.stats.lanes[0].full_percent, 50);
    CHECK_EQUAL(ring_writer_close(writer, writer->start), 0);
    end();
}

static void counters_are_those_of_all_processes(void)
{
    const struct control_stats *stats = &shared->answer.stats;

    begin();
    CHECK_EQUAL(ring_drain_add(&recording.drain, getppid(), 0, ring->fd, &err), 0);
    ring_counters_begin(ring);
    (void)ask(CONTROL_STATS, NULL);
    CHECK_EQUAL(stats->counter_count, 0);
    counter_add(COUNTER_blocks_linked, 3);
    counter_add(COUNTER_system_calls_untracked, 1ull << 63);
    CHECK_EQUAL(ring_drain_take(&recording.drain, &err), 0);
    (void)ask(CONTROL_STATS, NULL);
    CHECK_EQUAL(stats->counter_count, 2);
    CHECK_TEXT(stats->counters[0].name, "blocks_linked");
    CHECK_EQUAL(stats->counters[0].value, 6);
    CHECK_TEXT(stats->counters[1].name, "system_calls_untracked");
    CHECK_EQUAL(stats->counters[1].value, UINT64_MAX);
    CHECK_EQUAL(recording.manifest.processes[1].counters.values[COUNTER_blocks_linked], 3);
    counters_move(NULL);
    end();
}

#define LANES 70u

/* More threads than there is room for in an answer. */
static void the_lanes_that_are_worst_off_are_told_first(void)
{
    struct ring_writer *writers[LANES];
    const struct control_stats *stats = &shared->answer.stats;

    begin();
    for (uint32_t i = 0; i < LANES; i++) {
        const struct ring_lane_owner owner = {
            .tid = 100 + i, .events = 8, .kind = i == 1 ? RING_LANE_DETAIL : RING_LANE_INDEX};

        CHECK_EQUAL(ring_writer_open(ring, &owner, &writers[i]), 0);
    }
    CHECK_EQUAL(ring_writer_close(writers[0], writers[0]->start), 0);
    atomic_store(&writers[67]->lane->wait_count, 4);
    atomic_store(&writers[67]->lane->waited_ns, 4000);
    atomic_store(&writers[68]->lane->pressure, RING_WAITING);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(ring_writer_next(writers[69], writers[69]->end, &never), 0);
    (void)ask(CONTROL_STATS, NULL);
    CHECK_EQUAL(shared->result, 0);
    CHECK_EQUAL(stats->lane_counts[CONTROL_LANE_FILLING], 67);
    CHECK_EQUAL(stats->lane_counts[CONTROL_LANE_WAITING], 1);
    CHECK_EQUAL(stats->lane_counts[CONTROL_LANE_DROPPING], 1);
    CHECK_EQUAL(stats->lane_counts[CONTROL_LANE_FREE], 1);
    CHECK_EQUAL(stats->thread_count, LANES - 2);
    CHECK_EQUAL(stats->lane_count, CONTROL_LANES_MAX);
    CHECK_EQUAL(stats->lanes[0].tid, 169);
    CHECK_EQUAL(stats->lanes[0].state, CONTROL_LANE_DROPPING);
    CHECK_EQUAL(stats->lanes[0].drop_reason, RING_DROP_FULL);
    CHECK_EQUAL(stats->lanes[0].full_percent, 100);
    CHECK_EQUAL(stats->lanes[0].drop_count, 1);
    CHECK_EQUAL(stats->lanes[1].tid, 168);
    CHECK_EQUAL(stats->lanes[1].state, CONTROL_LANE_WAITING);
    CHECK_EQUAL(stats->lanes[2].tid, 167);
    CHECK_EQUAL(stats->lanes[2].waited_ns, 4000);
    CHECK_EQUAL(stats->lanes[3].tid, 101);
    CHECK_EQUAL(stats->lanes[3].is_detail, 1);
    for (uint32_t i = 1; i < LANES; i++)
        CHECK_EQUAL(ring_writer_close(writers[i], writers[i]->start), 0);
    end();
}

static void triggers_are_passed_on(void)
{
    begin();
    (void)ask(CONTROL_TRIGGER, "look");
    CHECK_EQUAL(shared->result, 0);
    CHECK_TEXT(last_note, "look");
    CHECK(!control.is_to_end);
    control.trigger = NULL;
    (void)ask(CONTROL_TRIGGER, "nobody does");
    CHECK_EQUAL(shared->result, 0);
    end();
}

static void the_end_is_asked_for_and_told(void)
{
    pid_t child;

    begin();
    shared->result = 1;
    child = ask(CONTROL_DETACH, NULL);
    CHECK(control.is_to_end);
    recording_control_end(&control, -ETIMEDOUT, "it is stuck");
    waitpid(child, NULL, 0);
    CHECK_EQUAL(shared->result, -ETIMEDOUT);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(figures_are_those_of_the_recording),
    CHECK_CASE(counters_are_those_of_all_processes),
    CHECK_CASE(the_lanes_that_are_worst_off_are_told_first),
    CHECK_CASE(triggers_are_passed_on),
    CHECK_CASE(the_end_is_asked_for_and_told),
};

int main(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
