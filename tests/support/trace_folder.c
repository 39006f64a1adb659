/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support/trace_folder.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "trace/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void demand(bool works, const char *what)
{
    if (works)
        return;
    fprintf(stderr, "trace_folder: cannot %s: %s\n", what, strerror(errno));
    exit(1);
}

void trace_folder_init(struct trace_folder *folder)
{
    strcpy(folder->path, "/tmp/gait_trace_XXXXXX");
    demand(mkdtemp(folder->path) != NULL, "make a folder");
    folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    demand(folder->fd >= 0, "open the folder");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void trace_folder_deinit(struct trace_folder *folder)
{
    demand(nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "remove the folder");
    close(folder->fd);
}

void trace_folder_make(const struct trace_folder *folder, const char *subfolder)
{
    demand(mkdirat(folder->fd, subfolder, 0700) == 0, "make a folder in it");
}

uint8_t *trace_folder_read(const struct trace_folder *folder, const char *name, size_t *size_out)
{
    int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    uint8_t *bytes;

    demand(fd >= 0 && fstat(fd, &status) == 0, "open a file");
    bytes = malloc((size_t)status.st_size + 1);
    demand(bytes != NULL && read(fd, bytes, (size_t)status.st_size) == status.st_size, "read a file");
    close(fd);
    *size_out = (size_t)status.st_size;
    return bytes;
}

void trace_folder_write(const struct trace_folder *folder, const char *name, const void *bytes, size_t size_bytes)
{
    /* File systems write what replaces the contents of a file to the disk at once, and take milliseconds for that. */
    bool is_gone = unlinkat(folder->fd, name, 0) == 0 || errno == ENOENT;
    int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    demand(is_gone && fd >= 0 && write(fd, bytes, size_bytes) == (ssize_t)size_bytes, "write a file");
    close(fd);
}

void trace_bytes_put(struct trace_bytes *bytes, const void *value, size_t size_bytes)
{
    demand(size_bytes <= sizeof(bytes->bytes) - bytes->size_bytes, "hold so many bytes");
    memcpy(bytes->bytes + bytes->size_bytes, value, size_bytes);
    bytes->size_bytes += size_bytes;
}

void trace_bytes_put_header(struct trace_bytes *bytes, uint32_t number, enum event_record record)
{
    uint32_t header = event_header(number, record);

    trace_bytes_put(bytes, &header, sizeof(header));
}

void trace_bytes_put_wide_header(struct trace_bytes *bytes, uint32_t number, enum event_record record)
{
    trace_bytes_put_long(bytes, event_header(number, record));
}

void trace_bytes_put_long(struct trace_bytes *bytes, uint64_t value)
{
    trace_bytes_put(bytes, &value, sizeof(value));
}

void trace_bytes_put_block(struct trace_bytes *bytes, uint32_t number, uint64_t start, uint64_t call_target)
{
    static const uint8_t lengths[8] = {1, 2, 5};
    struct ring_block block = {
        .size_bytes = sizeof(block) + sizeof(lengths),
        .space = 1,
        .number = number,
        .code_bytes = 8,
        .start = start,
        .call_target = call_target,
        .last_insn_bytes = 5,
        .lengths_count = 3,
    };

    trace_bytes_put(bytes, &block, sizeof(block));
    trace_bytes_put(bytes, lengths, sizeof(lengths));
}

void trace_bytes_put_module(struct trace_bytes *bytes, const struct trace_module *given, const char *path)
{
    static const uint8_t zeroes[TRACE_ALIGNMENT];
    struct trace_module module = *given;

    module.path_bytes = (uint32_t)strlen(path);
    module.size_bytes = (uint32_t)trace_padded(sizeof(module) + module.path_bytes);
    trace_bytes_put(bytes, &module, sizeof(module));
    trace_bytes_put(bytes, path, module.path_bytes);
    trace_bytes_put(bytes, zeroes, module.size_bytes - sizeof(module) - module.path_bytes);
}

void trace_folder_put_stream(const struct trace_folder *folder, const struct trace_stream_plan *plan)
{
    size_t piece_bytes = plan->piece_bytes == 0 ? plan->bytes->size_bytes : plan->piece_bytes;
    struct chunk_encoder *encoder;
    struct stream_writer writer;
    int result;

    result = chunk_encoder_create(plan->compress, &encoder);
    if (result == -EOPNOTSUPP) {
        printf("skipped: this gait was built without libzstd\n");
        exit(77);
    }
    demand(result == 0, "encode chunks");
    demand(stream_writer_open(&writer, folder->fd, plan->name, &plan->header, encoder) == 0, "begin a stream");
    stream_writer_go_on(&writer, plan->first_sequence);
    for (size_t at = 0, size; at < plan->bytes->size_bytes; at += size) {
        size = plan->bytes->size_bytes - at < piece_bytes ? plan->bytes->size_bytes - at : piece_bytes;

        struct chunk_contents contents = {
            .bytes = plan->bytes->bytes + at,
            .size_bytes = size,
            .first_time = plan->times == NULL ? 1000 + at : plan->times[at / piece_bytes],
            .last_time = plan->times == NULL ? 1000 + at + size : plan->times[at / piece_bytes + 1],
            .lost_before = at == 0 ? 0 : plan->lost,
            .marks = plan->marks,
            .mark_count = plan->mark_count,
            .has_records = plan->pack,
            .format = event_format_of(plan->header.events, plan->header.with_times != 0),
        };

        demand(stream_writer_put(&writer, &contents) == 0, "write a chunk");
    }
    demand(stream_writer_close(&writer, 0) == 0, "end a stream");
    chunk_encoder_destroy(encoder);
}

static void put_threads(const struct trace_folder *folder)
{
    struct trace_bytes bytes = {.size_bytes = 0};
    struct trace_stream_plan plan = {
        .name = "100/100.1.index.gait",
        .header = {.kind = TRACE_STREAM_INDEX,
                   .pid = 100,
                   .tid = 100,
                   .generation = 1,
                   .space = 1,
                   .events = GAIT_EVENT_CALL | GAIT_EVENT_RET,
                   .with_times = 1},
        .bytes = &bytes,
    };

    /* Block 0 calls the function of block 1, which returns: 24 bytes each, with their times. */
    for (uint32_t i = 0; i < 5; i++) {
        trace_bytes_put_wide_header(&bytes, 0, EVENT_RECORD_CALL);
        trace_bytes_put_long(&bytes, 0x1000);
        trace_bytes_put_long(&bytes, 2000 + i * 100);
        trace_bytes_put_wide_header(&bytes, 1, EVENT_RECORD_RETURN);
        trace_bytes_put_long(&bytes, 0x401008);
        trace_bytes_put_long(&bytes, 2050 + i * 100);
    }
    trace_folder_put_stream(folder, &plan);
    plan.name = "100/101.1.index.gait";
    plan.header.tid = 101;
    plan.piece_bytes = 48;
    plan.lost = 72;
    trace_folder_put_stream(folder, &plan);
}

static void put_manifest(const struct trace_folder *folder)
{
    struct manifest_thread threads[] = {{.tid = 100, .generation = 1, .name = "example"},
                                        {.tid = 101, .generation = 1, .name = "worker", .lost_bytes = 288}};
    struct manifest_process process = {
        .pid = 100,
        .image = 1,
        .command = "./example --fast",
        .threads = threads,
        .thread_count = 2,
        .status = 3 << 8,
    };
    struct clock_pair clocks[] = {{1000, 1000}, {2500001000, 2500001000}};
    struct manifest manifest = {
        .program = "./example",
        .arguments = (char *const[]){"gait", "record", "./example", "--fast", NULL},
        .events = GAIT_EVENT_CALL | GAIT_EVENT_RET,
        .with_times = 1,
        .began_unix_ns = 1700000000000000000,
        .clocks = clocks,
        .clock_count = 2,
        .processes = &process,
        .process_count = 1,
        .ended = "exit",
    };

    demand(manifest_write(&manifest, folder->fd, NULL) == 0, "write the manifest");
}

void trace_folder_put_example(const struct trace_folder *folder)
{
    struct trace_bytes blocks = {.size_bytes = 0}, modules = {.size_bytes = 0};
    struct trace_module module = {
        .change = TRACE_MODULE_LOADED, .time = 1000, .start = 0x401000, .end = 0x402000, .file_offset = 0x1000};

    trace_folder_make(folder, "100");
    trace_bytes_put_block(&blocks, 0, 0x401000, 0x401100);
    trace_bytes_put_block(&blocks, 1, 0x401100, 0);
    trace_bytes_put_block(&blocks, 2, 0x401200, 0);
    trace_bytes_put_module(&modules, &module, "/nowhere/example");
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/blocks.gait",
                                                                .header = {.kind = TRACE_STREAM_BLOCKS, .pid = 100},
                                                                .bytes = &blocks});
    trace_folder_put_stream(folder, &(struct trace_stream_plan){.name = "100/modules.gait",
                                                                .header = {.kind = TRACE_STREAM_MODULES, .pid = 100},
                                                                .bytes = &modules});
    put_threads(folder);
    put_manifest(folder);
}

const struct trace_file *trace_piece_at(const char *path)
{
    static struct trace_file file;

    snprintf(file.path, sizeof(file.path), "%s", path);
    return &file;
}

void trace_folder_delete_pieces(const struct trace_folder *folder, uint32_t first_kept)
{
    struct manifest_piece piece = {.number = first_kept}, *before;
    struct manifest manifest;

    demand(manifest_read(folder->fd, &manifest, NULL) == 0, "read the manifest");
    before = manifest.pieces;
    manifest.pieces = &piece;
    manifest.piece_count = 1;
    demand(manifest_write(&manifest, folder->fd, NULL) == 0, "write the manifest");
    manifest.pieces = before;
    manifest_free(&manifest);
}
