/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

static void each_call_is_a_line(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "csv"), 0);
    CHECK(strstr(lab.output, "pid,tid,thread,function,module,file,line,depth,begin_ns,duration_ns,self_ns,flags\r\n") ==
          lab.output);
    CHECK_EQUAL(export_lab_count(&lab, "\r\n"), 1 + 6);
    CHECK_EQUAL(
        export_lab_count(&lab, "\r\n100,102,\"\",\"example+0x1000\",\"/nowhere/example\",\"\",,0,1000,1000,700,\r\n"),
        1);
    CHECK_EQUAL(
        export_lab_count(&lab, "\r\n100,102,\"\",\"example+0x1100\",\"/nowhere/example\",\"\",,1,1100,200,100,\r\n"),
        1);
    export_lab_deinit(&lab);
}

static void what_is_not_sure_is_marked(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "csv"), 0);
    CHECK_EQUAL(export_lab_count(&lab, ",unwound\r\n"), 1);
    CHECK_EQUAL(export_lab_count(&lab, ",cut\r\n"), 2);
    CHECK_EQUAL(export_lab_count(&lab, "\r\n100,101,\"worker\","), 5);
    export_lab_deinit(&lab);
}

/* Quotes are doubled, and nothing but the ends of lines is a control character. */
static void nasty_names_stay_in_their_field(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "csv"), 0);
    CHECK_EQUAL(export_lab_count(&lab, ",\"<i>&\"\"\\;\xef\xbf\xbd\xef\xbf\xbd<i>+0x1100\",\"/nowhere<b>/"), 1);
    CHECK_EQUAL(export_lab_count(&lab, "\n"), export_lab_count(&lab, "\r\n"));
    export_lab_deinit(&lab);
}

static void without_calls_there_is_the_heading(void)
{
    export_lab_init(&lab);
    lab.job.thread_count = 0;
    CHECK_EQUAL(export_lab_write(&lab, "csv"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "\n"), 1);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_call_is_a_line),
    CHECK_CASE(what_is_not_sure_is_marked),
    CHECK_CASE(nasty_names_stay_in_their_field),
    CHECK_CASE(without_calls_there_is_the_heading),
};

CHECK_MAIN(cases)
