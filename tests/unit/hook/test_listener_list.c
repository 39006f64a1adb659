/* SPDX-License-Identifier: MIT */
/* Lists of listeners: made anew for each change, with places and serials of their own. */
#include "hook/listener_list.h"

#include "support/check.h"

#include <errno.h>

static struct listener_lists lists;

static void hear(struct gait_invocation *invocation)
{
    (void)invocation;
}

static const struct hook_listeners *with(const struct hook_listeners *from, uint32_t flags, uint32_t last_serial)
{
    struct hook_listener listener = {.enter = hear, .flags = flags};

    return listener_list_with(&lists, from, &listener, last_serial);
}

static void a_listener_more_gets_a_place_and_a_serial(void)
{
    const struct hook_listeners *one, *two, *three, *without;

    listener_lists_init(&lists);
    one = with(NULL, HOOK_LISTENER_GENERAL_ONLY, 0);
    two = with(one, HOOK_LISTENER_GENERAL_ONLY, 1);
    three = with(two, 0, 2);
    CHECK_EQUAL(one->count, 1);
    CHECK_EQUAL(three->count, 3);
    CHECK_EQUAL(three->places, 3);
    CHECK_EQUAL(three->last_serial, 3);
    CHECK(two->is_general_only && !three->is_general_only);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQUAL(three->items[i].place, i);
        CHECK_EQUAL(three->items[i].serial, i + 1);
    }
    CHECK_EQUAL(listener_list_without(&lists, three, 2, &without), 0);
    CHECK_EQUAL(without->count, 2);
    CHECK_EQUAL(without->items[1].serial, 3);
    CHECK_EQUAL(without->items[1].place, 2);
    CHECK_EQUAL(without->places, 3);
    listener_list_free(&lists, three);
    three = with(without, 0, 3);
    CHECK_EQUAL(three->items[2].place, 1);
    CHECK_EQUAL(three->items[2].serial, 4);
    CHECK_EQUAL(listener_list_without(&lists, three, 2, &without), -ENOENT);
    CHECK_EQUAL(listener_list_without(&lists, one, 1, &without), 0);
    CHECK(without == NULL);
    CHECK_EQUAL(listener_list_without(&lists, NULL, 1, &without), -ENOENT);
    listener_lists_deinit(&lists);
}

static void there_may_be_a_hundred(void)
{
    const struct hook_listeners *list = NULL;

    listener_lists_init(&lists);
    for (uint32_t i = 0; i < 100; i++) {
        const struct hook_listeners *longer = with(list, 0, i);

        CHECK(longer != NULL);
        listener_list_free(&lists, list);
        list = longer;
    }
    CHECK_EQUAL(list->count, 100);
    CHECK_EQUAL(list->places, 100);
    CHECK(!listener_list_wants_leave(list));
    listener_list_free(&lists, list);
    listener_list_free(&lists, NULL);
    listener_lists_deinit(&lists);
}

static void a_retired_list_goes_when_nobody_is_in_it(void)
{
    listener_lists_init(&lists);
    listener_list_retire(&lists, NULL);
    listener_list_retire(&lists, with(NULL, 0, 0));
    CHECK(!list_is_empty(&lists.retired));
    listener_lists_collect(&lists);
    CHECK(list_is_empty(&lists.retired));
    CHECK_EQUAL(pool_used_count(&lists.pools[0]), 0);
    listener_lists_deinit(&lists);
}

int main(void)
{
    static const struct check_case cases[] = {
        CHECK_CASE(a_listener_more_gets_a_place_and_a_serial),
        CHECK_CASE(there_may_be_a_hundred),
        CHECK_CASE(a_retired_list_goes_when_nobody_is_in_it),
    };

    return check_run(cases, sizeof(cases) / sizeof(cases[0]));
}
