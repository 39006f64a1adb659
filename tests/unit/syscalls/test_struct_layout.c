/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/struct_layout.h"

#include "support/call_text_run.h"
#include "support/check.h"

static struct call_text_run run;

static void fields_are_written_by_the_table(void)
{
    struct call_text *text = call_text_run_init(&run);
    uint16_t sizes[4] = {24, 80, 0, 0};
    uint32_t linger[2] = {1, 2};

    struct_layout_put_at(text, STRUCT_LAYOUT_window_size, AT(sizes));
    CHECK_TEXT(run.buffer, "{ws_row=24, ws_col=80, ws_xpixel=0, ws_ypixel=0}");
    call_text_run_clear(&run);
    struct_layout_put_beginning(text, STRUCT_LAYOUT_socket_linger, linger, 7);
    CHECK_TEXT(run.buffer, "{l_onoff=1, l_linger=\"\\x02\\x00\\x00\"}");
    call_text_run_clear(&run);
    struct_layout_put_array(text, STRUCT_LAYOUT_socket_linger, AT(linger), 1);
    CHECK_TEXT(run.buffer, "[{l_onoff=1, l_linger=2}]");
    call_text_run_clear(&run);
    struct_layout_put_at(text, STRUCT_LAYOUT_window_size, 0x10);
    CHECK_TEXT(run.buffer, "0x10");
}

static void what_is_behind_the_rest_is_for_who_wants_all(void)
{
    struct call_text *text = call_text_run_init(&run);
    int32_t parts[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    struct_layout_put_at(text, STRUCT_LAYOUT_rtc_time, AT(parts));
    CHECK_TEXT(run.buffer, "{tm_sec=1, tm_min=2, tm_hour=3, tm_mday=4, tm_mon=5, tm_year=6, ...}");
    call_text_run_clear(&run);
    run.options.is_verbose = true;
    struct_layout_put_at(text, STRUCT_LAYOUT_rtc_time, AT(parts));
    CHECK_TEXT(run.buffer, "{tm_sec=1, tm_min=2, tm_hour=3, tm_mday=4, tm_mon=5, tm_year=6, tm_wday=7, tm_yday=8, "
                           "tm_isdst=9}");
    CHECK_EQUAL(struct_layout_bytes(STRUCT_LAYOUT_rtc_time), 36);
}

static const struct check_case cases[] = {
    CHECK_CASE(fields_are_written_by_the_table),
    CHECK_CASE(what_is_behind_the_rest_is_for_who_wants_all),
};

CHECK_MAIN(cases)
