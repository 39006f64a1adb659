/* SPDX-License-Identifier: MIT */
/*
 * By pread into memory of its own, not mapped: a file that shrinks while it is mapped kills who looks. Sizes that the
 * file tells are compared with how much of it there is before memory is asked for.
 */
#include "trace/stream_reader.h"

#include "hosted/error_text.h"
#include "hosted/growing_array.h"
#include "trace/compression.h"
#include "trace/crc32c.h"
#include "trace/kernel_packing.h"
#include "trace/record_counts.h"
#include "trace/record_packing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKS_BYTES_MAX (sizeof(struct trace_marks) + TRACE_MARKS_MAX * sizeof(struct trace_mark))

/* Reads up to size_bytes; less: the file ends there. Negative: -errno. */
static ssize_t read_at(int fd, uint64_t offset, void *bytes, size_t size_bytes)
{
    size_t used = 0;

    while (used < size_bytes) {
        ssize_t count = pread(fd, (uint8_t *)bytes + used, size_bytes - used, (off_t)(offset + used));

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        used += (size_t)count;
    }
    return (ssize_t)used;
}

static int open_regular(int folder, const char *path, int *fd_out)
{
    struct stat status;
    /* Of a FIFO nobody waits for the other end. */
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int result = 0;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0)
        result = -errno;
    else if (S_ISDIR(status.st_mode))
        result = -EISDIR;
    else if (!S_ISREG(status.st_mode))
        result = -EPROTO;
    if (result != 0) {
        close(fd);
        return result;
    }
    *fd_out = fd;
    return 0;
}

static int explain_open(const char *path, int code, struct gait_error *err)
{
    switch (-code) {
    case ENOENT:
        return error_set(err, code, "cannot open '%s': there is no such file; try 'gait verify' on the whole trace",
                         path);
    case EACCES:
        return error_set(err, code, "cannot open '%s': this user may not read it; try as the user who recorded it",
                         path);
    case EISDIR:
        return error_set(err, code, "cannot read '%s': it is a directory; try to record again", path);
    case EPROTO:
        return error_set(err, code, "cannot read '%s': it is no stream of a trace; try another file", path);
    default:
        return error_set(err, code, "cannot read '%s': %s; try again", path, strerror(-code));
    }
}

static int check_header(const struct trace_stream_header *header, size_t size_bytes, const char *path,
                        struct gait_error *err)
{
    const uint64_t magic = TRACE_STREAM_MAGIC;

    if (memcmp(&header->magic, &magic, size_bytes < sizeof(magic) ? size_bytes : sizeof(magic)) != 0)
        return explain_open(path, -EPROTO, err);
    if (size_bytes < sizeof(*header))
        return error_set(err, ENODATA,
                         "cannot read '%s': it ends after %zu bytes, within its header; nothing was recorded in it",
                         path, size_bytes);
    if (header->version == 0 || header->version > trace_stream_version(header->kind))
        return error_set(err, EPROTO,
                         "cannot read '%s': it has version %" PRIu32 " of the format, this gait knows version %" PRIu32
                         "; try "
                         "the gait that recorded it",
                         path, header->version, trace_stream_version(header->kind));
    if (header->crc != crc32c(0, header, offsetof(struct trace_stream_header, crc)))
        return error_set(err, EPROTO, "cannot read '%s': its header is damaged; it cannot be repaired", path);
    if (header->kind == 0 || header->kind >= TRACE_STREAM_KINDS)
        return error_set(err, EPROTO,
                         "cannot read '%s': it is a stream of a kind that this gait does not know; try a "
                         "newer one",
                         path);
    return 0;
}

int stream_reader_open(struct stream_reader *reader, int folder, const char *path, struct gait_error *err)
{
    struct stream_reader made = {.end = {.offset = sizeof(made.header)}};
    int result = open_regular(folder, path, &made.fd);

    if (result != 0)
        return explain_open(path, result, err);

    ssize_t count = read_at(made.fd, 0, &made.header, sizeof(made.header));

    result = count < 0 ? explain_open(path, (int)count, err) : check_header(&made.header, (size_t)count, path, err);
    if (result != 0) {
        close(made.fd);
        return result;
    }
    *reader = made;
    return 0;
}

void stream_reader_close(struct stream_reader *reader)
{
    close(reader->fd);
    free(reader->stored.bytes);
    free(reader->plain.bytes);
    free(reader->raw.bytes);
    record_predictor_destroy(reader->predictor);
    kernel_predictor_destroy(reader->kernel_predictor);
    *reader = (struct stream_reader){.fd = -1};
}

