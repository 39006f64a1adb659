/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

static struct export_lab lab;

static void every_stack_is_a_frame_with_its_numbers(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "<g class=\"f\""), 9);
    CHECK_EQUAL(
        export_lab_count(&lab, "data-b=\"0\" data-t=\"1600\" data-s=\"0\" data-c=\"0\" data-d=\"0\"><title>all\n"), 1);
    /* Behind the 250 of the thread that comes first; below it 1180 pixels are 1600. */
    CHECK_EQUAL(export_lab_count(&lab, "data-b=\"250\" data-t=\"1100\" data-s=\"800\" data-c=\"2\" data-d=\"2\"><title>"
                                       "example+0x1000\nexample\n1.100 us, 68.8 %; itself 800 ns, 50.0 %; calls: "
                                       "2</title><rect x=\"194.38\" y=\"98\" width=\"811.25\" height=\"17\""),
                1);
    CHECK_EQUAL(export_lab_count(&lab, "data-b=\"250\" data-t=\"300\" data-s=\"200\" data-c=\"3\" data-d=\"3\""), 1);
    CHECK_EQUAL(export_lab_count(&lab, "data-b=\"1350\" data-t=\"250\" data-s=\"0\" data-c=\"0\" data-d=\"1\""), 1);
    export_lab_deinit(&lab);
}

static void nasty_names_are_text(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "<i>"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "<title>&lt;i&gt;&amp;&quot;\\;\xef\xbf\xbd\xef\xbf\xbd&lt;i&gt;+0x1100\n"), 1);
    export_lab_deinit(&lab);
}

static void labels_fit_into_their_frames(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    /* 73.75 pixels are for nine letters. */
    CHECK_EQUAL(export_lab_count(&lab, ">&lt;i&gt;&amp;&quot;\\;\xef\xbf\xbd\xe2\x80\xa6</text>"), 1);
    CHECK_EQUAL(export_lab_count(&lab, ">example+0x1000</text>"), 1);
    export_lab_deinit(&lab);
}

static void frames_too_small_to_be_seen_are_counted(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, ">1.100 us in 6 calls of 1 thread</text>"), 1);
    lab.job.from_ns = 2100;
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(
                    &lab, ">100 ns in 2 calls of 1 thread; 1 frames narrower than 1/12000 of all are left out</text>"),
                1);
    CHECK_EQUAL(export_lab_count(&lab, "<g class=\"f\""), 3);
    export_lab_deinit(&lab);
}

static void what_is_missing_is_said(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "; events are missing: 288 bytes of records were lost</text>"), 1);
    export_lab_deinit(&lab);
}

static void it_needs_no_other_file(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "href"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "url("), 0);
    CHECK_EQUAL(export_lab_count(&lab, "import"), 0);
    /* names of XML's vocabularies, which nobody opens */
    CHECK_EQUAL(export_lab_count(&lab, "http"), export_lab_count(&lab, "xmlns=\"http://www.w3.org/"));
    CHECK_EQUAL(export_lab_count(&lab, "]]>"), 1);
    export_lab_deinit(&lab);
}

static void nothing_is_a_picture_too(void)
{
    export_lab_init(&lab);
    lab.job.from_ns = 1000000;
    CHECK_EQUAL(export_lab_write(&lab, "flamegraph"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "<g class=\"f\""), 0);
    CHECK_EQUAL(export_lab_count(&lab, "<script>"), 0);
    CHECK_EQUAL(export_lab_count(&lab, "0 ns in 0 calls of 3 threads"), 1);
    CHECK_TEXT(lab.output + lab.output_bytes - 7, "</svg>\n");
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(every_stack_is_a_frame_with_its_numbers),
    CHECK_CASE(nasty_names_are_text),
    CHECK_CASE(labels_fit_into_their_frames),
    CHECK_CASE(frames_too_small_to_be_seen_are_counted),
    CHECK_CASE(what_is_missing_is_said),
    CHECK_CASE(it_needs_no_other_file),
    CHECK_CASE(nothing_is_a_picture_too),
};

CHECK_MAIN(cases)
