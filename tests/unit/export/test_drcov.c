/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/export_format.h"

#include "support/check.h"
#include "support/coverage_lab.h"

#include <errno.h>

static struct coverage_lab lab;
static struct gait_error err;
static char *output;
static size_t output_bytes;

static int write_lab(enum coverage_lab_events events)
{
    const size_t threads[] = {0};
    struct export_job job = {.trace = &lab.trace, .threads = threads, .thread_count = 1, .to_ns = UINT64_MAX};
    int result;

    coverage_lab_init(&lab, events);
    job.stream = open_memstream(&output, &output_bytes);
    result = export_formats_find("drcov")->write(&job, &err);
    fclose(job.stream);
    return result;
}

static void end(void)
{
    free(output);
    coverage_lab_deinit(&lab);
}

/* Where the table of blocks begins; how many there are is as its heading says. */
static const uint8_t *find_blocks(uint64_t count)
{
    char heading[64];
    const char *place;

    snprintf(heading, sizeof(heading), "\nBB Table: %" PRIu64 " bbs\n", count);
    place = strstr(output, heading);
    CHECK(place != NULL);
    if (place == NULL)
        exit(1);
    place += strlen(heading);
    CHECK_EQUAL(output + output_bytes - place, 8 * count);
    return (const uint8_t *)place;
}

static uint64_t number_at(const uint8_t *place, size_t byte_count)
{
    uint64_t number = 0;

    memcpy(&number, place, byte_count);
    return number;
}

static void blocks_are_told_from_where_the_module_begins(void)
{
    const uint8_t *blocks;
    char module[4200];

    CHECK_EQUAL(write_lab(COVERAGE_LAB_BLOCKS), 0);
    CHECK(strstr(output, "DRCOV VERSION: 2\nDRCOV FLAVOR: gait\nModule Table: version 2, count 1\n"
                         "Columns: id, base, end, entry, path\n  0, 0x") == output);
    snprintf(module, sizeof(module), ", 0x0000000000000000, %s\n", lab.path);
    CHECK(strstr(output, module) != NULL);
    blocks = find_blocks(2);
    CHECK_EQUAL(number_at(blocks, 4) % 4096, (uint64_t)(uintptr_t)coverage_lab_ran % 4096);
    CHECK_EQUAL(number_at(blocks + 4, 2), 8);
    CHECK_EQUAL(number_at(blocks + 6, 2), 0);
    CHECK_EQUAL(number_at(blocks + 8, 4), number_at(blocks, 4) + 4);
    end();
}

/* Nobody knows how much of a function ran, but that it began. */
static void calls_are_told_by_their_first_byte(void)
{
    const uint8_t *blocks;

    CHECK_EQUAL(write_lab(COVERAGE_LAB_CALLS), 0);
    blocks = find_blocks(2);
    CHECK_EQUAL(number_at(blocks + 4, 2), 1);
    CHECK_EQUAL(number_at(blocks + 12, 2), 1);
    end();
    CHECK_EQUAL(write_lab(COVERAGE_LAB_HOOKS), 0);
    blocks = find_blocks(1);
    CHECK_EQUAL(number_at(blocks, 4) % 4096, (uint64_t)(uintptr_t)coverage_lab_called % 4096);
    end();
}

static void what_is_needed_is_told(void)
{
    struct export_job job = {.trace = &lab.trace, .to_ns = UINT64_MAX};

    coverage_lab_init(&lab, COVERAGE_LAB_BLOCKS);
    job.stream = open_memstream(&output, &output_bytes);
    CHECK_EQUAL(export_formats_find("drcov")->write(&job, &err), -ENOENT);
    fclose(job.stream);
    CHECK(strstr(err.text, "--follow block") != NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(blocks_are_told_from_where_the_module_begins),
    CHECK_CASE(calls_are_told_by_their_first_byte),
    CHECK_CASE(what_is_needed_is_told),
};

CHECK_MAIN(cases)
