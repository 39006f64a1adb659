/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/value_forms.h"

#include "support/call_text_run.h"
#include "support/check.h"

static struct call_text_run run;

static const char *text_of(struct value_form form, const void *bytes, size_t size_bytes)
{
    struct call_text *text = call_text_run_init(&run);

    return value_text_put(text, form, bytes, size_bytes) ? run.buffer : "nothing";
}

static void numbers_have_forms(void)
{
    uint32_t number = 0x01020304;
    int32_t error = -2, known = 111;

    CHECK_TEXT(text_of((struct value_form){UNSIGNED}, &number, 4), "16909060");
    CHECK_TEXT(text_of((struct value_form){HEX_PADDED}, &(uint32_t){0x11}, 4), "0x000011");
    CHECK_TEXT(text_of((struct value_form){PORT}, &(uint16_t){0x5000}, 2), "htons(80)");
    CHECK_TEXT(text_of((struct value_form){ERROR}, &error, 4), "-ENOENT");
    CHECK_TEXT(text_of((struct value_form){ERROR_NAME}, &known, 4), "ECONNREFUSED");
    CHECK_TEXT(text_of((struct value_form){ID}, &(uint32_t){UINT32_MAX}, 4), "-1");
    CHECK_EQUAL(value_signed(&(int16_t){-5}, 2), -5);
}

static void bytes_have_forms(void)
{
    CHECK_TEXT(text_of((struct value_form){NAME}, "abcd", 4), "\"abc\"...");
    CHECK_TEXT(text_of((struct value_form){NAME}, "ab\0", 4), "\"ab\"");
    CHECK_TEXT(text_of((struct value_form){HARDWARE}, "\1\2\3", 3), "01:02:03");
    CHECK_TEXT(text_of((struct value_form){NUMBERS(2)}, "\1\0\2\0", 4), "[1, 2]");
    CHECK_TEXT(text_of((struct value_form){UNKNOWN}, "abcd", 4), "nothing");
    CHECK_TEXT(text_of((struct value_form){TIMEVAL}, "abcd", 4), "nothing");
}

static const struct check_case cases[] = {
    CHECK_CASE(numbers_have_forms),
    CHECK_CASE(bytes_have_forms),
};

CHECK_MAIN(cases)
