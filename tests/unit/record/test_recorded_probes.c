/* SPDX-License-Identifier: MIT */
#include "record/recorded_probes.h"

#include "ring/probe_log.h"
#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"
#include "trace/manifest.h"

static struct ring_region *ring;

static void add(uint32_t number, const char *name)
{
    const struct ring_probe probe = {.address = 0x1000,
                                     .number = number,
                                     .provider_bytes = 4,
                                     .name_bytes = (uint16_t)strlen(name),
                                     .path_bytes = 2};

    CHECK(probe_log_add(ring, &probe, (struct ring_probe_texts){"shop", name, "", "/x"}));
}

static void the_list_grows_with_what_is_told(void)
{
    static const struct ring_options options;
    struct manifest_process process = {.pid = 1};
    struct ring_reader *reader;
    uint64_t place = 0;
    bool has_new;

    CHECK_EQUAL(ring_region_create(&options, &ring), 0);
    CHECK_EQUAL(ring_reader_open(ring->fd, &reader), 0);
    CHECK_EQUAL(recorded_probes_take(reader, &place, &process, &has_new), 0);
    CHECK(!has_new && process.probe_count == 0);
    add(0, "order");
    CHECK_EQUAL(recorded_probes_take(reader, &place, &process, &has_new), 0);
    CHECK(has_new);
    add(1, "idle");
    /* Nobody else's numbers are believed. */
    add(7, "wrong");
    add(2, "last");
    CHECK_EQUAL(recorded_probes_take(reader, &place, &process, &has_new), 0);
    CHECK_EQUAL(recorded_probes_take(reader, &place, &process, &has_new), 0);
    CHECK(!has_new);
    CHECK_EQUAL(process.probe_count, 3);
    CHECK_TEXT(process.probes[0].name, "order");
    CHECK_TEXT(process.probes[1].provider, "shop");
    CHECK_TEXT(process.probes[1].path, "/x");
    CHECK_TEXT(process.probes[2].name, "last");
    manifest_free_probes(&process);
    CHECK_EQUAL(process.probe_count, 0);
    ring_reader_close(reader);
    ring_region_destroy(ring);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_list_grows_with_what_is_told),
};

CHECK_MAIN(cases)
