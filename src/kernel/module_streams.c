/* SPDX-License-Identifier: MIT */
/*
 * A stream is opened when the first stack of its process is seen, with all that the process has mapped by then; what
 * comes later is written as it comes. Where numbers of processes come again, the stream goes on: what was there before
 * is recorded as gone.
 */
#define _GNU_SOURCE
#include "kernel/module_streams.h"

#include "elf/build_id.h"
#include "elf/symbol_file.h"
#include "trace/stream_writer.h"
#include "trace/trace_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES_MAX 4096u
#define IDS_MAX        4096u

/* The build ID of a file that was mapped; files are mapped by many. */
struct known_id {
    char *path;
    uint32_t size_bytes;
    uint8_t bytes[32];
};

struct module_streams {
    int folder;
    struct chunk_encoder *encoder;
    struct mapped_files files;
    struct hash_map numbers; /* pid -> number of its stream */
    struct stream_writer writers[MODULE_STREAMS_MAX];
    size_t count;
    struct known_id *ids;
    size_t id_count;
    int result; /* the first error */
};

static void note_result(struct module_streams *streams, int result)
{
    if (streams->result == 0 && result != 0)
        streams->result = result;
}

int module_streams_create(int folder, struct chunk_encoder *encoder, struct module_streams **streams_out)
{
    struct module_streams *streams = calloc(1, sizeof(*streams));
    int result;

    if (streams == NULL)
        return -ENOMEM;
    streams->encoder = encoder;
    streams->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    result = streams->folder < 0 ? -errno : mapped_files_init(&streams->files);
    if (result == 0)
        result = hash_map_init(&streams->numbers, 64);
    if (result != 0) {
        if (streams->folder >= 0)
            close(streams->folder);
        mapped_files_deinit(&streams->files);
        free(streams);
        return result;
    }
    *streams_out = streams;
    return 0;
}

int module_streams_end(struct module_streams *streams)
{
    int result;

    for (size_t i = 0; i < streams->count; i++)
        note_result(streams, stream_writer_close(&streams->writers[i], 0));
    for (size_t i = 0; i < streams->id_count; i++)
        free(streams->ids[i].path);
    free(streams->ids);
    hash_map_deinit(&streams->numbers);
    mapped_files_deinit(&streams->files);
    close(streams->folder);
    result = streams->result;
    free(streams);
    return result;
}

/* ---- build IDs --------------------------------------------------------------------------------------------------- */

static void read_id(struct known_id *id)
{
    struct symbol_file file;
    const uint8_t *bytes;
    size_t size_bytes;

    if (id->path[0] != '/' || symbol_file_open(id->path, &file) != 0)
        return;
    if (elf_build_id_find(&file.symbols, &bytes, &size_bytes) == 0 && size_bytes <= sizeof(id->bytes)) {
        memcpy(id->bytes, bytes, size_bytes);
        id->size_bytes = (uint32_t)size_bytes;
    }
    symbol_file_close(&file);
}

