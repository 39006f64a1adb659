/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

static void each_distinct_stack_is_a_line(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "folded"), 0);
    CHECK_TEXT(lab.output, "example;example+0x1100 250\n"
                           "thread 102;example+0x1000 800\n"
                           "thread 102;example+0x1000;example+0x1100 200\n"
                           "thread 102;example+0x1000;example+0x1100;"
                           "<i>&\"\\\xef\xbc\x9b\xef\xbf\xbd\xef\xbf\xbd<i>+0x1100 100\n"
                           "worker;example+0x1100 250\n");
    export_lab_deinit(&lab);
}

static void only_what_was_in_the_range_counts(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    lab.job.from_ns = 1200;
    lab.job.to_ns = 1450;
    CHECK_EQUAL(export_lab_write(&lab, "folded"), 0);
    CHECK(strstr(lab.output, "thread 102;example+0x1000 100\nthread 102;example+0x1000;example+0x1100 100\n") ==
          lab.output);
    export_lab_deinit(&lab);
}

static void nothing_is_no_line(void)
{
    export_lab_init(&lab);
    lab.job.thread_count = 0;
    CHECK_EQUAL(export_lab_write(&lab, "folded"), 0);
    CHECK_TEXT(lab.output, "");
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_distinct_stack_is_a_line),
    CHECK_CASE(only_what_was_in_the_range_counts),
    CHECK_CASE(nothing_is_no_line),
};

CHECK_MAIN(cases)
