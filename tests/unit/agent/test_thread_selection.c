/* SPDX-License-Identifier: MIT */
#include "agent/thread_selection.h"

#include "stalker/exclusion.h"
#include "support/agent_lab.h"
#include "support/check_apart.h"

static const struct thread_chooser *chooser;

static void begin(void)
{
    chooser = thread_selection_begin(&agent_lab.options, agent_lab.ring);
}

static bool wants(int tid, const char *name)
{
    return chooser->wants(chooser->context, tid, name);
}

static void without_patterns_of_threads_all_are_meant(void)
{
    agent_lab_begin(0, RING_DROP);
    begin();
    CHECK(chooser == NULL);
    agent_lab_add_pattern(AGENT_PATTERN_EXCLUDE, "work*");
    begin();
    CHECK(chooser == NULL);
}

static void threads_are_meant_by_their_names(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_DETAIL, "other");
    agent_lab_add_pattern(AGENT_PATTERN_THREAD, "work*");
    agent_lab_add_pattern(AGENT_PATTERN_THREAD, "drain");
    begin();
    CHECK(!wants(10, "main"));
    CHECK(!wants(10, ""));
    CHECK(!wants(10, "other"));
    CHECK(!wants(10, "drains"));
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 0);
    CHECK(wants(10, "worker 1"));
    /* Told by their numbers among all patterns. */
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 1);
    CHECK(wants(11, "drain"));
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 1 | 1u << 2);
}

static void threads_are_meant_by_their_numbers(void)
{
    uint32_t which;

    agent_lab_begin(0, RING_DROP);
    which = agent_lab_add_pattern(AGENT_PATTERN_THREAD, "4711");
    agent_lab.options.patterns[which].number = 4711;
    begin();
    CHECK(wants(4711, "main"));
    CHECK(!wants(4712, "main"));
    /* Or by a name that looks so. */
    CHECK(wants(4712, "4711"));
    /* A pattern without a number means none. */
    agent_lab.options.patterns[which].number = 0;
    begin();
    CHECK(!wants(0, "main"));
}

static void patterns_are_kept_as_they_were(void)
{
    agent_lab_begin(0, RING_DROP);
    agent_lab_add_pattern(AGENT_PATTERN_THREAD, "one");
    begin();
    memset(agent_lab.options.patterns, 0, sizeof(agent_lab.options.patterns[0]));
    CHECK(wants(10, "one"));
    /* Those of a session that ended do not count. */
    agent_lab.options.pattern_count = 0;
    agent_lab_add_pattern(AGENT_PATTERN_THREAD, "two");
    begin();
    CHECK(!wants(10, "one"));
}

/* The options come from another process. */
static void patterns_without_an_end_and_too_many_do_no_harm(void)
{
    agent_lab_begin(0, RING_DROP);
    for (uint32_t i = 0; i < AGENT_PATTERNS_MAX; i++) {
        agent_lab_add_pattern(AGENT_PATTERN_THREAD, "");
        memset(agent_lab.options.patterns[i].text, '*', AGENT_PATTERN_BYTES);
        memset(&agent_lab.options.patterns[i].declaration, 'y', sizeof(struct detail_declaration));
    }
    agent_lab.options.patterns[0].text[0] = 'x';
    agent_lab.options.pattern_count = UINT32_MAX;
    begin();
    CHECK(wants(10, "any"));
    CHECK_EQUAL(ring_reader_matched(agent_lab.reader), 1u << 1);
}

static const struct check_case cases[] = {
    CHECK_CASE(without_patterns_of_threads_all_are_meant),
    CHECK_CASE(threads_are_meant_by_their_names),
    CHECK_CASE(threads_are_meant_by_their_numbers),
    CHECK_CASE(patterns_are_kept_as_they_were),
    CHECK_CASE(patterns_without_an_end_and_too_many_do_no_harm),
};

CHECK_APART_MAIN(cases)