static bool end_with(struct stream_reader *reader, enum stream_state state, int code, const char *reason)
{
    reader->end.state = state;
    reader->end.code = code;
    reader->end.reason = reason;
    return false;
}

static bool end_damaged(struct stream_reader *reader, const char *reason)
{
    return end_with(reader, STREAM_DAMAGED, EPROTO, reason);
}

static bool end_cut_off(struct stream_reader *reader, const char *reason)
{
    return end_with(reader, STREAM_CUT_OFF, ENODATA, reason);
}

static bool reserve(struct stream_reader *reader, struct stream_buffer *buffer, size_t size_bytes)
{
    return ARRAY_RESERVE(buffer->bytes, buffer->capacity, size_bytes) == 0 ||
           end_with(reader, STREAM_FAILED, ENOMEM, "there is no memory for it");
}

/* All of the bytes, or the end of the stream. */
static bool read_whole(struct stream_reader *reader, uint64_t offset, void *bytes, size_t size_bytes)
{
    ssize_t count = read_at(reader->fd, offset, bytes, size_bytes);

    if (count < 0)
        return end_with(reader, STREAM_FAILED, (int)-count, "the file cannot be read there");
    if ((size_t)count < size_bytes)
        return end_cut_off(reader, "the file ends within a chunk or the footer");
    return true;
}

static bool take_footer(struct stream_reader *reader)
{
    struct stream_end *end = &reader->end;
    struct trace_footer footer;
    uint8_t behind;
    ssize_t count;

    if (!read_whole(reader, end->offset, &footer, sizeof(footer)))
        return false;
    if (footer.magic != TRACE_FOOTER_MAGIC)
        return end_damaged(reader, "neither a chunk nor the footer begins there");
    if (footer.crc != crc32c(0, &footer, offsetof(struct trace_footer, crc)))
        return end_damaged(reader, "the footer has the wrong sum");
    if (footer.chunk_count != end->chunk_count || footer.raw_bytes != end->raw_bytes ||
        footer.stored_bytes != end->stored_bytes || footer.lost_bytes < end->lost_bytes)
        return end_damaged(reader, "the footer belongs to another stream");
    count = read_at(reader->fd, end->offset + sizeof(footer), &behind, 1);
    if (count != 0)
        return end_damaged(reader, "something follows the footer");
    end->lost_behind = footer.lost_bytes - end->lost_bytes;
    end->lost_bytes = footer.lost_bytes;
    end->offset += sizeof(footer);
    end->footer = footer;
    return end_with(reader, STREAM_COMPLETE, 0, NULL);
}

/* Streams of threads may be in pieces. */
static bool can_go_on(const struct trace_stream_header *header)
{
    return header->kind == TRACE_STREAM_INDEX || header->kind == TRACE_STREAM_DETAIL;
}

static bool check_chunk(struct stream_reader *reader, const struct trace_chunk *chunk)
{
    uint64_t marks_bytes = chunk->flags & TRACE_CHUNK_MARKS ? MARKS_BYTES_MAX : 0;
    bool is_smaller = (chunk->flags & (TRACE_CHUNK_ZSTD | TRACE_CHUNK_PACKED)) != 0;

    if (chunk->crc != crc32c(0, chunk, offsetof(struct trace_chunk, crc)))
        return end_damaged(reader, "the chunk's header has the wrong sum");
    if (reader->end.chunk_count == 0 && can_go_on(&reader->header))
        reader->end.first_sequence = chunk->sequence;
    if (chunk->sequence != reader->end.first_sequence + reader->end.chunk_count)
        return end_damaged(reader, "the chunk is not the next in sequence");
    if ((chunk->flags & ~(uint32_t)TRACE_CHUNK_FLAGS) != 0)
        return end_with(reader, STREAM_FAILED, EOPNOTSUPP, "the chunk is stored in a way that this gait does not know");
    if (chunk->raw_bytes > TRACE_CHUNK_BYTES_MAX || chunk->stored_bytes > chunk->raw_bytes + marks_bytes ||
        (is_smaller ? chunk->stored_bytes >= chunk->raw_bytes + marks_bytes : chunk->stored_bytes < chunk->raw_bytes))
        return end_damaged(reader, "the chunk has an impossible size");
    return true;
}

