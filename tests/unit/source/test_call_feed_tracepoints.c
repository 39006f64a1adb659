/* SPDX-License-Identifier: MIT */
/*
 * Of the calling process's children, which under sanitizers make calls of their own.
 *
 * configurations: debug-*
 */
#define _GNU_SOURCE
#include "source/call_feed.h"

#include "support/feed_child.h"

static void all_calls_of_the_set_come_and_no_others(void)
{
    struct feed_counts counts = feed_child_watch(&call_feed_tracepoints, false);

    CHECK_EQUAL(counts.enters, FEED_CALLS + 2);
    CHECK_EQUAL(counts.leaves, FEED_CALLS + 2);
    CHECK_EQUAL(counts.others, 0);
    CHECK_EQUAL(counts.bad_arguments, 0);
    CHECK_EQUAL(counts.ends, 1);
    CHECK_EQUAL(counts.children, 0);
    CHECK_EQUAL(counts.with_memory, 0);
}

static void children_are_watched_if_asked_for(void)
{
    struct feed_counts counts = feed_child_watch(&call_feed_tracepoints, true);

    CHECK_EQUAL(counts.enters, FEED_CALLS + 3);
    CHECK_EQUAL(counts.children, 2);
    CHECK_EQUAL(counts.ends, 2);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_calls_of_the_set_come_and_no_others),
    CHECK_CASE(children_are_watched_if_asked_for),
};

CHECK_MAIN(cases)
