/* SPDX-License-Identifier: MIT */
#include "syscalls/output/system_call_filter.h"

#include "support/check.h"

static void calls_are_chosen_by_how_they_ended(void)
{
    const struct system_call_event good = {.kind = SYSTEM_CALL_LEFT, .result = 3};
    const struct system_call_event bad = {.kind = SYSTEM_CALL_LEFT, .result = -2};
    const struct system_call_event address = {.kind = SYSTEM_CALL_LEFT, .result = -5000};
    const struct system_call_event last = {.kind = SYSTEM_CALL_LEFT, .flags = SYSTEM_CALL_NEVER_RETURNS};
    const struct system_call_event begun = {.kind = SYSTEM_CALL_ENTERED};
    struct system_call_filter filter = {.hidden_statuses = SYSTEM_CALL_STATUS_FAILED};

    CHECK_EQUAL(system_call_filter_shows(&filter, &good), 1);
    CHECK_EQUAL(system_call_filter_shows(&filter, &address), 1);
    CHECK_EQUAL(system_call_filter_shows(&filter, &last), 1);
    CHECK_EQUAL(system_call_filter_shows(&filter, &bad), 0);
    filter.hidden_statuses = SYSTEM_CALL_STATUS_ALL & ~(unsigned)SYSTEM_CALL_STATUS_FAILED;
    CHECK_EQUAL(system_call_filter_shows(&filter, &bad), 1);
    CHECK_EQUAL(system_call_filter_shows(&filter, &good), 0);
    CHECK_EQUAL(system_call_filter_shows(&filter, &last), 0);
    CHECK_EQUAL(system_call_filter_shows(&filter, &begun), 1);
}

static void signals_are_chosen_by_number(void)
{
    const struct system_call_event first = {.kind = SYSTEM_CALL_SIGNALLED, .signal = 1};
    const struct system_call_event last = {.kind = SYSTEM_CALL_SIGNALLED, .signal = 64};
    const struct system_call_event killed = {.kind = SYSTEM_CALL_EXITED, .status = 64};
    const struct system_call_event ended = {.kind = SYSTEM_CALL_EXITED, .status = 64 << 8};
    const struct system_call_filter filter = {.hidden_signals = 1ull << 63};

    CHECK_EQUAL(system_call_filter_shows(&filter, &killed), 0);
    CHECK_EQUAL(system_call_filter_shows(&filter, &ended), 1);

    CHECK_EQUAL(system_call_filter_shows(&filter, &first), 1);
    CHECK_EQUAL(system_call_filter_shows(&filter, &last), 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(calls_are_chosen_by_how_they_ended),
    CHECK_CASE(signals_are_chosen_by_number),
};

CHECK_MAIN(cases)
