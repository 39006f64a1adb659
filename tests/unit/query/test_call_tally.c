/* SPDX-License-Identifier: MIT */
#include "query/call_tally.h"

#include "support/check.h"
#include "support/query_text.h"
#include "trace/trace_layout.h"
#include "view/view_trace.h"

#include <stdlib.h>
#include <unistd.h>

static struct trace_folder folder;
static struct view_trace trace;
static struct query_source source;

static void begin(void)
{
    trace_folder_init(&folder);
    query_text_put_hooked(&folder);
    CHECK_EQUAL(view_trace_open(&trace, folder.path, NULL), 0);
    CHECK_EQUAL(query_source_init(&source, &trace), 0);
}

static void end(void)
{
    query_source_deinit(&source);
    view_trace_close(&trace);
    trace_folder_deinit(&folder);
}

static uint64_t calls_of(const struct call_tally *tally, size_t thread, uint64_t address, uint64_t time)
{
    uint32_t function = query_source_number(&source, 0, address, time);
    uint64_t calls = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (tally->counts[i].thread == thread && tally->counts[i].function == function)
            calls += tally->counts[i].calls;
    return calls;
}

static void check_tally(const struct call_tally *tally)
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
    struct call_tally tally;

    begin();
    CHECK_EQUAL(call_tally_init(&tally, &source, NULL), 0);
    check_tally(&tally);
    CHECK_EQUAL(source.problem, 0);
    call_tally_deinit(&tally);
    CHECK_EQUAL(call_tally_init(&tally, &source, second), 0);
    CHECK_EQUAL(tally.count, 2);
    CHECK_EQUAL(tally.counts[0].thread, 1);
    call_tally_deinit(&tally);
    end();
}

/* A stream without an end is read as events: the counts are the same, and it is said what is wrong. */
static void what_is_odd_is_read_as_events(void)
{
    struct call_tally tally;
    size_t size;
    uint8_t *bytes;

    begin();
    bytes = trace_folder_read(&folder, "200/201.1.index.gait", &size);
    trace_folder_write(&folder, "200/201.1.index.gait", bytes, size - sizeof(struct trace_footer));
    free(bytes);
    CHECK_EQUAL(call_tally_init(&tally, &source, NULL), 0);
    check_tally(&tally);
    CHECK(source.problem != 0 && strstr(source.why.text, "cut off") != NULL);
    call_tally_deinit(&tally);
    end();
}

/* A record of no block ends what can be read of its chunk, whether it is an enter or a leave. */
static void records_of_no_block_end_a_chunk(void)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct call_tally tally;

    begin();
    for (unsigned i = 0; i < 3; i++) {
        uint32_t header = event_header(i == 1 ? 77 : 0, i == 1 ? EVENT_RECORD_LEAVE : EVENT_RECORD_ENTER), depth = 0;

        trace_bytes_put(&bytes, &header, sizeof(header));
        trace_bytes_put(&bytes, &depth, sizeof(depth));
        trace_bytes_put_long(&bytes, 2000 + i);
    }
    CHECK_EQUAL(unlinkat(folder.fd, "200/200.1.index.gait", 0), 0);
    trace_folder_put_stream(&folder, &(struct trace_stream_plan){.name = "200/200.1.index.gait",
                                                                 .header = {.kind = TRACE_STREAM_INDEX,
                                                                            .pid = 200,
                                                                            .tid = 200,
                                                                            .generation = 1,
                                                                            .space = 1,
                                                                            .events = EVENTS_HOOKED},
                                                                 .bytes = &bytes});
    CHECK_EQUAL(call_tally_init(&tally, &source, NULL), 0);
    CHECK_EQUAL(calls_of(&tally, 0, 0x401000, 2000), 1);
    call_tally_deinit(&tally);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(records_are_counted_by_thread_and_function),
    CHECK_CASE(what_is_odd_is_read_as_events),
    CHECK_CASE(records_of_no_block_end_a_chunk),
};

CHECK_MAIN(cases)
