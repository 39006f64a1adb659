/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/names/constant_set.h"

#include "support/check.h"
#include "syscalls/call_text.h"

static char buffer[512];
static struct text_writer out;

static const char *flags(enum system_call_constants set, uint64_t value)
{
    text_init(&out, buffer, sizeof(buffer));
    constant_set_put_flags(&out, set, value);
    return buffer;
}

static const char *choice(enum system_call_constants set, uint64_t value)
{
    text_init(&out, buffer, sizeof(buffer));
    constant_set_put_choice(&out, set, value);
    return buffer;
}

static void flags_are_written_in_order_with_the_rest_behind(void)
{
    CHECK_TEXT(flags(SYSTEM_CALL_SET_protection, 3), "PROT_READ|PROT_WRITE");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_protection, 0), "PROT_NONE");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_protection, 0x101), "PROT_READ|0x100");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_close_range, 0), "0");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_close_range, 0x10), "0x10 /* CLOSE_RANGE_??? */");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_statx_mask, 0xfff), "STATX_ALL");
    CHECK_TEXT(flags(SYSTEM_CALL_SET_statx_mask, 0x7ff), "STATX_BASIC_STATS");
}

static void sets_of_32_bits_ignore_others(void)
{
    CHECK_TEXT(flags(SYSTEM_CALL_SET_access, 0xffffffff00000004), "R_OK");
    CHECK_TEXT(choice(SYSTEM_CALL_SET_rusage, UINT64_MAX), "RUSAGE_CHILDREN");
}

static void choices_are_one_or_unknown(void)
{
    CHECK_TEXT(choice(SYSTEM_CALL_SET_seek, 2), "SEEK_END");
    CHECK_TEXT(choice(SYSTEM_CALL_SET_seek, 9), "0x9 /* SEEK_??? */");
    CHECK_TEXT(choice(SYSTEM_CALL_SET_epoll_ctl, 0), "0 /* EPOLL_CTL_??? */");
    CHECK_TEXT(constant_set_name(SYSTEM_CALL_SET_clock, 1), "CLOCK_MONOTONIC");
    CHECK_EQUAL(constant_set_name(SYSTEM_CALL_SET_clock, 1000) == NULL, 1);
}

static void numbers_and_names_are_written_as_the_style_says(void)
{
    char text[128];

    text_init(&out, text, sizeof(text));
    out.style = CALL_TEXT_NUMBERS;
    constant_set_put_choice(&out, SYSTEM_CALL_SET_seek, 2);
    constant_set_put_flags(&out, SYSTEM_CALL_SET_access, 4);
    constant_set_put_choice(&out, SYSTEM_CALL_SET_seek, 9);
    CHECK_TEXT(text, "0x20x40x9");
    text_init(&out, text, sizeof(text));
    out.style = CALL_TEXT_BOTH;
    constant_set_put_choice(&out, SYSTEM_CALL_SET_seek, 0);
    constant_set_put_flags(&out, SYSTEM_CALL_SET_access, 6);
    constant_set_put_choice(&out, SYSTEM_CALL_SET_seek, 9);
    CHECK_TEXT(text, "0 /* SEEK_SET */0x6 /* R_OK|W_OK */0x9 /* SEEK_??? */");
}

static void every_set_has_names(void)
{
    for (unsigned set = 0; set < SYSTEM_CALL_SET_COUNT; set++) {
        CHECK_EQUAL(flags(set, UINT64_MAX)[0] != '\0', 1);
        CHECK_EQUAL(choice(set, 0x123456789)[0] != '\0', 1);
    }
}

static const struct check_case cases[] = {
    CHECK_CASE(flags_are_written_in_order_with_the_rest_behind),
    CHECK_CASE(sets_of_32_bits_ignore_others),
    CHECK_CASE(choices_are_one_or_unknown),
    CHECK_CASE(numbers_and_names_are_written_as_the_style_says),
    CHECK_CASE(every_set_has_names),
};

CHECK_MAIN(cases)
