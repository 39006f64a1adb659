/* SPDX-License-Identifier: MIT */
#include "record/window_list.h"

#include "support/check.h"

static bool open_window(struct window_list *list, uint64_t from, uint64_t to)
{
    bool is_new = false;

    CHECK_EQUAL(window_list_open(list, &(struct manifest_window){.from = from, .to = to}, &is_new), 0);
    return is_new;
}

static void windows_that_touch_are_one(void)
{
    struct window_list list = {.count = 0};

    CHECK(open_window(&list, 100, 200));
    CHECK(!open_window(&list, 150, 250));
    CHECK(!open_window(&list, 250, 300));
    CHECK(!open_window(&list, 110, 120));
    CHECK(open_window(&list, 301, 400));
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(list.windows[0].from, 100);
    CHECK_EQUAL(list.windows[0].to, 300);
    CHECK_EQUAL(list.windows[1].from, 301);
    window_list_deinit(&list);
}

static void what_is_behind_the_last_window_is_not_wanted(void)
{
    struct window_list list = {.count = 0};

    CHECK(!window_list_wants(&list, 0));
    open_window(&list, 100, 200);
    CHECK(window_list_wants(&list, 100));
    CHECK(window_list_wants(&list, 200));
    CHECK(!window_list_wants(&list, 201));
    window_list_deinit(&list);
}

static void a_window_ends_with_the_recording(void)
{
    struct window_list list = {.count = 0};

    window_list_end_at(&list, 5);
    open_window(&list, 100, 200);
    window_list_end_at(&list, 300);
    CHECK_EQUAL(list.windows[0].to, 200);
    window_list_end_at(&list, 150);
    CHECK_EQUAL(list.windows[0].to, 150);
    window_list_end_at(&list, 50);
    CHECK_EQUAL(list.windows[0].to, 100);
    window_list_deinit(&list);
}

static void there_may_be_many(void)
{
    struct window_list list = {.count = 0};

    for (uint64_t i = 0; i < 1000; i++)
        CHECK(open_window(&list, i * 10 + 5, i * 10 + 9));
    CHECK_EQUAL(list.count, 1000);
    CHECK_EQUAL(list.windows[999].to, 9999);
    window_list_deinit(&list);
}

static const struct check_case cases[] = {
    CHECK_CASE(windows_that_touch_are_one),
    CHECK_CASE(what_is_behind_the_last_window_is_not_wanted),
    CHECK_CASE(a_window_ends_with_the_recording),
    CHECK_CASE(there_may_be_many),
};

CHECK_MAIN(cases)
