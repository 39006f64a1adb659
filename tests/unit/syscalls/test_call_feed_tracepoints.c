/* SPDX-License-Identifier: MIT */
/*
 * Of the calling process's children, which under sanitizers make calls of their own.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "syscalls/call_feed.h"

#include "support/feed_child.h"

static void all_calls_of_the_set_come_and_no_others(void)
{
    feed_check_calls(&call_feed_tracepoints, false);
}

static void children_are_watched_if_asked_for(void)
{
    feed_check_children(&call_feed_tracepoints);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_calls_of_the_set_come_and_no_others),
    CHECK_CASE(children_are_watched_if_asked_for),
};

CHECK_MAIN(cases)
