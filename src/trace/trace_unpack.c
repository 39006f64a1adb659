/* SPDX-License-Identifier: MIT */
/* The sums of its chunks tell whether what comes out is what went in; a pack that is cut off is refused as a whole. */
#include "trace/packed_trace.h"

#include "hosted/error_text.h"
#include "trace/stream_reader.h"
#include "trace/temporary_folder.h"
#include "trace/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER_MODE 0700
#define FILE_MODE   0600

struct unpacking {
    const char *path;
    int folder;
    uint64_t total_bytes; /* of all files, as the pack says */
    uint64_t done_bytes;
    int fd; /* of the file that is written; -1: none */
    char name[TRACE_FILE_PATH_BYTES];
    uint64_t file_bytes;
    uint64_t offset; /* how much of it is there */
    struct gait_error *err;
};

static int damaged(const struct unpacking *unpacking, const char *what)
{
    return error_set(unpacking->err, EPROTO, "cannot unpack '%s': %s; it was written by something else than gait",
                     unpacking->path, what);
}

static int failed(const struct unpacking *unpacking, int code)
{
    return error_set(unpacking->err, code, "cannot unpack '%s': %s; TMPDIR can name another place", unpacking->path,
                     strerror(code < 0 ? -code : code));
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static int make_folders(const struct unpacking *unpacking)
{
    char folder[TRACE_FILE_PATH_BYTES];

    for (const char *slash = strchr(unpacking->name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - unpacking->name), unpacking->name);
        if (mkdirat(unpacking->folder, folder, FOLDER_MODE) != 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static int end_file(struct unpacking *unpacking)
{
    int fd = unpacking->fd;

    unpacking->fd = -1;
    if (fd < 0)
        return 0;
    if (close(fd) != 0)
        return failed(unpacking, errno);
    return unpacking->offset == unpacking->file_bytes ? 0 : damaged(unpacking, "a file in it ends too early");
}

static int begin_file(struct unpacking *unpacking, const char *name, uint64_t file_bytes)
{
    struct trace_file file;
    int result = end_file(unpacking);

    if (result != 0)
        return result;
    if (!trace_file_parse(name, &file))
        return damaged(unpacking, "there is a file in it that belongs to no trace");
    if (file_bytes > unpacking->total_bytes - unpacking->done_bytes)
        return damaged(unpacking, "there is more in it than it says");
    memcpy(unpacking->name, file.path, sizeof(unpacking->name));
    unpacking->file_bytes = file_bytes;
    unpacking->offset = 0;
    result = make_folders(unpacking);
    if (result != 0)
        return failed(unpacking, result);
    unpacking->fd =
        openat(unpacking->folder, unpacking->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (unpacking->fd < 0 && errno == EEXIST)
        return damaged(unpacking, "a file is in it twice");
    return unpacking->fd < 0 ? failed(unpacking, errno) : 0;
}

static int write_bytes(struct unpacking *unpacking, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes != 0) {
        ssize_t written = write(unpacking->fd, bytes, size_bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return failed(unpacking, written == 0 ? EIO : errno);
        bytes += written;
        size_bytes -= (size_t)written;
        unpacking->offset += (uint64_t)written;
        unpacking->done_bytes += (uint64_t)written;
    }
    return 0;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

/* The first chunk says how much room it takes. */
static int check_room(struct unpacking *unpacking, const struct trace_packed *packed)
{
    struct statvfs room;

    if (packed->path_bytes != 0)
        return damaged(unpacking, "it does not say how much is in it");
    unpacking->total_bytes = packed->file_bytes;
    if (fstatvfs(unpacking->folder, &room) == 0 && packed->file_bytes / room.f_frsize > room.f_bavail)
        return error_set(unpacking->err, ENOSPC,
                         "cannot unpack '%s': it takes %" PRIu64 " MiB, and there are %" PRIu64
                         "; TMPDIR can name another place",
                         unpacking->path, packed->file_bytes >> 20, (uint64_t)room.f_bavail * room.f_frsize >> 20);
    return 0;
}

static int take_file(struct unpacking *unpacking, const struct trace_packed *packed, const uint8_t *path,
                     size_t data_bytes)
{
    char name[TRACE_FILE_PATH_BYTES];
    int result = 0;

    if (packed->path_bytes >= sizeof(name) || memchr(path, '\0', packed->path_bytes) != NULL)
        return damaged(unpacking, "there is a file in it that belongs to no trace");
    snprintf(name, sizeof(name), "%.*s", (int)packed->path_bytes, (const char *)path);
    if (unpacking->fd < 0 || strcmp(name, unpacking->name) != 0)
        result = begin_file(unpacking, name, packed->file_bytes);
    if (result != 0)
        return result;
    if (packed->offset != unpacking->offset || packed->file_bytes != unpacking->file_bytes ||
        data_bytes > unpacking->file_bytes - unpacking->offset)
        return damaged(unpacking, "the pieces of a file do not fit together");
    return write_bytes(unpacking, path + packed->path_bytes, data_bytes);
}

static int take_chunk(struct unpacking *unpacking, const struct stream_chunk *chunk)
{
    struct trace_packed packed;

    if (chunk->size_bytes < sizeof(packed))
        return damaged(unpacking, "a chunk of it is too small");
    memcpy(&packed, chunk->bytes, sizeof(packed));
    if (packed.path_bytes > chunk->size_bytes - sizeof(packed))
        return damaged(unpacking, "a chunk of it is too small");
    if (chunk->sequence == 0)
        return check_room(unpacking, &packed);
    return take_file(unpacking, &packed, chunk->bytes + sizeof(packed),
                     chunk->size_bytes - sizeof(packed) - packed.path_bytes);
}

static int take_all(struct unpacking *unpacking, struct stream_reader *reader)
{
    struct stream_chunk chunk;
    int result = 0, ended;

    while (result == 0 && stream_reader_next(reader, &chunk))
        result = take_chunk(unpacking, &chunk);
    if (result == 0)
        result = stream_end_check(&reader->end, unpacking->path, unpacking->err);
    if (result != 0) {
        if (unpacking->fd >= 0)
            close(unpacking->fd);
        return result;
    }
    ended = end_file(unpacking);
    if (ended == 0 && unpacking->done_bytes != unpacking->total_bytes)
        return damaged(unpacking, "there is less in it than it says");
    return ended;
}

int trace_unpack_to(const char *path, int folder, struct gait_error *err)
{
    struct unpacking unpacking = {.path = path, .folder = folder, .fd = -1, .err = err};
    struct stream_reader reader;
    int result = stream_reader_open(&reader, AT_FDCWD, path, err);

    if (result != 0)
        return result;
    if (reader.header.kind == TRACE_STREAM_PACK)
        result = take_all(&unpacking, &reader);
    else
        result = error_set(err, EPROTO,
                           "cannot open '%s': it is one file of a trace, and not all of it; try the folder that was "
                           "recorded into",
                           path);
    stream_reader_close(&reader);
    return result;
}

/* ---- a folder for it --------------------------------------------------------------------------------------------- */

/* Anything that is no stream at all is no trace, and nothing was damaged. */
static int check_magic(const char *path, struct gait_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    uint64_t magic = 0;
    struct stat status;
    bool is_stream;

    if (fd < 0)
        return error_set(err, errno, "cannot open '%s': %s; try another path", path, strerror(errno));
    is_stream = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) && magic == TRACE_STREAM_MAGIC;
    close(fd);
    if (is_stream)
        return 0;
    return error_set(err, ENOTDIR,
                     "cannot open '%s': it is neither a folder nor a packed trace; try the folder that was "
                     "recorded into",
                     path);
}

int trace_unpack_open(const char *path, struct temporary_folder **unpacked_out, int *folder_out, struct gait_error *err)
{
    struct temporary_folder *unpacked;
    int result = check_magic(path, err), folder;

    if (result == 0)
        result = temporary_folder_make(&unpacked, err);
    if (result != 0)
        return result;
    result = trace_unpack_to(path, unpacked->fd, err);
    if (result == 0) {
        folder = fcntl(unpacked->fd, F_DUPFD_CLOEXEC, 0);
        result = folder < 0 ? error_set(err, errno, "cannot open '%s': %s", path, strerror(errno)) : 0;
    }
    if (result != 0) {
        temporary_folder_remove(unpacked);
        return result;
    }
    *unpacked_out = unpacked;
    *folder_out = folder;
    return 0;
}
