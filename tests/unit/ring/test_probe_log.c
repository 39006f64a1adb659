/* SPDX-License-Identifier: MIT */
#include "ring/probe_log.h"

#include "ring/ring_reader.h"
#include "ring/ring_region.h"
#include "support/check.h"

static struct ring_region *ring;
static struct ring_reader *reader;

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

static bool add(uint32_t number, const char *provider, const char *arguments)
{
    const struct ring_probe probe = {
        .address = 0x1000 + number,
        .number = number,
        .provider_bytes = (uint16_t)strlen(provider),
        .name_bytes = 4,
        .arguments_bytes = (uint16_t)strlen(arguments),
        .path_bytes = 2,
    };

    return probe_log_add(ring, &probe, (struct ring_probe_texts){provider, "name", arguments, "/x"});
}

static void what_was_told_is_read_once(void)
{
    struct probe_log_entry entry;
    uint64_t place = 0;

    begin();
    CHECK(!probe_log_next(reader, &place, &entry));
    CHECK(add(0, "shop", "-4@%eax"));
    CHECK(add(1, "other", ""));
    CHECK(probe_log_next(reader, &place, &entry));
    CHECK_EQUAL(entry.probe.address, 0x1000);
    CHECK(memcmp(entry.texts, "shopname-4@%eax/x", 17) == 0);
    CHECK(probe_log_next(reader, &place, &entry));
    CHECK_EQUAL(entry.probe.number, 1);
    CHECK(memcmp(entry.texts, "othername/x", 11) == 0);
    CHECK(!probe_log_next(reader, &place, &entry));
    CHECK(add(2, "shop", ""));
    CHECK(probe_log_next(reader, &place, &entry));
    CHECK_EQUAL(entry.probe.number, 2);
    end();
}

static void long_texts_are_cut_off(void)
{
    static char provider[2 * RING_PROBE_NAME_BYTES], arguments[2 * RING_PROBE_TEXT_BYTES];
    struct probe_log_entry entry;
    uint64_t place = 0;

    memset(provider, 'p', sizeof(provider) - 1);
    memset(arguments, 'a', sizeof(arguments) - 1);
    begin();
    CHECK(add(0, provider, arguments));
    CHECK(probe_log_next(reader, &place, &entry));
    CHECK_EQUAL(entry.probe.provider_bytes, RING_PROBE_NAME_BYTES);
    CHECK_EQUAL(entry.probe.arguments_bytes, RING_PROBE_TEXT_BYTES - RING_PROBE_NAME_BYTES - 4 - 2);
    CHECK_EQUAL(entry.texts[RING_PROBE_NAME_BYTES], 'n');
    end();
}

static void there_is_an_end_to_it(void)
{
    static char arguments[1200];
    struct probe_log_entry entry;
    uint64_t place = 0;
    uint32_t count = 0, read = 0;

    memset(arguments, 'a', sizeof(arguments) - 1);
    begin();
    while (count < 100000 && add(count, "shop", arguments))
        count++;
    CHECK(count > 1000 && count < 100000);
    while (probe_log_next(reader, &place, &entry))
        read++;
    CHECK_EQUAL(read, count);
    end();
}

static void nothing_that_others_wrote_is_trusted(void)
{
    struct probe_log_entry entry;
    uint64_t place, wrong[] = {UINT64_MAX, RING_PROBES_BYTES, 8, 47};

    begin();
    CHECK(add(0, "shop", "-4@%eax"));
    for (unsigned i = 0; i < 4; i++) {
        place = 0;
        memcpy(ring->base + RING_PROBES_OFFSET, &wrong[i], sizeof(wrong[i]));
        CHECK(!probe_log_next(reader, &place, &entry));
    }
    place = 4096;
    memcpy(ring->base + RING_PROBES_OFFSET, &place, sizeof(place));
    memset(ring->base + RING_PROBES_OFFSET + 16, 0xff, 40);
    place = 0;
    CHECK(!probe_log_next(reader, &place, &entry));
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(what_was_told_is_read_once),
    CHECK_CASE(long_texts_are_cut_off),
    CHECK_CASE(there_is_an_end_to_it),
    CHECK_CASE(nothing_that_others_wrote_is_trusted),
};

CHECK_MAIN(cases)
