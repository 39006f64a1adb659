/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record/rotation.h"

#include "support/check.h"
#include "support/trace_folder.h"

#include <unistd.h>

static struct rotation rotation;

static void begin(uint64_t bytes, uint64_t age_ns, uint32_t keep)
{
    rotation_init(&rotation, &(struct rotation_options){bytes, age_ns, keep}, 1000);
    CHECK_EQUAL(rotation_piece(&rotation), 1);
}

static void size_and_age_end_a_piece(void)
{
    begin(0, 0, 0);
    CHECK(!rotation_is_due(&rotation, UINT64_MAX, UINT64_MAX));
    begin(100, 0, 0);
    CHECK(!rotation_is_due(&rotation, UINT64_MAX, 99));
    CHECK(rotation_is_due(&rotation, 1000, 100));
    CHECK_EQUAL(rotation_turn(&rotation, 2000, 7, 100), 0);
    CHECK_EQUAL(rotation_piece(&rotation), 2);
    CHECK(!rotation_is_due(&rotation, 2000, 199));
    CHECK(rotation_is_due(&rotation, 2000, 200));
    rotation_deinit(&rotation);
    begin(0, 500, 0);
    CHECK(!rotation_is_due(&rotation, 1499, 1));
    CHECK(rotation_is_due(&rotation, 1500, 1));
    /* Nothing was written. */
    CHECK(!rotation_is_due(&rotation, 5000, 0));
}

static void the_oldest_are_forgotten(void)
{
    struct manifest manifest = {.piece_count = 0};

    begin(1, 0, 2);
    rotation_describe(&rotation, &manifest);
    CHECK_EQUAL(manifest.piece_count, 0);
    for (uint64_t i = 1; i <= 4; i++)
        CHECK_EQUAL(rotation_turn(&rotation, i, 10 * i, i), 0);
    rotation_describe(&rotation, &manifest);
    CHECK_EQUAL(manifest.piece_count, 2);
    CHECK_EQUAL(manifest.pieces[0].number, 4);
    CHECK_EQUAL(manifest.pieces[0].from, 30);
    CHECK_EQUAL(manifest.pieces[1].number, 5);
    CHECK_EQUAL(manifest.pieces[1].from, 40);
    rotation_deinit(&rotation);
}

static void all_are_kept_if_nobody_says_how_many(void)
{
    begin(1, 0, 0);
    for (uint64_t i = 1; i <= 100; i++)
        CHECK_EQUAL(rotation_turn(&rotation, i, i, i), 0);
    CHECK_EQUAL(rotation.piece_count, 101);
    CHECK_EQUAL(rotation.pieces[0].number, 1);
    CHECK_EQUAL(rotation_delete_old(&rotation, "/nowhere"), 0);
    rotation_deinit(&rotation);
}

static bool has(const struct trace_folder *folder, const char *name)
{
    return faccessat(folder->fd, name, F_OK, 0) == 0;
}

static void only_streams_of_threads_are_deleted(void)
{
    static const char *const gone[] = {"7/7.1.index.gait", "7/7.1.detail.gait", "7.2/8.1.index.2.gait"};
    static const char *const left[] = {"manifest.json",         "7/modules.gait",     "7/blocks.gait",
                                       "7/7.1.index.3.gait",    "7/9.1.index.gait.x", "7/7.1.index.4.gait",
                                       "7/9.1.index.2.gait.new"};
    struct trace_folder folder;

    trace_folder_init(&folder);
    trace_folder_make(&folder, "7");
    trace_folder_make(&folder, "7.2");
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        trace_folder_write(&folder, gone[i], "12345", 5);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        trace_folder_write(&folder, left[i], "", 0);
    begin(1, 0, 2);
    CHECK_EQUAL(rotation_turn(&rotation, 1, 1, 1), 0);
    CHECK_EQUAL(rotation_delete_old(&rotation, folder.path), 0);
    CHECK(has(&folder, gone[0]));
    for (uint64_t i = 2; i <= 3; i++)
        CHECK_EQUAL(rotation_turn(&rotation, i, i, i), 0);
    CHECK_EQUAL(rotation_delete_old(&rotation, folder.path), 0);
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        CHECK(!has(&folder, gone[i]));
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        CHECK(has(&folder, left[i]));
    CHECK_EQUAL(rotation.deleted_bytes, 15);
    rotation_deinit(&rotation);
    trace_folder_deinit(&folder);
}

static const struct check_case cases[] = {
    CHECK_CASE(size_and_age_end_a_piece),
    CHECK_CASE(the_oldest_are_forgotten),
    CHECK_CASE(all_are_kept_if_nobody_says_how_many),
    CHECK_CASE(only_streams_of_threads_are_deleted),
};

CHECK_MAIN(cases)
