/* SPDX-License-Identifier: MIT */
#include "support/query_text.h"

#include "ring/detail_record.h"
#include "trace/manifest.h"
#include "view/view_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[16384];
static size_t used;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, arguments);
    va_end(arguments);
    if (used >= sizeof(text)) {
        puts("a query tells more than the test has room for");
        exit(1);
    }
}

static int begin(void *context, const char *const *names, size_t count)
{
    (void)context;
    (void)names;
    (void)count;
    return 0;
}

static int row(void *context, const struct query_value *values, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) {
        const char *between = i == 0 ? "" : "|";

        if (values[i].type == QUERY_INTEGER)
            add("%s%" PRId64, between, values[i].integer);
        else if (values[i].type == QUERY_REAL)
            add("%s%g", between, values[i].real);
        else
            add("%s%s", between, values[i].type == QUERY_NULL ? "-" : values[i].bytes);
    }
    add("\n");
    return 0;
}

static int end(void *context)
{
    (void)context;
    return 0;
}

const char *query_text(const char *path, const char *sql)
{
    const struct query_receiver receiver = {begin, row, end, NULL};
    struct view_trace trace;
    struct gait_error err = {.text = ""};

    used = 0;
    text[0] = '\0';
    if (view_trace_open(&trace, path, &err) != 0) {
        add("! %s", err.text);
        return text;
    }
    if (query_run(&trace, sql, &receiver, &err) != 0)
        add("! %s", err.text);
    view_trace_close(&trace);
    return text;
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

static void put_record(struct trace_bytes *bytes, uint32_t number, enum event_record record, uint32_t depth,
                       uint64_t time)
{
    uint32_t header = event_header(number, record);

    trace_bytes_put(bytes, &header, sizeof(header));
    trace_bytes_put(bytes, &depth, sizeof(depth));
    trace_bytes_put_long(bytes, time);
}

/* Each chunk has two records. */
static void put_thread(const struct trace_folder *folder, const char *name, uint32_t tid,
                       const struct trace_bytes *bytes, const uint64_t *times)
{
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = name,
                                                                .header = {.kind = TRACE_STREAM_INDEX,
                                                                           .pid = 200,
                                                                           .tid = tid,
                                                                           .generation = 1,
                                                                           .space = 1,
                                                                           .events = EVENTS_HOOKED,
                                                                           .began = {1000, 1000},
                                                                           .is_whole = 1},
                                                                .bytes = bytes,
                                                                .piece_bytes = 32,
                                                                .times = times});
}

static void put_threads(const struct trace_folder *folder)
{
    static const uint64_t first_times[] = {2000, 2101, 2201, 2501}, second_times[] = {3000, 3011, 6101};
    struct trace_bytes first = {.size_bytes = 0}, second = {.size_bytes = 0};

    put_record(&first, 0, EVENT_RECORD_ENTER, 0, 2000);
    put_record(&first, 1, EVENT_RECORD_ENTER, 1, 2100);
    put_record(&first, 1, EVENT_RECORD_LEAVE, 1, 2150);
    put_record(&first, 1, EVENT_RECORD_ENTER, 1, 2200);
    put_record(&first, 1, EVENT_RECORD_LEAVE, 1, 2300);
    put_record(&first, 0, EVENT_RECORD_LEAVE, 0, 2500);
    put_thread(folder, "200/200.1.index.gait", 200, &first, first_times);
    put_record(&second, 1, EVENT_RECORD_ENTER, 0, 3000);
    put_record(&second, 1, EVENT_RECORD_UNWOUND, 0, 3010);
    put_record(&second, 0, EVENT_RECORD_ENTER, 0, 6000);
    put_record(&second, 0, EVENT_RECORD_ENTER, 1, 6100);
    put_thread(folder, "200/201.1.index.gait", 201, &second, second_times);
}