/* NULL: there is no memory, or there are too many. */
static const struct known_id *find_id(struct module_streams *streams, const char *path)
{
    struct known_id *id;

    for (size_t i = 0; i < streams->id_count; i++)
        if (strcmp(streams->ids[i].path, path) == 0)
            return &streams->ids[i];
    if (streams->ids == NULL)
        streams->ids = calloc(IDS_MAX, sizeof(*streams->ids));
    if (streams->ids == NULL || streams->id_count == IDS_MAX)
        return NULL;
    id = &streams->ids[streams->id_count];
    id->path = strdup(path);
    if (id->path == NULL)
        return NULL;
    read_id(id);
    streams->id_count++;
    return id;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void write_change(struct module_streams *streams, struct stream_writer *writer,
                         const struct recorded_module *module, enum trace_module_change change, uint64_t time)
{
    uint8_t record[sizeof(struct trace_module) + PATH_BYTES_MAX] = {0};
    struct trace_module *written = (struct trace_module *)(void *)record;
    size_t path_bytes = strnlen(module->path, PATH_BYTES_MAX);
    const struct known_id *id = change == TRACE_MODULE_LOADED ? find_id(streams, module->path) : NULL;
    const struct chunk_contents contents = {.bytes = record,
                                            .size_bytes = trace_padded(sizeof(*written) + path_bytes),
                                            .first_time = time,
                                            .last_time = time};

    *written = (struct trace_module){
        .size_bytes = (uint32_t)contents.size_bytes,
        .change = change,
        .time = time,
        .start = module->start,
        .end = module->end,
        .file_offset = module->file_offset,
        .path_bytes = (uint32_t)path_bytes,
    };
    if (id != NULL) {
        written->build_id_bytes = id->size_bytes;
        memcpy(written->build_id, id->bytes, sizeof(written->build_id));
    }
    memcpy(written + 1, module->path, path_bytes);
    if (streams->result == 0)
        note_result(streams, stream_writer_put(writer, &contents));
}

static void write_all(struct module_streams *streams, struct stream_writer *writer, uint32_t pid,
                      enum trace_module_change change, uint64_t time)
{
    const struct mapped_process *process = mapped_files_find(&streams->files, pid);

    for (size_t i = 0; process != NULL && i < process->modules.count; i++) {
        const struct recorded_module *module = &process->modules.modules[i];

        write_change(streams, writer, module, change, change == TRACE_MODULE_LOADED ? module->loaded : time);
    }
}

static struct stream_writer *writer_of(struct module_streams *streams, uint32_t pid)
{
    uint64_t number;

    return hash_map_lookup(&streams->numbers, pid, &number) ? &streams->writers[number] : NULL;
}

static int open_stream(struct module_streams *streams, uint32_t pid)
{
    const struct trace_stream_header header = {.kind = TRACE_STREAM_MODULES, .pid = pid, .began = clock_pair_read()};
    char name[16];
    int folder, result;

    snprintf(name, sizeof(name), "%" PRIu32, pid);
    if (mkdirat(streams->folder, name, 0777) != 0)
        return -errno;
    folder = openat(streams->folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -errno;
    result =
        stream_writer_open(&streams->writers[streams->count], folder, TRACE_MODULES_NAME, &header, streams->encoder);
    close(folder);
    if (result != 0)
        return result;
    result = hash_map_set(&streams->numbers, pid, streams->count);
    streams->count++;
    return result;
}

void module_streams_want(struct module_streams *streams, uint32_t pid)
{
    int result;

    if (pid == 0 || streams->count == MODULE_STREAMS_MAX || streams->result != 0 || writer_of(streams, pid) != NULL)
        return;
    result = open_stream(streams, pid);
    note_result(streams, result);
    if (result == 0 && mapped_files_look(&streams->files, pid) != NULL)
        write_all(streams, writer_of(streams, pid), pid, TRACE_MODULE_LOADED, 0);
}

/* ---- news -------------------------------------------------------------------------------------------------------- */

void module_streams_map(struct module_streams *streams, const struct perf_mapping *mapping)
{
    struct stream_writer *writer = writer_of(streams, mapping->pid);
    const struct mapped_process *process = mapped_files_find(&streams->files, mapping->pid);
    size_t before = process == NULL ? 0 : process->modules.count;

    mapped_files_map(&streams->files, mapping);
    process = mapped_files_find(&streams->files, mapping->pid);
    if (writer != NULL && process != NULL && process->modules.count > before)
        write_change(streams, writer, &process->modules.modules[before], TRACE_MODULE_LOADED, mapping->time);
}

void module_streams_execute(struct module_streams *streams, uint32_t pid, uint64_t time)
{
    struct stream_writer *writer = writer_of(streams, pid);

    if (writer != NULL)
        write_all(streams, writer, pid, TRACE_MODULE_UNLOADED, time);
    mapped_files_execute(&streams->files, pid);
}

void module_streams_fork(struct module_streams *streams, uint32_t pid, uint32_t parent_pid, uint64_t time)
{
    struct stream_writer *writer = pid == parent_pid ? NULL : writer_of(streams, pid);

    if (writer != NULL)
        write_all(streams, writer, pid, TRACE_MODULE_UNLOADED, time);
    mapped_files_fork(&streams->files, pid, parent_pid, time);
    if (writer != NULL && mapped_files_look(&streams->files, pid) != NULL)
        write_all(streams, writer, pid, TRACE_MODULE_LOADED, 0);
}

void module_streams_exit(struct module_streams *streams, uint32_t pid)
{
    mapped_files_exit(&streams->files, pid);
}
