/* SPDX-License-Identifier: MIT */
#include "ring/ring_counters.h"

#include "base/counters.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ring_region *ring;
static struct ring_reader *reader;

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
}

static void end(void)
{
    counters_move(NULL);
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static uint64_t read_one(enum counter counter)
{
    struct counters_snapshot snapshot;

    memset(&snapshot, 0x5a, sizeof(snapshot));
    ring_counters_read(reader, &snapshot);
    return snapshot.values[counter];
}

static void what_is_counted_is_read(void)
{
    begin();
    counter_add(COUNTER_blocks_linked, 3);
    CHECK_EQUAL(read_one(COUNTER_blocks_linked), 0);
    ring_counters_begin(ring);
    CHECK_EQUAL(read_one(COUNTER_blocks_linked), 3);
    counter_add(COUNTER_blocks_linked, 4);
    counter_add(COUNTER_COUNT - 1, 5);
    CHECK_EQUAL(read_one(COUNTER_blocks_linked), 7);
    CHECK_EQUAL(read_one(COUNTER_COUNT - 1), 5);
    CHECK_EQUAL(read_one(COUNTER_blocks_unlinked), 0);
    end();
}

static void what_a_killed_process_counted_is_read(void)
{
    int status;
    pid_t child;

    begin();
    child = fork();
    if (child == 0) {
        ring_counters_begin(ring);
        counter_add(COUNTER_mappings_refused, 2);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQUAL(read_one(COUNTER_mappings_refused), 2);
    end();
}

static void children_count_in_a_ring_of_their_own(void)
{
    struct ring_region parent;

    begin();
    ring_counters_begin(ring);
    counter_add(COUNTER_threads_followed, 1);
    CHECK_EQUAL(ring_region_renew(ring, &parent), 0);
    ring_counters_begin(ring);
    ring_region_leave(&parent);
    counter_add(COUNTER_threads_followed, 10);
    CHECK_EQUAL(read_one(COUNTER_threads_followed), 1);
    ring_reader_close(reader);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    CHECK_EQUAL(read_one(COUNTER_threads_followed), 10);
    end();
}

static void whoever_is_not_read_counts_for_itself(void)
{
    begin();
    ring_counters_begin(ring);
    counter_add(COUNTER_threads_followed, 1);
    CHECK(ring_region_detach(ring));
    counter_add(COUNTER_threads_followed, 10);
    CHECK_EQUAL(read_one(COUNTER_threads_followed), 1);
    end();
}

/* Anything may be written there. */
static void whatever_stands_there_is_a_number_or_not_taken(void)
{
    struct ring_counters *counters;

    begin();
    ring_counters_begin(ring);
    counters = (struct ring_counters *)(void *)(ring->base + RING_COUNTERS_OFFSET);
    memset(counters->values, 0xff, sizeof(counters->values));
    CHECK_EQUAL(read_one(COUNTER_code_commits), UINT64_MAX);
    CHECK_EQUAL(read_one(COUNTER_COUNT - 1), UINT64_MAX);
    for (unsigned i = 0; i < 3; i++) {
        counters->count = i == 0 ? COUNTER_COUNT + 1 : i == 1 ? 0 : UINT32_MAX;
        CHECK_EQUAL(read_one(COUNTER_code_commits), 0);
        CHECK_EQUAL(read_one(COUNTER_COUNT - 1), 0);
    }
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_counted_is_read),
    CHECK_CASE(what_a_killed_process_counted_is_read),
    CHECK_CASE(children_count_in_a_ring_of_their_own),
    CHECK_CASE(whoever_is_not_read_counts_for_itself),
    CHECK_CASE(whatever_stands_there_is_a_number_or_not_taken),
};

CHECK_MAIN(cases)
