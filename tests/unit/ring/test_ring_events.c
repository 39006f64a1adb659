/* SPDX-License-Identifier: MIT */
/* Records that go through a ring: what is written is read, in order, whatever is full, killed or forged. */
#define _GNU_SOURCE
#include "ring/ring_events.h"
#include "ring/ring_writer.h"
#include "support/check.h"
#include "support/random.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TID    4711
#define BLOCKS 1000u

static struct ring_region *region;
static struct ring_events *reader;
static uint32_t space;
static const _Atomic uint32_t never;

/* What was received: numbers of blocks, one after the other, with gaps where records were lost. */
static struct {
    uint64_t count;
    uint64_t out_of_order;
    uint64_t last;
    uint32_t tid;
} received;

/* Blocks begin at 16 times their number. */
static int receive(void *context, const struct gait_event *events, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = events[i].location / 16;

        received.out_of_order += received.count != 0 && number != (received.last + 1) % BLOCKS;
        received.last = number;
        received.tid = events[i].tid;
        received.count++;
    }
    return 0;
}

static const struct event_receiver receiver = {receive, NULL};

static void begin(enum ring_overflow overflow, size_t buffer_bytes, unsigned buffer_count)
{
    struct ring_options options = {buffer_bytes, buffer_count, overflow};

    CHECK_EQUAL(ring_region_create(&options, &region), 0);
    CHECK_EQUAL(ring_events_open(region->fd, &reader), 0);
    space = ring_region_new_space(region);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct event_block block = {.start = 16 * (uint64_t)i, .size_bytes = 16, .last_insn_bytes = 1};

        CHECK(ring_region_add_block(region, space, i, &block));
    }
    memset(&received, 0, sizeof(received));
}

static void end(void)
{
    ring_events_close(reader);
    ring_region_destroy(region);
}

static struct ring_writer *open_writer(uint32_t tid)
{
    struct ring_lane_owner owner = {.tid = tid, .events = GAIT_EVENT_BLOCK, .space = space};
    struct ring_writer *writer = NULL;

    CHECK_EQUAL(ring_writer_open(region, &owner, &writer), 0);
    return writer;
}

/* A thread that writes records of blocks, one after the other, as translated code does. */
struct writing {
    struct ring_writer *writer;
    uint64_t position;
    uint64_t number;
    uint64_t lost_bytes;
};

static struct writing begin_writing(uint32_t tid)
{
    struct writing writing = {.writer = open_writer(tid)};

    writing.position = writing.writer->start;
    return writing;
}

static void write_blocks(struct writing *writing, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t header = event_header((uint32_t)(writing->number++ % BLOCKS), EVENT_RECORD_BLOCK);

        __atomic_store_n((uint32_t *)(uintptr_t)writing->position, header, __ATOMIC_RELEASE);
        writing->position += 4;
        if (writing->position >= writing->writer->end) {
            writing->lost_bytes += ring_writer_next(writing->writer, writing->position, &never);
            writing->position = writing->writer->start;
        }
    }
}

static void end_writing(struct writing *writing)
{
    writing->lost_bytes += ring_writer_close(writing->writer, writing->position);
}

