/* SPDX-License-Identifier: MIT */
#include "hosted/figures.h"

#include "support/check.h"

static void durations_have_four_digits_and_the_unit_that_suits_them(void)
{
    static const struct {
        double nanoseconds;
        const char *text;
    } times[] = {
        {0, "0 ns"},         {1.4, "1 ns"},        {999, "999 ns"},       {999.6, "1.000 us"},  {1500, "1.500 us"},
        {46110, "46.11 us"}, {149700, "149.7 us"}, {999949, "999.9 us"},  {999960, "1.000 ms"}, {12345678, "12.35 ms"},
        {1.5e9, "1.500 s"},  {59.99e9, "59.99 s"}, {123.45e9, "123.5 s"}, {7200e9, "7200 s"},   {999.96e9, "1000 s"},
    };
    char text[FIGURE_BYTES];

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        CHECK_TEXT(duration_write(times[i].nanoseconds, text), times[i].text);
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
    char text[FIGURE_BYTES];

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        CHECK_TEXT(duration_write_rough(times[i].nanoseconds, text), times[i].text);
}

static void counts_have_commas(void)
{
    char text[FIGURE_BYTES];

    CHECK_TEXT(count_write(0, text), "0");
    CHECK_TEXT(count_write(999, text), "999");
    CHECK_TEXT(count_write(1000, text), "1,000");
    CHECK_TEXT(count_write(1234567, text), "1,234,567");
    CHECK_TEXT(count_write(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

static void moments_are_seconds(void)
{
    char text[FIGURE_BYTES];

    CHECK_TEXT(moment_write(0.012, text), "0.012 s");
    CHECK_TEXT(moment_write(127.25, text), "127.250 s");
}

static void shares_have_a_digit_after_the_point_unless_they_are_guessed(void)
{
    char text[FIGURE_BYTES];

    CHECK_TEXT(share_write(419, 1000, text), "41.9 %");
    CHECK_TEXT(share_write(1, 1, text), "100.0 %");
    CHECK_TEXT(share_write(0, 0, text), "0.0 %");
    CHECK_TEXT(share_write_rough(419, 1000, text), "42 %");
}

static void sizes_have_the_unit_that_suits_them(void)
{
    char text[FIGURE_BYTES];

    CHECK_TEXT(size_write(0, text), "0 bytes");
    CHECK_TEXT(size_write(1, text), "1 byte");
    CHECK_TEXT(size_write(1023, text), "1023 bytes");
    CHECK_TEXT(size_write(1536, text), "1.5 KiB");
    CHECK_TEXT(size_write((1u << 20) - 1, text), "1.0 MiB");
    CHECK_TEXT(size_write(UINT64_C(5) << 30, text), "5.0 GiB");
}

static const struct check_case cases[] = {
    CHECK_CASE(durations_have_four_digits_and_the_unit_that_suits_them),
    CHECK_CASE(guesses_have_one_digit),
    CHECK_CASE(moments_are_seconds),
    CHECK_CASE(shares_have_a_digit_after_the_point_unless_they_are_guessed),
    CHECK_CASE(sizes_have_the_unit_that_suits_them),
    CHECK_CASE(counts_have_commas),
};

CHECK_MAIN(cases)
