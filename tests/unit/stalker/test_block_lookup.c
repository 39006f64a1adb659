/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */

#include "gait/stalker.h"
#include "stalker/stalker_engine.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#include <errno.h>

static struct stalker_lab lab;

/* Two instructions of two bytes, and one that leaves. */
static struct app_pc write_block(void)
{
    struct app_pc start = stalker_lab_write_at(&lab, 0x100);

    code_writer_put_bytes(&lab.writer, "\x89\xf8\x01\xf0\xcb", 5);
    return start;
}

static void begin(uint32_t events)
{
    stalker_lab_init(&lab, &(struct stalker_lab_options){.events = events});
}

static void a_translation_is_found_by_its_start(void)
{
    struct follow_configuration other = {.events = GAIT_EVENT_RET};
    struct block_extent extent = {0};
    struct block *block;
    struct app_pc start;

    begin(0);
    start = write_block();
    CHECK_EQUAL(block_lookup(lab.engine, &lab.cache->configuration, start, &extent), -ENOENT);
    block = stalker_lab_obtain(&lab, start, false);
    CHECK_EQUAL(block_lookup(lab.engine, &lab.cache->configuration, start, &extent), 0);
    CHECK_EQUAL(extent.start.value, start.value);
    CHECK_EQUAL(extent.size_bytes, block->size_bytes);
    CHECK_EQUAL(extent.code.value, block->entry.value);
    /* Its last branch is in there. */
    CHECK(extent.code_bytes > block->exits[0].place && extent.code_bytes < 100);
    start.value += 2;
    CHECK_EQUAL(block_lookup(lab.engine, &lab.cache->configuration, start, &extent), -ENOENT);
    start.value -= 2;
    CHECK_EQUAL(block_lookup(lab.engine, &other, start, &extent), -ENOENT);
    stalker_lab_deinit(&lab);
}

/* From the first instruction of the program's to the last, in order, each at its place. */
static void check_places(uint32_t events)
{
    struct follow_configuration other = {.events = GAIT_EVENT_RET | GAIT_EVENT_EXEC};
    struct block_extent extent = {0};
    struct x86_insn insns[64];
    uint64_t last, place;
    struct app_pc start, original = {0};
    size_t count, known = 0;

    begin(events);
    start = write_block();
    stalker_lab_obtain(&lab, start, false);
    CHECK_EQUAL(block_lookup(lab.engine, &lab.cache->configuration, start, &extent), 0);
    count = stalker_lab_decode(extent.code, extent.code_bytes, insns, 64);
    CHECK(count > 0);
    place = extent.code.value;
    last = start.value;
    for (size_t i = 0; i < count; i++) {
        if (block_lookup_original(lab.engine, &lab.cache->configuration, cache_pc_of(place), &original) == 0) {
            CHECK(original.value >= last && original.value <= start.value + extent.size_bytes);
            last = original.value;
            known++;
        }
        place += insns[i].length;
    }
    CHECK(known >= 2);
    CHECK(last >= start.value + 2);
    CHECK_EQUAL(block_lookup_original(lab.engine, &other, extent.code, &original), -ENOENT);
    CHECK_EQUAL(block_lookup_original(lab.engine, &lab.cache->configuration, cache_pc_of(start.value), &original),
                -ENOENT);
    CHECK_EQUAL(block_lookup_original(lab.engine, &lab.cache->configuration, cache_pc_of(0), &original), -ENOENT);
    stalker_lab_deinit(&lab);
}

static void places_stand_for_instructions(void)
{
    check_places(0);
    check_places(GAIT_EVENT_BLOCK);
    check_places(GAIT_EVENT_EXEC | GAIT_EVENT_CALL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_translation_is_found_by_its_start),
    CHECK_CASE(places_stand_for_instructions),
};

CHECK_MAIN(cases)
