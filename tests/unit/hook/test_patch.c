/* SPDX-License-Identifier: MIT */
/* What a patch knows of the bytes that it is going to overwrite. */
#define _GNU_SOURCE
#include "hook/patch.h"

#include "process/forced_memory.h"
#include "support/check.h"

#include <errno.h>
#include <sys/mman.h>

static struct forced_memory memory;

static void the_original_bytes_are_kept_and_seen_behind_the_patch(void)
{
    uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct hook_plan plan = {.patch_at = (uintptr_t)page + 16,
                             .displaced_end = (uintptr_t)page + 23,
                             .patch_bytes = 2,
                             .hop_at = (uintptr_t)page,
                             .hop_bytes = 5,
                             .method = HOOK_HOP};
    uint8_t displaced[HOOK_DISPLACED_BYTES_MAX];
    struct patch patch;

    for (int i = 0; i < 64; i++)
        page[i] = (uint8_t)i;
    CHECK_EQUAL(forced_memory_init(&memory), 0);
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), 0);
    CHECK(!patch.is_in_place);
    page[16] = page[17] = 0xff;
    CHECK_EQUAL(patch_read_displaced(&patch, &memory, displaced), 0);
    for (int i = 0; i < 7; i++)
        CHECK_EQUAL(displaced[i], 16 + i);
    CHECK_EQUAL(patch.hop_original[4], 4);
    munmap(page, 4096);
    CHECK_EQUAL(patch_read_displaced(&patch, &memory, displaced), -EFAULT);
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), -EFAULT);
    forced_memory_deinit(&memory);
}

static void plans_that_make_no_sense_are_refused(void)
{
    const struct hook_plan good = {
        .patch_at = (uintptr_t)plans_that_make_no_sense_are_refused,
        .displaced_end = (uintptr_t)plans_that_make_no_sense_are_refused + 5,
        .patch_bytes = 5,
        .method = HOOK_JUMP,
    };
    struct hook_plan plan = good;
    struct patch patch;

    CHECK_EQUAL(forced_memory_init(&memory), 0);
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), 0);
    plan.method = HOOK_IMPOSSIBLE;
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), -EINVAL);
    plan = good;
    plan.patch_bytes = REDIRECT_BYTES_MAX + 1;
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), -EINVAL);
    plan = good;
    plan.displaced_end = plan.patch_at;
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), -EINVAL);
    plan.displaced_end = plan.patch_at + HOOK_DISPLACED_BYTES_MAX + 1;
    CHECK_EQUAL(patch_prepare(&patch, &plan, &memory), -EINVAL);
    forced_memory_deinit(&memory);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(the_original_bytes_are_kept_and_seen_behind_the_patch),
        CHECK_CASE(plans_that_make_no_sense_are_refused),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
