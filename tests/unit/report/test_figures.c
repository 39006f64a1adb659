/* SPDX-License-Identifier: MIT */
#include "report/figures.h"

#include "support/check.h"

static void durations_have_the_unit_that_suits_them(void)
{
    char text[DURATION_BYTES];

    CHECK_TEXT(duration_write(0, text), "0 ns");
    CHECK_TEXT(duration_write(999, text), "999 ns");
    CHECK_TEXT(duration_write(1500, text), "1.50 us");
    CHECK_TEXT(duration_write(2500000, text), "2.50 ms");
    CHECK_TEXT(duration_write(3e9, text), "3.000 s");
}

static void short_durations_have_four_digits(void)
{
    static const struct {
        double nanoseconds;
        const char *text;
    } times[] = {
        {0, "0ns"},         {1.4, "1ns"},        {999, "999ns"},       {999.6, "1.000us"},  {1500, "1.500us"},
        {46110, "46.11us"}, {149700, "149.7us"}, {999949, "999.9us"},  {999960, "1.000ms"}, {12345678, "12.35ms"},
        {1.5e9, "1.500s"},  {59.99e9, "59.99s"}, {123.45e9, "123.5s"}, {7200e9, "7200s"},   {999.96e9, "1000s"},
    };
    char text[DURATION_BYTES];

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        CHECK_TEXT(duration_write_short(times[i].nanoseconds, text), times[i].text);
}

static void guesses_have_one_digit(void)
{
    static const struct {
        double nanoseconds;
        const char *text;
    } times[] = {
        {0, "0 ns"},   {2.47e3, "2 us"},  {94.9, "90 ns"},  {95, "100 ns"}, {949, "900 ns"},
        {950, "1 us"}, {57.6e6, "60 ms"}, {999.9e6, "1 s"}, {1.5e9, "2 s"}, {7200e9, "7000 s"},
    };
    char text[DURATION_BYTES];

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        CHECK_TEXT(duration_write_rough(times[i].nanoseconds, text), times[i].text);
    CHECK_TEXT(duration_write_rough_short(57.6e6, text), "60ms");
}

static void counts_have_commas(void)
{
    char text[COUNT_BYTES];

    CHECK_TEXT(count_write(0, text), "0");
    CHECK_TEXT(count_write(999, text), "999");
    CHECK_TEXT(count_write(1000, text), "1,000");
    CHECK_TEXT(count_write(1234567, text), "1,234,567");
    CHECK_TEXT(count_write(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static const struct check_case cases[] = {
    CHECK_CASE(durations_have_the_unit_that_suits_them),
    CHECK_CASE(short_durations_have_four_digits),
    CHECK_CASE(guesses_have_one_digit),
    CHECK_CASE(counts_have_commas),
};

CHECK_MAIN(cases)
