/* SPDX-License-Identifier: MIT */
/* A stream whose chunks are pieces of files. Until it is whole, its name ends in ".part". */
#define _GNU_SOURCE
#include "trace/packed_trace.h"

#include "hosted/error_text.h"
#include "trace/chunk_encoder.h"
#include "trace/stream_writer.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (4u << 20) /* of a file, in a chunk */

struct archive_packing {
    const char *path;
    int folder; /* in which it is made */
    char name[NAME_MAX + 1];
    char unfinished[NAME_MAX + 1];
    struct chunk_encoder *encoder;
    struct stream_writer writer;
    uint8_t *buffer; /* for a chunk */
    struct gait_error *err;
};

static int failed(const struct archive_packing *packing, int code)
{
    return error_set(packing->err, code, "cannot write '%s': %s; -o can name another place", packing->path,
                     strerror(code < 0 ? -code : code));
}

/* The file has to have that many bytes when they are packed. */
static int measure(const struct packed_file *file, uint64_t *size_out, struct gait_error *err)
{
    struct stat status;

    if (fstatat(file->folder, file->path, &status, 0) != 0)
        return error_set(err, errno, "cannot pack '%s': %s", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return error_set(err, EPROTO, "cannot pack '%s': it is not a regular file", file->path);
    *size_out = (uint64_t)status.st_size;
    return 0;
}

static int put_total(struct archive_packing *packing, uint64_t total_bytes)
{
    const struct trace_packed packed = {.file_bytes = total_bytes};
    int result =
        stream_writer_put(&packing->writer, &(struct chunk_contents){.bytes = &packed, .size_bytes = sizeof(packed)});

    return result == 0 ? 0 : failed(packing, result);
}

/* As much as there is, up to so many bytes; -1 and errno. */
static ssize_t read_all(int fd, uint8_t *bytes, size_t size_bytes)
{
    size_t used = 0;

    while (used < size_bytes) {
        ssize_t got = read(fd, bytes + used, size_bytes - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

static int put_pieces(struct archive_packing *packing, const struct packed_file *file, int fd, uint64_t file_bytes)
{
    struct trace_packed packed = {.path_bytes = (uint32_t)strlen(file->path), .file_bytes = file_bytes};
    uint8_t *data = packing->buffer + sizeof(packed) + packed.path_bytes;

    do {
        uint64_t left = file_bytes - packed.offset;
        size_t wanted = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        ssize_t got = read_all(fd, data, wanted);
        int result;

        if (got != (ssize_t)wanted)
            return error_set(packing->err, got < 0 ? errno : EBUSY, "cannot pack '%s': %s", file->path,
                             got < 0 ? strerror(errno) : "it became shorter while it was read");
        memcpy(packing->buffer, &packed, sizeof(packed));
        memcpy(packing->buffer + sizeof(packed), file->path, packed.path_bytes);
        result = stream_writer_put(&packing->writer, &(struct chunk_contents){
                                                         .bytes = packing->buffer,
                                                         .size_bytes = sizeof(packed) + packed.path_bytes + wanted,
                                                     });
        if (result != 0)
            return failed(packing, result);
        packed.offset += wanted;
    } while (packed.offset < file_bytes);
    return 0;
}

static int put_file(struct archive_packing *packing, const struct packed_file *file, uint64_t file_bytes)
{
    int fd = openat(file->folder, file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), result;

    if (fd < 0)
        return error_set(packing->err, errno, "cannot pack '%s': %s", file->path, strerror(errno));
    result = put_pieces(packing, file, fd, file_bytes);
    close(fd);
    return result;
}

static int put_files(struct archive_packing *packing, const struct packed_file *files, const uint64_t *sizes,
                     size_t count)
{
    uint64_t total_bytes = 0;
    int result;

    for (size_t i = 0; i < count; i++)
        total_bytes += sizes[i];
    result = put_total(packing, total_bytes);
    for (size_t i = 0; i < count && result == 0; i++)
        result = put_file(packing, &files[i], sizes[i]);
    return result;
}

/* ---- the file that is made --------------------------------------------------------------------------------------- */

static int open_place(struct archive_packing *packing)
{
    const char *slash = strrchr(packing->path, '/');
    const char *name = slash == NULL ? packing->path : slash + 1;
    char *folder = slash == NULL            ? strdup(".")
                   : slash == packing->path ? strdup("/")
                                            : strndup(packing->path, (size_t)(slash - packing->path));
    int result;

    if (folder == NULL)
        return failed(packing, ENOMEM);
    packing->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    result = packing->folder < 0 ? failed(packing, errno) : 0;
    free(folder);
    if (result != 0)
        return result;
    if (snprintf(packing->name, sizeof(packing->name), "%s", name) + strlen(".part.new") > NAME_MAX)
        return failed(packing, ENAMETOOLONG);
    snprintf(packing->unfinished, sizeof(packing->unfinished), "%.*s.part", (int)(NAME_MAX - strlen(".part")), name);
    if (name[0] == '\0' || faccessat(packing->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return error_set(packing->err, EEXIST, "cannot write '%s': it is there already; -o can name another place",
                         packing->path);
    return 0;
}

static int prepare(struct archive_packing *packing)
{
    const struct trace_stream_header header = {.kind = TRACE_STREAM_PACK, .began = clock_pair_read()};
    int result = chunk_encoder_create(true, &packing->encoder);

    /* Without zstd it is larger. */
    if (result == -EOPNOTSUPP)
        result = chunk_encoder_create(false, &packing->encoder);
    packing->buffer = malloc(sizeof(struct trace_packed) + TRACE_FILE_PATH_BYTES + PIECE_BYTES);
    if (result == 0 && packing->buffer == NULL)
        result = -ENOMEM;
    if (result == 0) {
        (void)unlinkat(packing->folder, packing->unfinished, 0);
        result = stream_writer_open(&packing->writer, packing->folder, packing->unfinished, &header, packing->encoder);
    }
    return result == 0 ? 0 : failed(packing, result);
}

/* Ends the file, and gives it its name if it is good. */
static int finish(struct archive_packing *packing, int result)
{
    int closed = stream_writer_close(&packing->writer, 0);

    if (result == 0 && closed != 0)
        result = failed(packing, closed);
    if (result == 0 &&
        renameat2(packing->folder, packing->unfinished, packing->folder, packing->name, RENAME_NOREPLACE) != 0 &&
        (errno != EINVAL || renameat(packing->folder, packing->unfinished, packing->folder, packing->name) != 0))
        result = failed(packing, errno);
    if (result != 0)
        (void)unlinkat(packing->folder, packing->unfinished, 0);
    return result;
}

static int write_all(struct archive_packing *packing, const struct packed_file *files, const uint64_t *sizes,
                     size_t count)
{
    int result = open_place(packing);

    if (result == 0)
        result = prepare(packing);
    if (result != 0)
        return result;
    return finish(packing, put_files(packing, files, sizes, count));
}

int trace_pack_write(const char *path, const struct packed_file *files, size_t count, struct packed_amount *amount_out,
                     struct gait_error *err)
{
    struct archive_packing packing = {.path = path, .folder = -1, .err = err};
    uint64_t *sizes = calloc(count + 1, sizeof(*sizes));
    int result = sizes == NULL ? error_set(err, ENOMEM, "no memory") : 0;

    for (size_t i = 0; i < count && result == 0; i++)
        result = measure(&files[i], &sizes[i], err);
    if (result == 0)
        result = write_all(&packing, files, sizes, count);
    if (result == 0) {
        *amount_out = (struct packed_amount){.packed_bytes = packing.writer.file_bytes};
        for (size_t i = 0; i < count; i++)
            amount_out->file_bytes += sizes[i];
    }
    chunk_encoder_destroy(packing.encoder);
    free(packing.buffer);
    free(sizes);
    if (packing.folder >= 0)
        close(packing.folder);
    return result;
}
