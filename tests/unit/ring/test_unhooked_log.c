/* SPDX-License-Identifier: MIT */
#include "ring/unhooked_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

#include <stdio.h>
#include <string.h>

static struct ring_region *ring;
static struct ring_reader *reader;
static struct ring_unhooked seen[2 * RING_UNHOOKED_KEPT];

static void begin(void)
{
    static const struct ring_options options;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
}

static void end(void)
{
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static void add(unsigned number, bool is_named)
{
    struct ring_unhooked unhooked = {.is_named = is_named, .why = "it is too short"};

    snprintf(unhooked.name, sizeof(unhooked.name), "app!f%u", number);
    unhooked_log_add(ring, &unhooked);
}

static void what_was_told_is_read(void)
{
    begin();
    CHECK_EQUAL(unhooked_log_count(reader), 0);
    CHECK_EQUAL(unhooked_log_read(reader, seen, RING_UNHOOKED_KEPT), 0);
    add(1, true);
    add(2, false);
    CHECK_EQUAL(unhooked_log_count(reader), 2);
    CHECK_EQUAL(unhooked_log_read(reader, seen, 1), 1);
    CHECK_EQUAL(unhooked_log_read(reader, seen, RING_UNHOOKED_KEPT), 2);
    CHECK_TEXT(seen[0].name, "app!f1");
    CHECK_TEXT(seen[0].why, "it is too short");
    CHECK(seen[0].is_named);
    CHECK_TEXT(seen[1].name, "app!f2");
    CHECK(!seen[1].is_named);
    end();
}

static void the_first_ones_are_kept_and_all_are_counted(void)
{
    begin();
    for (unsigned i = 0; i < 3 * RING_UNHOOKED_KEPT; i++)
        add(i, true);
    CHECK_EQUAL(unhooked_log_count(reader), 3 * RING_UNHOOKED_KEPT);
    CHECK_EQUAL(unhooked_log_read(reader, seen, 2 * RING_UNHOOKED_KEPT), RING_UNHOOKED_KEPT);
    CHECK_TEXT(seen[0].name, "app!f0");
    end();
}

static void texts_that_do_not_end_are_ended(void)
{
    struct ring_unhooked unhooked = {.is_named = true};

    begin();
    memset(unhooked.name, 'a', sizeof(unhooked.name));
    memset(unhooked.why, 'b', sizeof(unhooked.why));
    unhooked_log_add(ring, &unhooked);
    CHECK_EQUAL(unhooked_log_read(reader, seen, 1), 1);
    CHECK_EQUAL(strlen(seen[0].name), RING_UNHOOKED_NAME_BYTES - 1);
    CHECK_EQUAL(strlen(seen[0].why), RING_UNHOOKED_WHY_BYTES - 1);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_told_is_read),
    CHECK_CASE(the_first_ones_are_kept_and_all_are_counted),
    CHECK_CASE(texts_that_do_not_end_are_ended),
};

CHECK_MAIN(cases)
