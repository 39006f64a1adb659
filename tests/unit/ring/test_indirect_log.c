/* SPDX-License-Identifier: MIT */
#include "ring/indirect_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <string.h>

static void names_are_told_as_far_as_there_is_room(void)
{
    static const struct ring_options options;
    static struct ring_indirect seen[2 * RING_INDIRECT_KEPT];
    char longest[2 * RING_INDIRECT_NAME_BYTES];
    struct ring_region *ring;
    struct ring_reader *reader;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    CHECK_EQUAL(indirect_log_read(reader, seen, 4), 0);
    indirect_log_add(ring, 4096, "strcmp");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    indirect_log_add(ring, 8192, longest);
    CHECK_EQUAL(indirect_log_read(reader, seen, 1), 1);
    CHECK_EQUAL(indirect_log_read(reader, seen, 4), 2);
    CHECK_EQUAL(seen[0].address, 4096);
    CHECK_TEXT(seen[0].name, "strcmp");
    CHECK_EQUAL(strlen(seen[1].name), RING_INDIRECT_NAME_BYTES - 1);
    for (unsigned i = 0; i < 2 * RING_INDIRECT_KEPT; i++)
        indirect_log_add(ring, i, "more");
    CHECK_EQUAL(indirect_log_read(reader, seen, 2 * RING_INDIRECT_KEPT), RING_INDIRECT_KEPT);
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static const struct check_case cases[] = {
    CHECK_CASE(names_are_told_as_far_as_there_is_room),
};

CHECK_MAIN(cases)
