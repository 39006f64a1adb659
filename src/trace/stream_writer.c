/* SPDX-License-Identifier: MIT */
/*
 * The file grows by whole chunks: one that was written in part is cut off again. Places are given to every write, so
 * that a failed one moves nothing.
 */
#include "trace/stream_writer.h"

#include "trace/compression.h"
#include "trace/crc32c.h"

#include <errno.h>
#include <fcntl.h>
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
    header.version = TRACE_VERSION;
    header.reserved = 0;
    header.crc = crc32c(0, &header, offsetof(struct trace_stream_header, crc));
    return append(writer, (struct iovec[PARTS_MAX]){{&header, sizeof(header)}});
}

int stream_writer_open(struct stream_writer *writer, int folder, const char *name,
                       const struct trace_stream_header *header, bool compress)
{
    struct stream_writer made = {.is_compressed = compress};
    int result = compress ? compressor_create(&made.compressor) : 0;

    if (result != 0)
        return result;
    made.fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (made.fd < 0) {
        result = -errno;
        compressor_destroy(made.compressor);
        return result;
    }
    result = append_header(&made, header);
    if (result != 0) {
        unlinkat(folder, name, 0);
        close(made.fd);
        compressor_destroy(made.compressor);
        return result;
    }
    *writer = made;
    return 0;
}

/* What of the piece is to stand in the file: it is compressed if that makes it smaller. */
static int store(struct stream_writer *writer, const struct stream_piece *piece, struct trace_chunk *chunk,
                 const void **stored_out)
{
    size_t stored_bytes = piece->size_bytes;
    int result = -E2BIG;

    if (writer->compressor != NULL && piece->size_bytes > 0)
        result = compressor_run(writer->compressor, piece->bytes, piece->size_bytes, stored_out, &stored_bytes);
    if (result == -E2BIG)
        *stored_out = piece->bytes;
    else if (result != 0)
        return result;
    else
        chunk->flags |= TRACE_CHUNK_ZSTD;
    chunk->stored_bytes = (uint32_t)stored_bytes;
    chunk->data_crc = crc32c(0, *stored_out, stored_bytes);
    return 0;
}

int stream_writer_put(struct stream_writer *writer, const struct stream_piece *piece)
{
    static const uint8_t zeroes[TRACE_ALIGNMENT];
    struct trace_chunk chunk = {
        .magic = TRACE_CHUNK_MAGIC,
        .flags = piece->has_gap_before ? TRACE_CHUNK_GAP : 0,
        .raw_bytes = (uint32_t)piece->size_bytes,
        .sequence = writer->sequence,
        .first_time = piece->first_time,
        .last_time = piece->last_time,
        .lost_before = piece->lost_before,
    };
    const void *stored;
    int result = piece->size_bytes > TRACE_CHUNK_BYTES_MAX ? -EINVAL : store(writer, piece, &chunk, &stored);

    if (result != 0)
        return result;
    chunk.crc = crc32c(0, &chunk, offsetof(struct trace_chunk, crc));

    struct iovec parts[PARTS_MAX] = {
        {&chunk, sizeof(chunk)},
        {(void *)(uintptr_t)stored, chunk.stored_bytes},
        {(void *)(uintptr_t)zeroes, trace_padded(chunk.stored_bytes) - chunk.stored_bytes},
    };

    result = append(writer, parts);
    if (result != 0)
        return result;
    writer->sequence++;
    writer->raw_bytes += chunk.raw_bytes;
    writer->stored_bytes += chunk.stored_bytes;
    writer->lost_bytes += chunk.lost_before;
    return 0;
}

int stream_writer_close(struct stream_writer *writer, uint64_t lost_behind)
{
    struct trace_footer footer = {
        .magic = TRACE_FOOTER_MAGIC,
        .chunk_count = writer->sequence,
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
    compressor_destroy(writer->compressor);
    writer->fd = -1;
    writer->compressor = NULL;
    return result;
}