/* At 5000, another file comes to where the first one was. */
static void put_modules(const struct trace_folder *folder)
{
    struct trace_bytes blocks = {.size_bytes = 0}, modules = {.size_bytes = 0};
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000, .build_id_bytes = 2};

    module.build_id[0] = 0xab;
    trace_bytes_put_block(&blocks, 0, 0x401000, 0);
    trace_bytes_put_block(&blocks, 1, 0x401100, 0);
    trace_bytes_put_module(&modules, &module, "/nowhere/shop");
    module.change = TRACE_MODULE_UNLOADED;
    module.time = 5000;
    trace_bytes_put_module(&modules, &module, "/nowhere/shop");
    module.change = TRACE_MODULE_LOADED;
    module.build_id_bytes = 0;
    trace_bytes_put_module(&modules, &module, "/nowhere/other");
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "200/blocks.gait",
                                                                .header = {.kind = TRACE_STREAM_BLOCKS, .pid = 200},
                                                                .bytes = &blocks});
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "200/modules.gait",
                                                                .header = {.kind = TRACE_STREAM_MODULES, .pid = 200},
                                                                .bytes = &modules});
}

void query_text_put_hooked(const struct trace_folder *folder)
{
    struct manifest_thread threads[] = {{.tid = 200, .generation = 1, .name = "main", .wait_count = 3, .waited_ns = 77},
                                        {.tid = 201, .generation = 1, .name = "helper", .lost_bytes = 64}};
    struct manifest_process process = {.pid = 200,
                                       .image = 1,
                                       .command = (char[]){"shop --open"},
                                       .threads = threads,
                                       .thread_count = 2,
                                       .losses = {.late_bytes = 100, .no_room_count = 4},
                                       .status = 3 << 8};
    struct manifest_trigger trigger = {.kind = "manual", .text = (char[]){"now"}, .time = 2250, .pid = 200};
    struct clock_pair clocks[] = {{1000, 1000}, {1001000, 1001000}};
    struct manifest manifest = {.program = (char[]){"shop"},
                                .events = EVENTS_HOOKED,
                                .clocks = clocks,
                                .clock_count = 2,
                                .processes = &process,
                                .process_count = 1,
                                .triggers = &trigger,
                                .trigger_count = 1,
                                .ended = "exit"};

    trace_folder_make(folder, "200");
    put_modules(folder);
    put_threads(folder);
    if (manifest_write(&manifest, folder->fd, NULL) != 0) {
        puts("the manifest cannot be written");
        exit(1);
    }
}

void query_text_put_details(const struct trace_folder *folder)
{
    struct detail_enter enter = {
        .record = {.size_bytes = sizeof(enter), .kind = DETAIL_ENTER, .time = 2000, .function = 0x401000},
        .arguments = {7, 8}};
    struct detail_leave leave = {
        .record = {.size_bytes = sizeof(leave), .kind = DETAIL_LEAVE, .time = 2500, .function = 0x401000},
        .entered_time = 2000,
        .value = 42};
    struct detail_stack stack = {
        .record = {.size_bytes = sizeof(stack) + 16, .kind = DETAIL_STACK, .time = 2110, .function = 0x401100},
        .frame_count = 2,
        .flags = DETAIL_STACK_GOES_ON};
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_bytes_put(&bytes, &enter, sizeof(enter));
    trace_bytes_put(&bytes, &stack, sizeof(stack));
    trace_bytes_put_long(&bytes, 0x401005);
    trace_bytes_put_long(&bytes, 0x999);
    trace_bytes_put(&bytes, &leave, sizeof(leave));
    enter.record.time = 2600;
    enter.arguments[0] = 9;
    trace_bytes_put(&bytes, &enter, sizeof(enter));
    enter.record.time = 2700;
    enter.record.depth = 1;
    trace_bytes_put(&bytes, &enter, sizeof(enter));
    trace_folder_put_stream(
        folder,
        &(struct trace_stream_plan){.name = "200/200.1.detail.gait",
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = 200, .tid = 200, .generation = 1},
                                    .bytes = &bytes});
}
