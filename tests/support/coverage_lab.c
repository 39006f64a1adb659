/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/coverage_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ELSEWHERE 0x10000u

/* Code that no compiler can do without. */
static volatile int shaken;

const int coverage_lab_line = __LINE__ + 2;

__attribute__((noinline)) int coverage_lab_ran(int number)
{
    shaken += number;
    shaken *= 3;
    shaken ^= 0x1234567;
    return shaken;
}

__attribute__((noinline)) int coverage_lab_called(int number)
{
    shaken -= number;
    return shaken;
}

__attribute__((noinline)) int coverage_lab_missed(int number)
{
    shaken /= number;
    return shaken;
}

static void demand(int is, const char *what)
{
    if (is)
        return;
    fprintf(stderr, "cannot %s\n", what);
    exit(1);
}

static uint64_t address_of(int (*function)(int))
{
    return (uint64_t)(uintptr_t)function;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

static void put_modules(struct coverage_lab *lab)
{
    struct trace_module module = {.change = TRACE_MODULE_LOADED, .time = 1000};
    struct trace_bytes bytes = {.size_bytes = 0};
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4200];

    demand(maps != NULL, "read /proc/self/maps");
    while (lab->path[0] == '\0' && fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &module.start, &module.end,
                   &module.file_offset, lab->path) != 4 ||
            address_of(coverage_lab_ran) - module.start >= module.end - module.start)
            lab->path[0] = '\0';
    fclose(maps);
    demand(lab->path[0] == '/', "find this program");
    trace_bytes_put_module(&bytes, &module, lab->path);
    trace_folder_put_stream(&lab->folder, &(struct trace_stream_plan){
                                              .name = "100/modules.gait",
                                              .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                              .bytes = &bytes,
                                          });
}

static void put_blocks(struct coverage_lab *lab, enum coverage_lab_events events)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    trace_bytes_put_block(&bytes, 0, address_of(coverage_lab_ran), 0);
    if (events == COVERAGE_LAB_HOOKS) {
        trace_bytes_put_block(&bytes, 1, address_of(coverage_lab_called), 0);
        trace_bytes_put_block(&bytes, 2, address_of(coverage_lab_missed), 0);
    } else {
        trace_bytes_put_block(&bytes, 1, address_of(coverage_lab_ran) + 4, 0);
    }
    trace_folder_put_stream(&lab->folder, &(struct trace_stream_plan){
                                              .name = "100/blocks.gait",
                                              .header = {.kind = TRACE_STREAM_BLOCKS, .pid = 100},
                                              .bytes = &bytes,
                                          });
}

static void put_call(struct trace_bytes *bytes, uint64_t target, uint64_t time)
{
    trace_bytes_put_wide_header(bytes, 0, EVENT_RECORD_CALL_TARGET);
    trace_bytes_put_long(bytes, 0x1000);
    trace_bytes_put_long(bytes, target);
    trace_bytes_put_long(bytes, time);
}

static void put_hooked(struct trace_bytes *bytes, enum event_record record, uint64_t time)
{
    uint32_t header = event_header(1, record), depth = 0;

    trace_bytes_put(bytes, &header, sizeof(header));
    trace_bytes_put(bytes, &depth, sizeof(depth));
    trace_bytes_put_long(bytes, time);
}

static void put_records(struct trace_bytes *bytes, enum coverage_lab_events events)
{
    for (uint64_t i = 0; i < 2 && events == COVERAGE_LAB_CALLS; i++) {
        put_call(bytes, address_of(coverage_lab_called), 2000 + 100 * i);
        put_call(bytes, address_of(coverage_lab_ran), 2050 + 100 * i);
    }
    if (events == COVERAGE_LAB_CALLS)
        put_call(bytes, ELSEWHERE, 2300);
    for (uint64_t i = 0; i < 2 && events == COVERAGE_LAB_HOOKS; i++) {
        put_hooked(bytes, EVENT_RECORD_ENTER, 2000 + 100 * i);
        put_hooked(bytes, EVENT_RECORD_LEAVE, 2050 + 100 * i);
    }
    for (uint64_t i = 0; i < 5 && (events == COVERAGE_LAB_BLOCKS || events == COVERAGE_LAB_INSNS); i++) {
        trace_bytes_put_wide_header(bytes, i < 3 ? 0 : 1, EVENT_RECORD_BLOCK);
        trace_bytes_put_long(bytes, 2000 + 100 * i);
    }
}

static uint32_t bits_of(enum coverage_lab_events events)
{
    static const uint32_t bits[] = {
        [COVERAGE_LAB_BLOCKS] = GAIT_EVENT_BLOCK,
        [COVERAGE_LAB_INSNS] = GAIT_EVENT_EXEC,
        [COVERAGE_LAB_CALLS] = GAIT_EVENT_CALL | GAIT_EVENT_RET,
        [COVERAGE_LAB_HOOKS] = GAIT_EVENT_ENTER | GAIT_EVENT_LEAVE,
    };

    return bits[events];
}

static void put_thread(struct coverage_lab *lab, enum coverage_lab_events events)
{
    struct trace_bytes bytes = {.size_bytes = 0};

    put_records(&bytes, events);
    trace_folder_put_stream(&lab->folder, &(struct trace_stream_plan){
                                              .name = "100/100.1.index.gait",
                                              .header = {.kind = TRACE_STREAM_INDEX,
                                                         .pid = 100,
                                                         .tid = 100,
                                                         .generation = 1,
                                                         .space = 1,
                                                         .events = bits_of(events),
                                                         .with_times = 1},
                                              .bytes = &bytes,
                                          });
}

static void put_manifest(struct coverage_lab *lab, enum coverage_lab_events events)
{
    struct manifest manifest;

    demand(manifest_read(lab->folder.fd, &manifest, NULL) == 0, "read the manifest");
    manifest.events = bits_of(events);
    demand(manifest_write(&manifest, lab->folder.fd, NULL) == 0, "write the manifest");
    manifest_free(&manifest);
}

void coverage_lab_init(struct coverage_lab *lab, enum coverage_lab_events events)
{
    static const char *const others[] = {"100/blocks.gait", "100/modules.gait", "100/100.1.index.gait",
                                         "100/101.1.index.gait"};

    *lab = (struct coverage_lab){.path = ""};
    trace_folder_init(&lab->folder);
    trace_folder_put_example(&lab->folder);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        demand(unlinkat(lab->folder.fd, others[i], 0) == 0, "replace the streams");
    put_modules(lab);
    put_blocks(lab, events);
    put_thread(lab, events);
    put_manifest(lab, events);
    demand(view_trace_open(&lab->trace, lab->folder.path, NULL) == 0, "open the trace");
}

void coverage_lab_deinit(struct coverage_lab *lab)
{
    view_trace_close(&lab->trace);
    trace_folder_deinit(&lab->folder);
}