static void drain(void)
{
    CHECK_EQUAL(ring_events_drain(reader, &receiver), 0);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void what_is_written_can_be_read_at_once(void)
{
    struct writing writing;

    begin(RING_DROP, 0, 0);
    writing = begin_writing(TID);
    drain();
    CHECK_EQUAL(received.count, 0);
    write_blocks(&writing, 3);
    drain();
    CHECK_EQUAL(received.count, 3);
    CHECK_EQUAL(received.tid, TID);
    write_blocks(&writing, 1);
    drain();
    drain();
    CHECK_EQUAL(received.count, 4);
    end_writing(&writing);
    drain();
    CHECK_EQUAL(received.count, 4);
    CHECK_EQUAL(ring_reader_lost(reader->reader), 0);
    end();
}

static void buffers_are_read_in_turn(void)
{
    struct writing writing;

    begin(RING_DROP, 4096, 2);
    writing = begin_writing(TID);
    for (unsigned i = 0; i < 500; i++) {
        write_blocks(&writing, 37 * (i % 20));
        drain();
    }
    end_writing(&writing);
    drain();
    CHECK_EQUAL(received.count, writing.number);
    CHECK_EQUAL(received.out_of_order, 0);
    CHECK_EQUAL(writing.lost_bytes, 0);
    end();
}

static void full_buffers_end_at_what_was_written_behind_them(void)
{
    struct writing writing;

    begin(RING_DROP, 4096, 2);
    writing = begin_writing(TID);
    write_blocks(&writing, 1023);
    /* Nobody looked before it was behind the end. */
    for (unsigned i = 0; i < 1000; i++, writing.position += 4)
        *(uint32_t *)(uintptr_t)writing.position =
            event_header((uint32_t)(writing.number++ % BLOCKS), EVENT_RECORD_BLOCK);
    CHECK_EQUAL(ring_writer_next(writing.writer, writing.position, &never), 0);
    writing.position = writing.writer->start;
    write_blocks(&writing, 5);
    drain();
    CHECK_EQUAL(received.count, 1023 + 1000 + 5);
    CHECK_EQUAL(received.out_of_order, 0);
    end_writing(&writing);
    end();
}

static void lanes_that_were_read_are_used_again(void)
{
    begin(RING_DROP, 4096, 2);
    for (uint32_t i = 1; i <= 100; i++) {
        struct writing writing = begin_writing(i);

        writing.number = received.count;
        write_blocks(&writing, 1500);
        end_writing(&writing);
        drain();
        CHECK_EQUAL(received.tid, i);
    }
    CHECK_EQUAL(received.count, 150000);
    CHECK_EQUAL(received.out_of_order, 0);
    CHECK_EQUAL(atomic_load(&ring_region_header(region)->lane_count), 1);
    end();
}

/* ---- overflow ---------------------------------------------------------------------------------------------------- */

static void what_is_dropped_is_counted(void)
{
    struct writing writing;

    begin(RING_DROP, 4096, 4);
    writing = begin_writing(TID);
    write_blocks(&writing, 100000);
    drain();
    write_blocks(&writing, 100000);
    drain();
    end_writing(&writing);
    drain();
    CHECK_EQUAL(received.count * 4 + writing.lost_bytes, 800000);
    CHECK_EQUAL(ring_reader_lost(reader->reader), writing.lost_bytes);
    CHECK(writing.lost_bytes > 0);
    CHECK(received.count >= 2 * 4096);
    CHECK_EQUAL(received.out_of_order, 1);
    end();
}

static void old_buffers_are_overwritten_if_that_is_wanted(void)
{
    struct writing writing;

    begin(RING_OVERWRITE, 4096, 4);
    writing = begin_writing(TID);
    write_blocks(&writing, 100000);
    drain();
    CHECK_EQUAL(writing.lost_bytes, 0);
    /* Three full ones and what is in the last. */
    CHECK_EQUAL(received.count, 3 * 1024 + 100000 % 1024);
    CHECK_EQUAL(received.last, 99999 % BLOCKS);
    CHECK_EQUAL(received.out_of_order, 0);
    CHECK_EQUAL(ring_reader_lost(reader->reader), (100000 - received.count) * 4);
    end_writing(&writing);
    end();
}

static void *write_much(void *context)
{
    struct writing *writing = context;

    write_blocks(writing, 2000000);
    end_writing(writing);
    return NULL;
}

static void a_writer_that_waits_loses_nothing(void)
{
    struct writing writing;
    pthread_t thread;

    begin(RING_BLOCK, 4096, 2);
    writing = begin_writing(TID);
    CHECK_EQUAL(pthread_create(&thread, NULL, write_much, &writing), 0);
    while (received.count < 2000000) {
        drain();
        ring_reader_wait(reader->reader, 10);
    }
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(received.count, 2000000);
    CHECK_EQUAL(received.out_of_order, 0);
    CHECK_EQUAL(writing.lost_bytes, 0);
    end();
}

static void a_writer_does_not_wait_for_the_dead(void)
{
    struct writing writing;

    begin(RING_BLOCK, 4096, 2);
    writing = begin_writing(TID);
    write_blocks(&writing, 100000);
    CHECK(writing.lost_bytes > 300000);
    drain();
    write_blocks(&writing, 10);
    end_writing(&writing);
    drain();
    CHECK_EQUAL(received.count * 4 + writing.lost_bytes, 400040);
    end();
}

static void reading_while_buffers_are_overwritten_gives_nothing_but_records(void)
{
    struct writing writing;
    pthread_t thread;

    begin(RING_OVERWRITE, 4096, 2);
    writing = begin_writing(TID);
    CHECK_EQUAL(pthread_create(&thread, NULL, write_much, &writing), 0);
    while (received.last != 1999999 % BLOCKS || received.count + ring_reader_lost(reader->reader) / 4 < 2000000)
        drain();
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(received.count + ring_reader_lost(reader->reader) / 4, 2000000);
    end();
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

static void what_a_process_wrote_before_it_was_killed_is_there(void)
{
    int status;
    pid_t child;

    begin(RING_DROP, 4096, 8);
    child = fork();
    if (child == 0) {
        struct writing writing = begin_writing(TID);

        write_blocks(&writing, 5000);
        raise(SIGKILL);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    drain();
    CHECK_EQUAL(received.count, 5000);
    CHECK_EQUAL(received.out_of_order, 0);
    end();
}

static void a_child_that_detaches_is_not_seen(void)
{
    struct writing writing;
    int status;
    pid_t child;

    begin(RING_DROP, 4096, 4);
    writing = begin_writing(TID);
    write_blocks(&writing, 10);
    child = fork();
    if (child == 0) {
        if (!ring_region_detach(region))
            _exit(2);
        writing.position = writing.writer->start;
        write_blocks(&writing, 5000);
        end_writing(&writing);
        _exit(writing.lost_bytes > 0 ? 0 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    write_blocks(&writing, 10);
    drain();
    CHECK_EQUAL(received.count, 20);
    CHECK_EQUAL(received.out_of_order, 0);
    end_writing(&writing);
    end();
}

/* ---- bad input --------------------------------------------------------------------------------------------------- */

static void files_that_are_no_ring_are_refused(void)
{
    struct ring_events *untouched = NULL;
    int fd = memfd_create("no ring", MFD_ALLOW_SEALING), null = open("/dev/null", O_RDWR);

    CHECK_EQUAL(ring_events_open(-1, &untouched), -EBADF);
    CHECK_EQUAL(ring_events_open(null, &untouched), -EINVAL);
    CHECK_EQUAL(ftruncate(fd, 2ll << 30), 0);
    CHECK_EQUAL(ring_events_open(fd, &untouched), -EPERM);
    CHECK_EQUAL(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    CHECK_EQUAL(ring_events_open(fd, &untouched), -EINVAL);
    CHECK(untouched == NULL);
    close(fd);
    close(null);
}

static uint64_t forged_word(struct random *random)
{
    return random_chance(random, 1, 2) ? random_edge(random) : random_below(random, 100000);
}

/* Whatever somebody writes into the parts that are shared, reading ends, and gives errors at worst. */
static void forged_rings_do_no_harm(void)
{
    struct random random;

    random_init(&random, 11);
    for (unsigned round = 0; round < 300; round++) {
        struct writing writing;
        uint64_t *lane, *blocks;

        begin(round & 1 ? RING_DROP : RING_OVERWRITE, 4096, 2);
        writing = begin_writing(TID);
        write_blocks(&writing, random_below(&random, 3000));
        lane = (uint64_t *)(void *)writing.writer->lane;
        blocks = (uint64_t *)(void *)(region->base + RING_BLOCKS_OFFSET);
        for (unsigned i = 0; i < 6; i++) {
            lane[random_below(&random, 16)] = forged_word(&random);
            blocks[random_below(&random, 5000)] = random_u64(&random);
            *(uint32_t *)(uintptr_t)(writing.writer->start + 4 * random_below(&random, 1024)) =
                (uint32_t)random_u64(&random);
        }
        if (random_chance(&random, 1, 4))
            atomic_store(&ring_region_header(region)->lane_count, (uint32_t)forged_word(&random));
        if (random_chance(&random, 1, 4))
            atomic_store(&ring_region_header(region)->blocks_used, forged_word(&random));
        for (unsigned i = 0; i < 3; i++) {
            int result = ring_events_drain(reader, &receiver);

            CHECK(result == 0 || result == -EPROTO || result == -ENOMEM);
        }
        (void)ring_reader_lost(reader->reader);
        end();
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_written_can_be_read_at_once),
    CHECK_CASE(buffers_are_read_in_turn),
    CHECK_CASE(full_buffers_end_at_what_was_written_behind_them),
    CHECK_CASE(lanes_that_were_read_are_used_again),
    CHECK_CASE(what_is_dropped_is_counted),
    CHECK_CASE(old_buffers_are_overwritten_if_that_is_wanted),
    CHECK_CASE(a_writer_that_waits_loses_nothing),
    CHECK_CASE(a_writer_does_not_wait_for_the_dead),
    CHECK_CASE(reading_while_buffers_are_overwritten_gives_nothing_but_records),
    CHECK_CASE(what_a_process_wrote_before_it_was_killed_is_there),
    CHECK_CASE(a_child_that_detaches_is_not_seen),
    CHECK_CASE(files_that_are_no_ring_are_refused),
    CHECK_CASE(forged_rings_do_no_harm),
};

CHECK_MAIN(cases)