/* Reads what is stored, and the zeroes behind it. */
static bool read_stored(struct stream_reader *reader, const struct trace_chunk *chunk)
{
    uint64_t offset = reader->end.offset + sizeof(*chunk), padded = trace_padded(chunk->stored_bytes);
    struct stat status;

    if (fstat(reader->fd, &status) != 0)
        return end_with(reader, STREAM_FAILED, errno, "the size of the file cannot be read");
    if ((uint64_t)status.st_size < offset + padded)
        return end_cut_off(reader, "the file ends within a chunk or the footer");
    if (!reserve(reader, &reader->stored, padded) || !read_whole(reader, offset, reader->stored.bytes, padded))
        return false;
    for (uint64_t i = chunk->stored_bytes; i < padded; i++)
        if (reader->stored.bytes[i] != 0)
            return end_damaged(reader, "the chunk is not followed by zeroes");
    if (chunk->data_crc != crc32c(0, reader->stored.bytes, chunk->stored_bytes))
        return end_damaged(reader, "the chunk's bytes have the wrong sum");
    return true;
}

/* Bytes that are not used up yet. */
struct span {
    const uint8_t *bytes;
    size_t size_bytes;
};

/* How large what is compressed was. What is not only records knows that itself; more than that is not believed. */
static int decompressed_size(const struct trace_chunk *chunk, struct span stored, uint64_t *size_out)
{
    int result;

    *size_out = chunk->raw_bytes;
    if (!(chunk->flags & (TRACE_CHUNK_PACKED | TRACE_CHUNK_MARKS)))
        return 0;
    result = compression_size(stored.bytes, stored.size_bytes, size_out);
    if (result == 0 && *size_out > (uint64_t)chunk->raw_bytes + MARKS_BYTES_MAX)
        return -EPROTO;
    return result;
}

static bool take_counts(struct stream_reader *reader, const struct trace_chunk *chunk, struct span *span,
                        struct stream_chunk *chunk_out)
{
    struct trace_counts counts = {.count = 0};
    uint64_t size_bytes = 0;

    if (!(chunk->flags & TRACE_CHUNK_COUNTS))
        return true;
    if (span->size_bytes >= sizeof(counts)) {
        memcpy(&counts, span->bytes, sizeof(counts));
        size_bytes = trace_counts_bytes(counts.count);
    }
    if (size_bytes == 0 || size_bytes > TRACE_COUNTS_BYTES_MAX || size_bytes > span->size_bytes ||
        counts.crc != record_counts_sum(span->bytes, counts.count))
        return end_damaged(reader, "the chunk's counts cannot be read");
    chunk_out->counts = (const void *)(span->bytes + sizeof(counts));
    chunk_out->count_count = counts.count;
    *span = (struct span){span->bytes + size_bytes, span->size_bytes - size_bytes};
    return true;
}

static bool decompress(struct stream_reader *reader, const struct trace_chunk *chunk, struct span *span)
{
    uint64_t size;
    int result;

    if (!(chunk->flags & TRACE_CHUNK_ZSTD))
        return true;
    result = decompressed_size(chunk, *span, &size);
    if (result == 0) {
        if (!reserve(reader, &reader->plain, size))
            return false;
        result = compression_undo(span->bytes, span->size_bytes, reader->plain.bytes, size);
    }
    if (result == -EOPNOTSUPP)
        return end_with(reader, STREAM_FAILED, -result, "it is compressed, and this gait was built without libzstd");
    if (result != 0)
        return end_damaged(reader, "the chunk's bytes cannot be decompressed");
    *span = (struct span){reader->plain.bytes, size};
    return true;
}

static bool marks_are_sorted(const struct trace_mark *marks, uint32_t count, uint32_t raw_bytes)
{
    for (uint32_t i = 0; i < count; i++)
        if (marks[i].offset <= (i == 0 ? 0 : marks[i - 1].offset) || marks[i].offset >= raw_bytes ||
            (i > 0 && marks[i].time < marks[i - 1].time))
            return false;
    return true;
}

static bool take_marks(struct stream_reader *reader, const struct trace_chunk *chunk, struct span *span,
                       struct stream_chunk *chunk_out)
{
    const struct trace_marks *marks = (const void *)span->bytes;
    size_t marks_bytes;

    if (!(chunk->flags & TRACE_CHUNK_MARKS))
        return true;
    if (span->size_bytes < sizeof(*marks) || marks->count > TRACE_MARKS_MAX)
        return end_damaged(reader, "the chunk's marks cannot be read");
    marks_bytes = sizeof(*marks) + marks->count * sizeof(struct trace_mark);
    if (span->size_bytes < marks_bytes || !marks_are_sorted((const void *)(marks + 1), marks->count, chunk->raw_bytes))
        return end_damaged(reader, "the chunk's marks cannot be read");
    chunk_out->marks = (const void *)(marks + 1);
    chunk_out->mark_count = marks->count;
    *span = (struct span){span->bytes + marks_bytes, span->size_bytes - marks_bytes};
    return true;
}

