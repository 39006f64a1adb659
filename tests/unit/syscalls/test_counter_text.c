/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <linux/perf_event.h>

static struct call_text_run run;

static void attributes_have_names(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = 128,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .disabled = 1,
                                         .exclude_kernel = 1,
                                         .sample_type = PERF_SAMPLE_IP};

    counter_text_put(text, AT(&attributes));
    CHECK_TEXT(run.buffer, "{type=PERF_TYPE_HARDWARE, size=PERF_ATTR_SIZE_VER7, config=PERF_COUNT_HW_INSTRUCTIONS, "
                           "sample_period=0, sample_type=PERF_SAMPLE_IP, read_format=0, disabled=1, exclude_kernel=1, "
                           "precise_ip=0 /* arbitrary skid */, ...}");
}

static void sizes_that_cannot_be_are_not_followed(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct perf_event_attr attributes = {.size = 8};
    char expected[32];

    counter_text_put(text, AT(&attributes));
    snprintf(expected, sizeof(expected), "%#lx", (unsigned long)AT(&attributes));
    CHECK_TEXT(run.buffer, expected);
}

static const struct check_case cases[] = {
    CHECK_CASE(attributes_have_names),
    CHECK_CASE(sizes_that_cannot_be_are_not_followed),
};

CHECK_MAIN(cases)
