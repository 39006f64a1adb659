/* SPDX-License-Identifier: MIT */
#include "support/probe_trace.h"

#include "ring/detail_record.h"
#include "ring/detail_value.h"
#include "trace/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(int is_so, const char *what)
{
    if (is_so)
        return;
    printf("cannot %s\n", what);
    exit(1);
}

static char *copy(const char *text)
{
    char *made = strdup(text);

    demand(made != NULL, "copy a text");
    return made;
}

static void add_probes(const struct trace_folder *folder, uint32_t pid, uint64_t place)
{
    struct manifest manifest;

    demand(manifest_read(folder->fd, &manifest, NULL) == 0, "read the manifest");
    for (size_t i = 0; i < manifest.process_count; i++) {
        struct manifest_process *process = &manifest.processes[i];

        if (process->pid != pid)
            continue;
        process->probes = calloc(2, sizeof(*process->probes));
        demand(process->probes != NULL, "make probes");
        process->probes[0] =
            (struct manifest_probe){place, copy("shop"), copy("order"), copy("-4@%eax 8@%rbx"), copy("/bin/shop")};
        process->probes[1] =
            (struct manifest_probe){place + 16, copy("shop"), copy("idle"), copy(""), copy("/bin/shop")};
        process->probe_count = 2;
    }
    demand(manifest_write(&manifest, folder->fd, NULL) == 0, "write the manifest");
    manifest_free(&manifest);
}

static void put_record(struct trace_bytes *bytes, uint64_t place, uint64_t probe, uint64_t time,
                       const struct detail_value_writer *values)
{
    uint32_t values_bytes = values == NULL ? 0 : values->used, padded = (values_bytes + 7) & ~7u;
    struct detail_probe record = {
        .record = {.size_bytes = (uint32_t)sizeof(record) + padded,
                   .kind = DETAIL_PROBE,
                   .time = time,
                   .function = place + 16 * probe},
        .probe = probe,
        .values_bytes = values_bytes,
    };

    trace_bytes_put(bytes, &record, sizeof(record));
    if (values != NULL)
        trace_bytes_put(bytes, values->bytes, padded);
}

static void put_order(struct trace_bytes *bytes, uint64_t place, uint64_t time, int32_t number, const char *name)
{
    uint8_t room[64] = {0};
    struct detail_value_writer writer;

    detail_value_writer_init(&writer, room, sizeof(room), 2);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_I32, 0, sizeof(number)}, &number);
    detail_value_put(&writer, (struct detail_value){DETAIL_TYPE_STRING, 0, (uint16_t)strlen(name)}, name);
    put_record(bytes, place, 0, time, &writer);
}

void probe_trace_put(const struct trace_folder *folder, uint32_t pid, uint64_t place)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    char name[64];

    add_probes(folder, pid, place);
    put_order(&bytes, place, 2000, -7, "tea");
    put_record(&bytes, place, 1, 3000, NULL);
    put_order(&bytes, place, 4000, 8, "milk");
    put_record(&bytes, place, 2, 5000, NULL);
    snprintf(name, sizeof(name), "%u/%u.1.detail.gait", pid, pid);
    trace_folder_put_stream(
        folder,
        &(struct trace_stream_plan){.name = name,
                                    .header = {.kind = TRACE_STREAM_DETAIL, .pid = pid, .tid = pid, .generation = 1},
                                    .bytes = &bytes});
}
