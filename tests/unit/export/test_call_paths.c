/* SPDX-License-Identifier: MIT */
#include "export/call_paths.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <unistd.h>

static struct export_lab lab;
static struct call_paths paths;

static void calls_are_counted_by_path(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(call_paths_read(&paths, &lab.job, NULL), 0);
    /* a, a b, a b c */
    CHECK_EQUAL(paths.count, 3);
    CHECK_EQUAL(paths.paths[0].parent, CALL_PATH_NONE);
    CHECK_EQUAL(paths.paths[0].call_count, 2);
    CHECK_EQUAL(paths.paths[0].self_ns, 700 + 100);
    CHECK_EQUAL(paths.paths[1].parent, 0);
    CHECK_EQUAL(paths.paths[1].call_count, 3);
    CHECK_EQUAL(paths.paths[1].self_ns, 100 + 100);
    CHECK_EQUAL(paths.paths[2].parent, 1);
    CHECK_EQUAL(paths.paths[2].call_count, 1);
    CHECK_EQUAL(paths.paths[2].self_ns, 100);
    call_paths_deinit(&paths);
    export_lab_deinit(&lab);
}

static void threads_have_paths_of_their_own(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(call_paths_read(&paths, &lab.job, NULL), 0);
    CHECK_EQUAL(paths.count, 3 + 2);
    CHECK_EQUAL(paths.paths[0].thread, 0);
    CHECK_EQUAL(paths.paths[1].thread, 1);
    CHECK_EQUAL(paths.paths[1].function, paths.paths[0].function);
    CHECK_EQUAL(paths.gap_count, 4);
    CHECK_EQUAL(paths.lost_bytes, 4 * 72);
    call_paths_deinit(&paths);
    export_lab_deinit(&lab);
}

/* A thread that recurses so deep, and comes back. */
static void put_recursion(const struct trace_folder *folder, uint32_t depth_max)
{
    static struct trace_bytes bytes;
    uint64_t time = 2000;

    bytes.size_bytes = 0;
    for (uint32_t i = 0; i < 2 * depth_max; i++) {
        uint32_t depth = i < depth_max ? i : 2 * depth_max - 1 - i;
        uint32_t header = event_header(depth & 1, i < depth_max ? EVENT_RECORD_ENTER : EVENT_RECORD_LEAVE);

        trace_bytes_put(&bytes, &header, sizeof(header));
        trace_bytes_put(&bytes, &depth, sizeof(depth));
        trace_bytes_put_long(&bytes, time += 10);
    }
    trace_folder_write(folder, "100/103.1.index.gait", "", 0);
    CHECK_EQUAL(unlinkat(folder->fd, "100/103.1.index.gait", 0), 0);
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/103.1.index.gait",
                                                                .header = {.kind = TRACE_STREAM_INDEX,
                                                                           .pid = 100,
                                                                           .tid = 103,
                                                                           .generation = 1,
                                                                           .space = 1,
                                                                           .events = EVENTS_HOOKED,
                                                                           .with_times = 1},
                                                                .bytes = &bytes});
}

static void no_call_is_missing_of_deep_recursion(void)
{
    uint64_t calls = 0, self_ns = 0;

    export_lab_init(&lab);
    put_recursion(&lab.folder, 250);
    view_functions_deinit(&lab.functions);
    view_trace_close(&lab.trace);
    CHECK_EQUAL(view_trace_open(&lab.trace, lab.folder.path, NULL), 0);
    CHECK_EQUAL(view_functions_init(&lab.functions, &lab.trace), 0);
    export_lab_choose(&lab, 3);
    CHECK_EQUAL(call_paths_read(&paths, &lab.job, NULL), 0);
    CHECK_EQUAL(paths.count, 250);
    for (size_t i = 0; i < paths.count; i++) {
        calls += paths.paths[i].call_count;
        self_ns += paths.paths[i].self_ns;
    }
    CHECK_EQUAL(calls, 250);
    CHECK_EQUAL(self_ns, 10 * (2 * 250 - 1));
    call_paths_deinit(&paths);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_counted_by_path),
    CHECK_CASE(threads_have_paths_of_their_own),
    CHECK_CASE(no_call_is_missing_of_deep_recursion),
};

CHECK_MAIN(cases)
