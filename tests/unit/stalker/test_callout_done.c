/* SPDX-License-Identifier: MIT */

#include "stalker/block_link.h"
#include "stalker/callout.h"
#include "stalker/invalidate.h"
#include "stalker/thread.h"
#include "support/check.h"
#include "support/stalker_lab.h"

#if defined(__x86_64__)

static struct stalker_lab lab;
static struct stalker_thread *const thread = &lab.thread;
static struct block *block;

static void init(void)
{
    static const struct stalker_lab_options options = {.fill = STALKER_LAB_LEAVES};

    stalker_lab_init(&lab, &options);
    block = stalker_lab_obtain(&lab, app_pc_of((uintptr_t)lab.code.base), false);
}

static void keep(uint64_t frame, uint64_t pc)
{
    thread->behind = (struct callout_behind){.cache_pc = block->entry.value, .with_position = true};
    callout_done_keep(thread, frame, pc);
}

static void what_is_kept_is_found_once_by_its_frame(void)
{
    init();
    keep(0x1000, 0x50);
    keep(0x2000, 0x60);
    thread->behind = (struct callout_behind){0};
    CHECK(!callout_done_take(thread, 0x3000, 0x50));
    CHECK(callout_done_take(thread, 0x1000, 0x50));
    CHECK_EQUAL(thread->behind.cache_pc, block->entry.value);
    CHECK(thread->behind.with_position && thread->behind.block == block);
    CHECK(!callout_done_take(thread, 0x1000, 0x50));
    /* The handler sent the thread elsewhere. */
    CHECK(!callout_done_take(thread, 0x2000, 0x61));
    CHECK(!callout_done_take(thread, 0x2000, 0x60));
    stalker_lab_deinit(&lab);
}

static void a_frame_that_is_behind_nothing_replaces_an_older_one(void)
{
    init();
    keep(0x1000, 0x50);
    thread->behind.cache_pc = 0;
    callout_done_keep(thread, 0x1000, 0x50);
    CHECK(!callout_done_take(thread, 0x1000, 0x50));
    stalker_lab_deinit(&lab);
}

static void without_room_the_outermost_is_given_up(void)
{
    init();
    for (uint64_t i = 0; i <= CALLOUTS_DONE_MAX; i++)
        keep(0x10000 - 0x100 * i, i);
    CHECK(!callout_done_take(thread, 0x10000, 0));
    for (uint64_t i = 1; i <= CALLOUTS_DONE_MAX; i++)
        CHECK(callout_done_take(thread, 0x10000 - 0x100 * i, i));
    stalker_lab_deinit(&lab);
}

static void what_is_forgotten_meanwhile_is_not_gone_back_to(void)
{
    init();
    keep(0x1000, 0x50);
    CHECK(callout_done_take(thread, 0x1000, 0x50));
    CHECK(callout_done_is_valid(thread));
    mutex_lock(&lab.cache->lock);
    block_retire(lab.cache, block);
    mutex_unlock(&lab.cache->lock);
    CHECK(!callout_done_is_valid(thread));
    /* A thread that has not been elsewhere is in it still. */
    thread->behind.block = NULL;
    CHECK(callout_done_is_valid(thread));
    stalker_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(what_is_kept_is_found_once_by_its_frame),
    CHECK_CASE(a_frame_that_is_behind_nothing_replaces_an_older_one),
    CHECK_CASE(without_room_the_outermost_is_given_up),
    CHECK_CASE(what_is_forgotten_meanwhile_is_not_gone_back_to),
};

CHECK_MAIN(cases)

#else

int main(void)
{
    check_skip("the lab is for x86-64");
}

#endif
