/* SPDX-License-Identifier: MIT */
#include "query/event_tally.h"

#include "support/check.h"
#include "support/long_calls.h"
#include "support/query_lab.h"
#include "trace/trace_layout.h"

#include <stdlib.h>
#include <unistd.h>

static struct query_lab lab;

static uint64_t calls_of(const struct event_tally *tally, size_t thread, uint64_t address, uint64_t time)
{
    uint32_t function = query_source_number(&lab.source, 0, address, time);
    uint64_t calls = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (tally->counts[i].thread == thread && tally->counts[i].function == function)
            calls += tally->counts[i].count;
    return calls;
}

static void check_tally(const struct event_tally *tally)
{
    CHECK_EQUAL(tally->count, 4);
    CHECK_EQUAL(calls_of(tally, 0, 0x401000, 2000), 1);
    CHECK_EQUAL(calls_of(tally, 0, 0x401100, 2000), 2);
    CHECK_EQUAL(calls_of(tally, 1, 0x401100, 2000), 1);
    CHECK_EQUAL(calls_of(tally, 1, 0x401000, 6000), 2);
}

static void records_are_counted_by_thread_and_function(void)
{
    static const bool second[] = {false, true};
    struct event_tally tally;

    query_lab_init(&lab);
    CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_CALLS, NULL), 0);
    check_tally(&tally);
    CHECK_EQUAL(lab.source.problem, 0);
    event_tally_deinit(&tally);
    CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_CALLS, second), 0);
    CHECK_EQUAL(tally.count, 2);
    CHECK_EQUAL(tally.counts[0].thread, 1);
    event_tally_deinit(&tally);
    query_lab_deinit(&lab);
}

/* A stream without an end is read as events: the counts are the same, and it is said what is wrong. */
static void what_is_odd_is_read_as_events(void)
{
    struct event_tally tally;
    size_t size;
    uint8_t *bytes;

    query_lab_init(&lab);
    bytes = trace_folder_read(&lab.folder, "200/201.1.index.gait", &size);
    trace_folder_write(&lab.folder, "200/201.1.index.gait", bytes, size - sizeof(struct trace_footer));
    free(bytes);
    CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_CALLS, NULL), 0);
    check_tally(&tally);
    CHECK(lab.source.problem != 0 && strstr(lab.source.why.text, "cut off") != NULL);
    event_tally_deinit(&tally);
    query_lab_deinit(&lab);
}

/* A record of no block ends what can be read of its chunk, whether it is an enter or a leave. */
static void records_of_no_block_end_a_chunk(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct event_tally tally;

    query_lab_init(&lab);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t header = event_header(i == 1 ? 77 : 0, i == 1 ? EVENT_RECORD_LEAVE : EVENT_RECORD_ENTER), depth = 0;

        trace_bytes_put(&bytes, &header, sizeof(header));
        trace_bytes_put(&bytes, &depth, sizeof(depth));
        trace_bytes_put_long(&bytes, 2000 + i);
    }
    CHECK_EQUAL(unlinkat(lab.folder.fd, "200/200.1.index.gait", 0), 0);
    trace_folder_put_stream(&lab.folder, &(struct trace_stream_plan){.name = "200/200.1.index.gait",
                                                                     .header = {.kind = TRACE_STREAM_INDEX,
                                                                                .pid = 200,
                                                                                .tid = 200,
                                                                                .generation = 1,
                                                                                .space = 1,
                                                                                .events = EVENTS_HOOKED},
                                                                     .bytes = &bytes});
    CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_CALLS, NULL), 0);
    CHECK_EQUAL(calls_of(&tally, 0, 0x401000, 2000), 1);
    event_tally_deinit(&tally);
    query_lab_deinit(&lab);
}

static uint64_t count_of(const struct event_tally *tally, uint64_t address, uint32_t kind)
{
    uint32_t function = query_source_number(&lab.source, 0, address, 2000);
    uint64_t count = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (tally->counts[i].thread == 0 && tally->counts[i].function == function && tally->counts[i].kind == kind)
            count += tally->counts[i].count;
    return count;
}

/* Something that is mapped in the middle of a chunk makes its records count. */
static void put_late_module(void)
{
    struct trace_bytes modules = {.size_bytes = 0};
    struct trace_module module = {.change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000};

    CHECK_EQUAL(unlinkat(lab.folder.fd, "100/modules.gait", 0), 0);
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module = (struct trace_module){
        .change = TRACE_MODULE_LOADED, .time = LONG_CALLS_TIME(1) + 5000, .start = 0x501000, .end = 0x502000};
    trace_bytes_put_module(&modules, &module, "/nowhere/late");
    trace_folder_put_stream(&lab.folder,
                            &(struct trace_stream_plan){.name = "100/modules.gait",
                                                        .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                        .bytes = &modules});
}

static void counts_of_chunks_are_those_of_records(void)
{
    const uint64_t records = LONG_CALLS_CHUNKS * LONG_CALLS_CHUNK_BYTES / EVENT_HOOK_BYTES;
    struct event_tally tally;

    for (int is_late = 0; is_late < 2; is_late++) {
        trace_folder_init(&lab.folder);
        trace_folder_put_example(&lab.folder);
        long_calls_put(&lab.folder, 100, 0);
        if (is_late)
            put_late_module();
        CHECK_EQUAL(view_trace_open(&lab.trace, lab.folder.path, NULL), 0);
        CHECK_EQUAL(query_source_init(&lab.source, &lab.trace, NULL), 0);
        CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_EVENTS, NULL), 0);
        CHECK_EQUAL(count_of(&tally, 0x401000, GAIT_EVENT_ENTER), 1);
        CHECK_EQUAL(count_of(&tally, 0x401000, GAIT_EVENT_LEAVE), 0);
        CHECK_EQUAL(count_of(&tally, 0x401100, GAIT_EVENT_ENTER), 2);
        CHECK_EQUAL(count_of(&tally, 0x401100, GAIT_EVENT_LEAVE), 1);
        CHECK_EQUAL(count_of(&tally, 0x401200, GAIT_EVENT_ENTER), (records - 4) / 2);
        CHECK_EQUAL(count_of(&tally, 0x401200, GAIT_EVENT_LEAVE), (records - 4) / 2);
        event_tally_deinit(&tally);
        CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_CALLS, (const bool[]){true, false}), 0);
        CHECK_EQUAL(count_of(&tally, 0x401200, 0), (records - 4) / 2);
        event_tally_deinit(&tally);
        CHECK_EQUAL(lab.source.problem, 0);
        query_lab_deinit(&lab);
    }
}

/* Of threads that were followed, by where they happened. */
static void events_of_other_kinds_are_counted(void)
{
    struct event_tally tally;

    trace_folder_init(&lab.folder);
    trace_folder_put_example(&lab.folder);
    CHECK_EQUAL(view_trace_open(&lab.trace, lab.folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&lab.source, &lab.trace, NULL), 0);
    CHECK_EQUAL(event_tally_init(&tally, &lab.source, EVENT_TALLY_EVENTS, NULL), 0);
    CHECK_EQUAL(count_of(&tally, 0x401003, GAIT_EVENT_CALL), 5);
    CHECK_EQUAL(count_of(&tally, 0x401103, GAIT_EVENT_RET), 5);
    event_tally_deinit(&tally);
    query_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(records_are_counted_by_thread_and_function),
    CHECK_CASE(what_is_odd_is_read_as_events),
    CHECK_CASE(records_of_no_block_end_a_chunk),
    CHECK_CASE(counts_of_chunks_are_those_of_records),
    CHECK_CASE(events_of_other_kinds_are_counted),
};

CHECK_MAIN(cases)
