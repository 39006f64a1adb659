/* SPDX-License-Identifier: MIT */
/*
 * A chunk begins at a multiple of TRACE_ALIGNMENT and its header has a sum of its own, so it is recognized anywhere.
 * One whose bytes are damaged, too, counts as one that follows: somebody may know how to read it.
 */
#include "trace/stream_repair.h"

#include "hosted/error_text.h"
#include "trace/crc32c.h"
#include "trace/stream_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES 8192

static bool is_chunk(const uint8_t *bytes, uint64_t sequence_after)
{
    struct trace_chunk chunk;

    memcpy(&chunk, bytes, sizeof(chunk));
    return chunk.magic == TRACE_CHUNK_MAGIC && chunk.sequence > sequence_after &&
           chunk.crc == crc32c(0, &chunk, offsetof(struct trace_chunk, crc));
}

/* Whether a chunk that comes later than number `sequence` begins somewhere from `offset` on. Negative: -errno. */
static int has_chunk_behind(int fd, uint64_t offset, uint64_t sequence)
{
    uint8_t window[WINDOW_BYTES + sizeof(struct trace_chunk)];

    for (;; offset += WINDOW_BYTES) {
        ssize_t count = pread(fd, window, sizeof(window), (off_t)offset);

        if (count < 0)
            return -errno;
        for (size_t at = 0; at < WINDOW_BYTES && at + sizeof(struct trace_chunk) <= (size_t)count;
             at += TRACE_ALIGNMENT)
            if (is_chunk(window + at, sequence))
                return 1;
        if ((size_t)count < sizeof(window))
            return 0;
    }
}

static int write_footer(int fd, const struct stream_end *end)
{
    struct trace_footer footer = {
        .magic = TRACE_FOOTER_MAGIC,
        .chunk_count = end->chunk_count,
        .raw_bytes = end->raw_bytes,
        .stored_bytes = end->stored_bytes,
        .lost_bytes = end->lost_bytes,
        .ended = {.counter = end->last_time},
        .flags = TRACE_FOOTER_REPAIRED,
    };

    footer.crc = crc32c(0, &footer, offsetof(struct trace_footer, crc));
    if (ftruncate(fd, (off_t)end->offset) != 0)
        return -errno;
    errno = EIO;
    if (pwrite(fd, &footer, sizeof(footer), (off_t)end->offset) != (ssize_t)sizeof(footer) || fsync(fd) != 0)
        return -errno;
    return 0;
}

static int repair(int fd, const char *path, const struct stream_end *end, struct stream_repair *repair_out,
                  struct gait_error *err)
{
    struct stat status;
    int result =
        fstat(fd, &status) == 0 ? has_chunk_behind(fd, end->offset, end->first_sequence + end->chunk_count) : -errno;

    if (result > 0)
        return error_set(err, EBUSY,
                         "cannot repair '%s': good chunks follow the damage at byte %" PRIu64 ", and would be lost; it "
                         "is left as it is",
                         path, end->offset);
    if (result == 0)
        result = write_footer(fd, end);
    if (result < 0)
        return error_set(err, result, "cannot repair '%s': %s; try again where it can be written", path,
                         strerror(-result));
    *repair_out = (struct stream_repair){
        .cut_bytes = (uint64_t)status.st_size > end->offset ? (uint64_t)status.st_size - end->offset : 0,
        .chunk_count = end->chunk_count,
    };
    return 0;
}

int stream_repair_run(int folder, const char *path, const struct stream_end *end, struct stream_repair *repair_out,
                      struct gait_error *err)
{
    int fd = openat(folder, path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int result;

    if (fd < 0)
        return error_set(err, errno, "cannot repair '%s': %s; try as the user who recorded it", path, strerror(errno));
    result = repair(fd, path, end, repair_out, err);
    close(fd);
    return result;
}