/* Into the buffer for that, which has the room. -EPROTO: it cannot be; -ENOMEM. */
static int undo_packing(struct stream_reader *reader, struct span span, size_t raw_bytes)
{
    struct packing_source packed = {span.bytes, span.size_bytes};
    struct event_format format = event_format_of(reader->header.events, reader->header.with_times != 0);

    if (reader->header.kind == TRACE_STREAM_KERNEL_EVENTS) {
        if (reader->kernel_predictor == NULL && kernel_predictor_create(&reader->kernel_predictor) != 0)
            return -ENOMEM;
        return kernel_packing_undo(reader->kernel_predictor, span.bytes, span.size_bytes, reader->raw.bytes, raw_bytes);
    }
    if (reader->predictor == NULL && record_predictor_create(&reader->predictor) != 0)
        return -ENOMEM;
    return record_packing_undo(reader->predictor, format, packed, reader->raw.bytes, raw_bytes);
}

static bool unpack(struct stream_reader *reader, const struct trace_chunk *chunk, struct span *span)
{
    int result;

    if (!(chunk->flags & TRACE_CHUNK_PACKED))
        return span->size_bytes == chunk->raw_bytes || end_damaged(reader, "the chunk has an impossible size");
    if (!reserve(reader, &reader->raw, chunk->raw_bytes))
        return false;
    result = undo_packing(reader, *span, chunk->raw_bytes);
    if (result == -ENOMEM)
        return end_with(reader, STREAM_FAILED, ENOMEM, "there is no memory for it");
    if (result != 0)
        return end_damaged(reader, "the chunk's records cannot be unpacked");
    *span = (struct span){reader->raw.bytes, chunk->raw_bytes};
    return true;
}

/* From what is stored to what was to be. */
static bool decode(struct stream_reader *reader, const struct trace_chunk *chunk, struct stream_chunk *chunk_out)
{
    struct span span = {reader->stored.bytes, chunk->stored_bytes};

    if (!take_counts(reader, chunk, &span, chunk_out) || !decompress(reader, chunk, &span) ||
        !take_marks(reader, chunk, &span, chunk_out) || !unpack(reader, chunk, &span))
        return false;
    chunk_out->bytes = span.bytes;
    chunk_out->size_bytes = span.size_bytes;
    return true;
}

/* Reads the header of what comes next, if it is a chunk. */
static bool read_chunk_header(struct stream_reader *reader, struct trace_chunk *chunk)
{
    ssize_t count = read_at(reader->fd, reader->end.offset, chunk, sizeof(*chunk));

    if (count < 0)
        return end_with(reader, STREAM_FAILED, (int)-count, "the file cannot be read there");
    if (count == 0)
        return end_cut_off(reader, "there is no footer");
    if ((size_t)count >= sizeof(chunk->magic) && chunk->magic != TRACE_CHUNK_MAGIC)
        return take_footer(reader);
    if ((size_t)count < sizeof(*chunk))
        return end_cut_off(reader, "the file ends within a chunk or the footer");
    return check_chunk(reader, chunk);
}

/* It was read, or passed over. */
static void leave_chunk(struct stream_end *end, const struct trace_chunk *chunk)
{
    end->chunk_count++;
    end->offset += sizeof(*chunk) + trace_padded(chunk->stored_bytes);
    end->raw_bytes += chunk->raw_bytes;
    end->stored_bytes += chunk->stored_bytes;
    end->lost_bytes += chunk->lost_before;
    end->last_time = chunk->last_time;
}

/* Whether a good chunk comes next, all of which happened before that time. The footer, and what is wrong, is not. */
static bool is_before(struct stream_reader *reader, uint64_t before, struct trace_chunk *chunk)
{
    const struct stream_end *end = &reader->end;
    struct stat status;

    return end->state == STREAM_READING &&
           read_at(reader->fd, end->offset, chunk, sizeof(*chunk)) == (ssize_t)sizeof(*chunk) &&
           chunk->magic == TRACE_CHUNK_MAGIC && check_chunk(reader, chunk) && chunk->last_time <= before &&
           fstat(reader->fd, &status) == 0 &&
           (uint64_t)status.st_size >= end->offset + sizeof(*chunk) + trace_padded(chunk->stored_bytes);
}

