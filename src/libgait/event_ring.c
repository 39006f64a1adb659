/* SPDX-License-Identifier: MIT */
/* The public face of src/ring. */
#include "libgait/event_ring_region.h"

#include "gait/event_ring.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "ring/ring_events.h"
#include "ring/ring_region.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GAIT_RING_DROP == RING_DROP && (int)GAIT_RING_BLOCK == RING_BLOCK &&
                   (int)GAIT_RING_OVERWRITE == RING_OVERWRITE,
               "passed on as they are");

struct gait_event_ring {
    struct ring_region *region;
};

struct gait_event_ring_reader {
    struct ring_events *events;
};

struct ring_region *event_ring_region(struct gait_event_ring *ring)
{
    return ring->region;
}

static int read_options(const struct gait_event_ring_options *given, struct gait_event_ring_options *options_out,
                        struct gait_error *err)
{
    static const struct options_type type = {"make a ring", "gait_event_ring_options",
                                             sizeof(struct gait_event_ring_options)};
    int result = options_read(&type, given, options_out, err);

    if (result != 0)
        return result;
    if (options_out->overflow < 0 || options_out->overflow >= (int)RING_OVERFLOWS)
        return error_set(err, EINVAL, "cannot make a ring: overflow is %d, which is none of enum gait_ring_overflow",
                         options_out->overflow);
    if (options_out->buffer_bytes != 0 &&
        (options_out->buffer_bytes < RING_BUFFER_BYTES_MIN || options_out->buffer_bytes > RING_BUFFER_BYTES_MAX))
        return error_set(err, EINVAL, "cannot make a ring: buffer_bytes is %zu; %u to %u are possible",
                         options_out->buffer_bytes, RING_BUFFER_BYTES_MIN, RING_BUFFER_BYTES_MAX);
    if (options_out->buffer_count == 1 || options_out->buffer_count > RING_BUFFERS_MAX)
        return error_set(err, EINVAL, "cannot make a ring: buffer_count is %u; 2 to %u are possible",
                         options_out->buffer_count, RING_BUFFERS_MAX);
    return 0;
}

EXPORT int gait_event_ring_create(const struct gait_event_ring_options *options, struct gait_event_ring **ring_out,
                                  struct gait_error *err)
{
    struct gait_event_ring_options read;
    struct ring_options wanted;
    struct gait_event_ring *ring;
    int result = read_options(options, &read, err);

    if (result != 0)
        return result;
    wanted = (struct ring_options){read.buffer_bytes, read.buffer_count, (enum ring_overflow)read.overflow};
    ring = calloc(1, sizeof(*ring));
    result = ring == NULL ? -ENOMEM : ring_region_create(&wanted, &ring->region);
    if (result != 0) {
        free(ring);
        return error_set(err, result, "cannot make a ring of shared memory: %s", strerror(-result));
    }
    *ring_out = ring;
    return 0;
}

EXPORT void gait_event_ring_destroy(struct gait_event_ring *ring)
{
    if (ring == NULL)
        return;
    ring_region_destroy(ring->region);
    free(ring);
}

EXPORT int gait_event_ring_fd(const struct gait_event_ring *ring)
{
    return ring->region->fd;
}

EXPORT int gait_event_ring_reader_open(int fd, struct gait_event_ring_reader **reader_out, struct gait_error *err)
{
    struct gait_event_ring_reader *reader = calloc(1, sizeof(*reader));
    int result = reader == NULL ? -ENOMEM : ring_events_open(fd, &reader->events);

    if (result == 0) {
        *reader_out = reader;
        return 0;
    }
    free(reader);
    switch (result) {
    case -EINVAL:
        return error_set(err, result, "cannot read events from descriptor %d: it is no ring of this version of gait",
                         fd);
    case -EPERM:
        return error_set(err, result,
                         "cannot read events from descriptor %d: the file may get shorter while it is read, so it is "
                         "no ring",
                         fd);
    default:
        return error_set(err, result, "cannot read events from descriptor %d: %s", fd, strerror(-result));
    }
}

EXPORT void gait_event_ring_reader_close(struct gait_event_ring_reader *reader)
{
    if (reader == NULL)
        return;
    ring_events_close(reader->events);
    free(reader);
}

EXPORT int gait_event_ring_drain(struct gait_event_ring_reader *reader,
                                 int (*receive)(void *context, const struct gait_event *events, size_t count),
                                 void *context, struct gait_error *err)
{
    const struct event_receiver receiver = {receive, context};
    int result;

    if (receive == NULL)
        return error_set(err, EINVAL, "cannot hand over events: there is no function that receives them");
    result = ring_events_drain(reader->events, &receiver);
    if (result == -EPROTO)
        return error_set(err, result,
                         "the memory that events are read from holds what no followed thread writes; of %u threads "
                         "nothing more is read",
                         reader->events->reader->broken_count);
    return result == 0 ? 0 : error_set(err, result, "cannot read all events: %s", strerror(-result));
}

EXPORT void gait_event_ring_wait(struct gait_event_ring_reader *reader, unsigned timeout_ms)
{
    ring_reader_wait(reader->events->reader, timeout_ms);
}

EXPORT uint64_t gait_event_ring_lost(const struct gait_event_ring_reader *reader)
{
    return ring_reader_lost(reader->events->reader);
}
