/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

static void each_thread_is_a_profile_of_events(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "speedscope"), 0);
    CHECK(strstr(lab.output, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"startValue\":1000,\"events\":[\n"
                             "{\"type\":\"O\",\"at\":1000,\"frame\":0},\n"
                             "{\"type\":\"O\",\"at\":1100,\"frame\":1},\n"
                             "{\"type\":\"O\",\"at\":1150,\"frame\":2},\n"
                             "{\"type\":\"C\",\"at\":1250,\"frame\":2},\n") != NULL);
    CHECK(strstr(lab.output,
                 "\"at\":2200,\"frame\":0}\n],\"endValue\":2200,\"name\":\"thread (102)\"}],\n"
                 "\"shared\":{\"frames\":[\n{\"name\":\"example+0x1000\",\"file\":\"/nowhere/example\"},\n") != NULL);
    export_lab_deinit(&lab);
}

static void threads_that_called_nothing_have_no_profile(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "speedscope"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "evented"), 3);
    CHECK_EQUAL(export_lab_count(&lab, "\"name\":\"worker (101)\""), 1);
    lab.job.from_ns = 2050;
    CHECK_EQUAL(export_lab_write(&lab, "speedscope"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "evented"), 1);
    lab.job.from_ns = 1000000;
    CHECK_EQUAL(export_lab_write(&lab, "speedscope"), 0);
    CHECK(strstr(lab.output, "\"profiles\":[],\n\"shared\":{\"frames\":[]}}\n") != NULL);
    export_lab_deinit(&lab);
}

static void nasty_names_are_text(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "speedscope"), 0);
    CHECK_EQUAL(
        export_lab_count(&lab, "\"name\":\"\\u003ci>\\u0026\\\"\\\\;\xef\xbf\xbd\xef\xbf\xbd\\u003ci>+0x1100\""), 1);
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_thread_is_a_profile_of_events),
    CHECK_CASE(threads_that_called_nothing_have_no_profile),
    CHECK_CASE(nasty_names_are_text),
};

CHECK_MAIN(cases)