uint64_t stream_reader_skip(struct stream_reader *reader, uint64_t before)
{
    struct trace_chunk chunk;
    uint64_t count = 0;

    for (; is_before(reader, before, &chunk); count++)
        leave_chunk(&reader->end, &chunk);
    return count;
}

/* The counts of a chunk, into the buffer for what is stored. False: there are none that are good. */
static bool read_counts(struct stream_reader *reader, const struct trace_chunk *chunk, struct trace_counts *counts)
{
    uint64_t offset = reader->end.offset + sizeof(*chunk), size_bytes;

    if (!(chunk->flags & TRACE_CHUNK_COUNTS) || chunk->stored_bytes < sizeof(*counts) ||
        read_at(reader->fd, offset, counts, sizeof(*counts)) != (ssize_t)sizeof(*counts))
        return false;
    size_bytes = trace_counts_bytes(counts->count);
    return size_bytes <= TRACE_COUNTS_BYTES_MAX && size_bytes <= chunk->stored_bytes &&
           reserve(reader, &reader->stored, size_bytes) &&
           read_at(reader->fd, offset, reader->stored.bytes, size_bytes) == (ssize_t)size_bytes &&
           counts->crc == record_counts_sum(reader->stored.bytes, counts->count);
}

bool stream_reader_glance(struct stream_reader *reader, uint64_t before, struct stream_glance *glance_out)
{
    struct trace_counts counts;

    if (!is_before(reader, before, &reader->glanced))
        return false;
    *glance_out = (struct stream_glance){
        .last_time = reader->glanced.last_time,
        .is_behind_gap = reader->glanced.lost_before != 0 || (reader->glanced.flags & TRACE_CHUNK_GAP) != 0,
    };
    if (!read_counts(reader, &reader->glanced, &counts))
        return true;
    glance_out->has_counts = true;
    glance_out->lowest_depth = counts.lowest_depth;
    glance_out->counts = (const void *)(reader->stored.bytes + sizeof(counts));
    glance_out->count = counts.count;
    return true;
}

void stream_reader_pass(struct stream_reader *reader)
{
    leave_chunk(&reader->end, &reader->glanced);
}

struct stream_place stream_reader_place(const struct stream_reader *reader)
{
    return (struct stream_place){reader->end.offset, reader->end.chunk_count, reader->end.first_sequence};
}

void stream_reader_return(struct stream_reader *reader, struct stream_place place)
{
    reader->end.state = STREAM_READING;
    reader->end.offset = place.offset;
    reader->end.chunk_count = place.chunk_count;
    reader->end.first_sequence = place.first_sequence;
}

bool stream_reader_next(struct stream_reader *reader, struct stream_chunk *chunk_out)
{
    struct stream_end *end = &reader->end;
    struct trace_chunk chunk;
    struct stream_chunk made = {.mark_count = 0};

    if (end->state != STREAM_READING || !read_chunk_header(reader, &chunk) || !read_stored(reader, &chunk) ||
        !decode(reader, &chunk, &made))
        return false;
    made.first_time = chunk.first_time;
    made.last_time = chunk.last_time;
    made.lost_before = chunk.lost_before;
    made.sequence = chunk.sequence;
    made.offset = end->offset;
    made.has_gap_before = (chunk.flags & TRACE_CHUNK_GAP) != 0;
    *chunk_out = made;
    leave_chunk(end, &chunk);
    return true;
}

int stream_end_explain(const struct stream_end *end, const char *path, struct gait_error *err)
{
    static const char *const states[] = {
        [STREAM_READING] = "reading was ended",
        [STREAM_COMPLETE] = "it is complete",
        [STREAM_CUT_OFF] = "it is cut off",
        [STREAM_DAMAGED] = "it is damaged",
        [STREAM_FAILED] = "it cannot be read further",
    };

    return error_set(err, end->code,
                     "cannot read all of '%s': %s after chunk %" PRIu64 ", at byte %" PRIu64 ": %s; try 'gait verify'",
                     path, states[end->state], end->chunk_count, end->offset, end->reason);
}

bool stream_error_is_cut_off(const struct gait_error *err)
{
    return err->code == ENODATA;
}

bool stream_error_outweighs(const struct gait_error *why, const struct gait_error *known)
{
    return known != NULL && why->code != 0 &&
           (known->code == 0 || (stream_error_is_cut_off(known) && !stream_error_is_cut_off(why)));
}

int stream_end_check(const struct stream_end *end, const char *path, struct gait_error *err)
{
    if (end->state == STREAM_COMPLETE)
        return 0;
    stream_end_explain(end, path, err);
    return -EPROTO;
}
