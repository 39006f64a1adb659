/* SPDX-License-Identifier: MIT */
/*
 * The file grows by whole chunks: one that was written in part is cut off again. Places are given to every write, so
 * that a failed one moves nothing.
 */
#include "trace/stream_writer.h"

#include "trace/crc32c.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

/* Only whom it belongs to may read it: addresses help to attack. */
#define FILE_MODE 0600

#define PARTS_MAX 3

/* Steps over what was written. */
static void advance(struct iovec *parts, size_t bytes)
{
    for (; bytes > 0; parts++) {
        size_t step = bytes < parts->iov_len ? bytes : parts->iov_len;

        parts->iov_base = (char *)parts->iov_base + step;
        parts->iov_len -= step;
        bytes -= step;
    }
}

/* Appends the parts, all or nothing. */
static int append(struct stream_writer *writer, struct iovec parts[PARTS_MAX])
{
    uint64_t end = writer->file_bytes, left = 0;

    for (int i = 0; i < PARTS_MAX; i++)
        left += parts[i].iov_len;
    while (left > 0) {
        ssize_t written = pwritev(writer->fd, parts, PARTS_MAX, (off_t)end);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int result = written == 0 ? -EIO : -errno;

            /* Should that fail, too, readers find a chunk that is cut off. */
            return ftruncate(writer->fd, (off_t)writer->file_bytes) == 0 ? result : -EIO;
        }
        /* After a short write, the next one tells why. */
        advance(parts, (size_t)written);
        end += (uint64_t)written;
        left -= (uint64_t)written;
    }
    writer->file_bytes = end;
    return 0;
}

static int append_header(struct stream_writer *writer, const struct trace_stream_header *given)
{
    struct trace_stream_header header = *given;

    header.magic = TRACE_STREAM_MAGIC;
    header.version = trace_stream_version(header.kind);
    header.crc = crc32c(0, &header, offsetof(struct trace_stream_header, crc));
    return append(writer, (struct iovec[PARTS_MAX]){{&header, sizeof(header)}});
}

/* A file that is there has a header, also if we are killed here: until it has one, it has another name. */
static int give_name(int folder, const char *unfinished, const char *name)
{
    if (faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return renameat(folder, unfinished, folder, name) == 0 ? 0 : -errno;
}

int stream_writer_open(struct stream_writer *writer, int folder, const char *name,
                       const struct trace_stream_header *header, struct chunk_encoder *encoder)
{
    struct stream_writer made = {.encoder = encoder};
    char unfinished[NAME_MAX + 1];
    int result;

    if (snprintf(unfinished, sizeof(unfinished), "%s.new", name) >= (int)sizeof(unfinished))
        return -ENAMETOOLONG;
    made.fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (made.fd < 0)
        return -errno;
    result = append_header(&made, header);
    if (result == 0)
        result = give_name(folder, unfinished, name);
    if (result != 0) {
        unlinkat(folder, unfinished, 0);
        close(made.fd);
        return result;
    }
    *writer = made;
    return 0;
}

void stream_writer_go_on(struct stream_writer *writer, uint64_t sequence)
{
    writer->sequence = writer->first_sequence = sequence;
}

int stream_writer_append(struct stream_writer *writer, const struct encoded_chunk *chunk)
{
    static const uint8_t zeroes[TRACE_ALIGNMENT];
    struct trace_chunk header = chunk->header;
    struct iovec parts[PARTS_MAX] = {
        {&header, sizeof(header)},
        {(void *)(uintptr_t)chunk->stored, header.stored_bytes},
        {(void *)(uintptr_t)zeroes, trace_padded(header.stored_bytes) - header.stored_bytes},
    };
    int result;

    header.sequence = writer->sequence;
    header.crc = crc32c(0, &header, offsetof(struct trace_chunk, crc));
    result = append(writer, parts);
    if (result != 0)
        return result;
    writer->sequence++;
    writer->raw_bytes += header.raw_bytes;
    writer->stored_bytes += header.stored_bytes;
    writer->lost_bytes += header.lost_before;
    return 0;
}

int stream_writer_put(struct stream_writer *writer, const struct chunk_contents *contents)
{
    struct encoded_chunk chunk;
    int result = chunk_encoder_run(writer->encoder, contents, &chunk);

    return result == 0 ? stream_writer_append(writer, &chunk) : result;
}

int stream_writer_close(struct stream_writer *writer, uint64_t lost_behind)
{
    struct trace_footer footer = {
        .magic = TRACE_FOOTER_MAGIC,
        .chunk_count = writer->sequence - writer->first_sequence,
        .raw_bytes = writer->raw_bytes,
        .stored_bytes = writer->stored_bytes,
        .lost_bytes = writer->lost_bytes + lost_behind,
        .ended = clock_pair_read(),
    };
    int result;

    footer.crc = crc32c(0, &footer, offsetof(struct trace_footer, crc));
    result = append(writer, (struct iovec[PARTS_MAX]){{&footer, sizeof(footer)}});
    if (close(writer->fd) != 0 && result == 0)
        result = -errno;
    writer->fd = -1;
    return result;
}
