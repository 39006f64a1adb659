/* SPDX-License-Identifier: MIT */
#include "cli/options/option_values.h"

#include "gait/stalker.h"
#include "ring/ring_layout.h"
#include "support/check.h"

static void events_have_names(void)
{
    uint32_t events = 77;

    CHECK(option_read_events("none", &events) && events == 0);
    CHECK(option_read_events("call,exec", &events) && events == (GAIT_EVENT_CALL | GAIT_EVENT_EXEC));
    CHECK(!option_read_events("", &events) && !option_read_events("call,", &events) &&
          !option_read_events("calls", &events) && !option_read_events(",call", &events));
    CHECK_EQUAL(events, GAIT_EVENT_CALL | GAIT_EVENT_EXEC);
}

static void numbers_have_limits(void)
{
    unsigned long number = 0;
    unsigned seconds = 0;
    uint64_t milliseconds = 0;

    CHECK(option_read_number("512", 512, &number) && number == 512);
    CHECK(!option_read_number("513", 512, &number) && !option_read_number("-1", 512, &number) &&
          !option_read_number("5x", 512, &number));
    CHECK(option_read_seconds("3", &seconds) && seconds == 3);
    CHECK(!option_read_seconds("0", &seconds) && !option_read_seconds("1.5", &seconds));
    CHECK(option_read_roll("1.5", &milliseconds) && milliseconds == 1500);
    CHECK(option_read_roll("0", &milliseconds) && milliseconds == 0);
    CHECK(!option_read_roll("-1", &milliseconds) && !option_read_roll("10000000000", &milliseconds));
}

static void sizes_have_units(void)
{
    size_t size = 0;

    CHECK(option_read_buffer_bytes("4096", &size) && size == 4096);
    CHECK(option_read_buffer_bytes("64k", &size) && size == 65536);
    CHECK(option_read_buffer_bytes("8M", &size) && size == 8u << 20);
    CHECK(!option_read_buffer_bytes("9M", &size) && !option_read_buffer_bytes("1", &size) &&
          !option_read_buffer_bytes("64KB", &size) && !option_read_buffer_bytes("K", &size) &&
          !option_read_buffer_bytes("99999999999999999999K", &size));
}

static void limits_of_files_are_sizes_or_ages(void)
{
    uint64_t value = 0;

    CHECK(option_read_file_bytes("64K", &value) && value == 64u << 10);
    CHECK(option_read_file_bytes("3G", &value) && value == 3ull << 30);
    CHECK(!option_read_file_bytes("63K", &value) && !option_read_file_bytes("70000", &value) &&
          !option_read_file_bytes("1m", &value) && !option_read_file_bytes("1MB", &value) &&
          !option_read_file_bytes("99999999999G", &value) && !option_read_file_bytes("G", &value));
    CHECK(option_read_age("1s", &value) && value == 1000000000);
    CHECK(option_read_age("10m", &value) && value == 600000000000);
    CHECK(option_read_age("2h", &value) && value == 7200000000000);
    CHECK(!option_read_age("0s", &value) && !option_read_age("5", &value) && !option_read_age("1M", &value) &&
          !option_read_age("99999999999999h", &value) && !option_read_age("1.5h", &value));
}

static void overflow_has_two_ways(void)
{
    int overflow = -1;

    CHECK(option_read_overflow("drop", &overflow) && overflow == RING_DROP);
    CHECK(option_read_overflow("block", &overflow) && overflow == RING_BLOCK);
    CHECK(!option_read_overflow("wait", &overflow));
}

static const struct check_case cases[] = {
    CHECK_CASE(events_have_names),     CHECK_CASE(numbers_have_limits),
    CHECK_CASE(sizes_have_units),      CHECK_CASE(limits_of_files_are_sizes_or_ages),
    CHECK_CASE(overflow_has_two_ways),
};

CHECK_MAIN(cases)
