/* SPDX-License-Identifier: MIT */
#include "gait/counter.h"

#include "base/counters.h"
#include "support/check.h"

#include <string.h>

struct seen {
    unsigned count;
    unsigned wanted;
    uint64_t linked;
};

static bool see(void *context, const struct gait_counter *counter)
{
    struct seen *seen = context;

    CHECK_EQUAL(counter->size_bytes, sizeof(*counter));
    CHECK_TEXT(counter->name, counter_describe((enum counter)seen->count)->name);
    CHECK(counter->unit[0] != '\0' && counter->explanation[0] != '\0');
    if (strcmp(counter->name, "blocks_linked") == 0)
        seen->linked = counter->value;
    return ++seen->count < seen->wanted;
}

static void all_counters_are_read(void)
{
    struct seen before = {.wanted = UINT32_MAX}, after = {.wanted = UINT32_MAX};

    gait_counters_read(see, &before);
    counter_add(COUNTER_blocks_linked, 3);
    gait_counters_read(see, &after);
    CHECK_EQUAL(before.count, COUNTER_COUNT);
    CHECK_EQUAL(after.count, COUNTER_COUNT);
    CHECK_EQUAL(after.linked, before.linked + 3);
}

static void reading_ends_when_no_more_are_wanted(void)
{
    struct seen seen = {.wanted = 2};

    gait_counters_read(see, &seen);
    CHECK_EQUAL(seen.count, 2);
    gait_counters_read(NULL, NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(all_counters_are_read),
    CHECK_CASE(reading_ends_when_no_more_are_wanted),
};

CHECK_MAIN(cases)
