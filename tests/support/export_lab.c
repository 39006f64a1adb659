/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/export_lab.h"

#include "export/export_format.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void demand(int is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "cannot %s\n", what);
    exit(1);
}

static void put_hooked(struct trace_bytes *bytes, uint32_t number, enum event_record record, uint32_t depth,
                       uint64_t time)
{
    uint32_t header = event_header(number, record);

    trace_bytes_put(bytes, &header, sizeof(header));
    trace_bytes_put(bytes, &depth, sizeof(depth));
    /* The recording begins at 1000. */
    trace_bytes_put_long(bytes, time + 1000);
}

static void put_thread(const struct trace_folder *folder)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    put_hooked(&bytes, 0, EVENT_RECORD_ENTER, 0, 1000);
    put_hooked(&bytes, 1, EVENT_RECORD_ENTER, 1, 1100);
    put_hooked(&bytes, 3, EVENT_RECORD_ENTER, 2, 1150);
    put_hooked(&bytes, 3, EVENT_RECORD_LEAVE, 2, 1250);
    put_hooked(&bytes, 1, EVENT_RECORD_LEAVE, 1, 1300);
    put_hooked(&bytes, 1, EVENT_RECORD_ENTER, 1, 1400);
    put_hooked(&bytes, 1, EVENT_RECORD_UNWOUND, 1, 1500);
    put_hooked(&bytes, 0, EVENT_RECORD_LEAVE, 0, 2000);
    put_hooked(&bytes, 0, EVENT_RECORD_ENTER, 0, 2100);
    put_hooked(&bytes, 1, EVENT_RECORD_ENTER, 1, 2200);
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/102.1.index.gait",
                                                                .header = {.kind = TRACE_STREAM_INDEX,
                                                                           .pid = 100,
                                                                           .tid = 102,
                                                                           .generation = 1,
                                                                           .space = 1,
                                                                           .events = EVENTS_HOOKED,
                                                                           .with_times = 1},
                                                                .bytes = &bytes});
}

static void put_nasty_module(const struct trace_folder *folder)
{
    struct trace_bytes blocks = {.size_bytes = 0}, modules = {.size_bytes = 0};
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000, .file_offset = 0x1000};

    /* Streams are made only where there are none. */
    demand(unlinkat(folder->fd, "100/blocks.gait", 0) == 0, "replace the blocks");
    demand(unlinkat(folder->fd, "100/modules.gait", 0) == 0, "replace the modules");
    trace_bytes_put_block(&blocks, 0, 0x401000, 0x401100);
    trace_bytes_put_block(&blocks, 1, 0x401100, 0);
    trace_bytes_put_block(&blocks, 2, 0x401200, 0);
    trace_bytes_put_block(&blocks, 3, 0x501100, 0);
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    module.start = 0x501000;
    module.end = 0x502000;
    trace_bytes_put_module(&modules, &module, "/nowhere<b>/" EXPORT_LAB_NASTY);
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/blocks.gait",
                                                                .header = {.kind = TRACE_STREAM_BLOCKS, .pid = 100},
                                                                .bytes = &blocks});
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/modules.gait",
                                                                .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                                .bytes = &modules});
}

void export_lab_init(struct export_lab *lab)
{
    *lab = (struct export_lab){.threads = {0, 1, 2}};
    trace_folder_init(&lab->folder);
    trace_folder_put_example(&lab->folder);
    put_nasty_module(&lab->folder);
    put_thread(&lab->folder);
    demand(view_trace_open(&lab->trace, lab->folder.path, &lab->err) == 0, "open the trace");
    demand(lab->trace.thread_count == 3, "see three threads");
    demand(view_functions_init(&lab->functions, &lab->trace) == 0, "begin functions");
    lab->job = (struct export_job){.trace = &lab->trace,
                                   .functions = &lab->functions,
                                   .threads = lab->threads,
                                   .thread_count = 3,
                                   .to_ns = UINT64_MAX};
}

void export_lab_deinit(struct export_lab *lab)
{
    view_functions_deinit(&lab->functions);
    view_trace_close(&lab->trace);
    trace_folder_deinit(&lab->folder);
    free(lab->output);
}

void export_lab_choose(struct export_lab *lab, size_t thread)
{
    lab->threads[0] = thread;
    lab->job.thread_count = 1;
}

int export_lab_write(struct export_lab *lab, const char *name)
{
    const struct export_format *format = export_formats_find(name);
    int result;

    demand(format != NULL, name);
    free(lab->output);
    lab->job.stream = open_memstream(&lab->output, &lab->output_bytes);
    demand(lab->job.stream != NULL, "write to memory");
    result = format->write(&lab->job, &lab->err);
    fclose(lab->job.stream);
    return result;
}

unsigned export_lab_count(const struct export_lab *lab, const char *part)
{
    unsigned count = 0;

    for (const char *at = lab->output; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}
