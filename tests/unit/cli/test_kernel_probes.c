/* SPDX-License-Identifier: MIT */
#include "cli/kernel_probes.h"

#include "cli/options/record_options.h"
#include "hosted/error_text.h"
#include "support/check.h"

#include <errno.h>

static struct gait_error err;

static void nothing_asked_for_is_nothing_done(void)
{
    struct kernel_probes probes;

    CHECK_EQUAL(kernel_probes_find(&probes, &(struct option_list){.count = 0}, false, &err), 0);
    CHECK_EQUAL(kernel_probes_begin(&probes, &(struct kernel_probes_target){.pid = 1, .folder = -1}, &err), 0);
    CHECK_EQUAL(kernel_probes_step(&probes, &err), 0);
    CHECK_EQUAL(kernel_probes_end(&probes), 0);
}

static void mistakes_are_told_with_what_was_meant(void)
{
    const char *texts[] = {"software:page-fualts"};
    const struct option_list list = {.texts = texts, .count = 1};
    struct kernel_probes probes;

    CHECK_EQUAL(kernel_probes_find(&probes, &list, false, &err), -ENOENT);
    CHECK(strstr(err.text, "did you mean page-faults") != NULL);
    (void)error_set(&err, ENOENT, "no");
    kernel_probes_suggest("software:completely-else", &err);
    CHECK(strstr(err.text, "gait probe -l") != NULL);
}

static void when_threads_run_is_a_source_of_its_own(void)
{
    struct kernel_probes probes;

    CHECK_EQUAL(kernel_probes_find(&probes, &(struct option_list){.count = 0}, true, &err), 0);
    CHECK(probes.list.count >= 2);
    CHECK_EQUAL(probes.switch_source, probes.list.count);
    CHECK_TEXT(probes.list.probes[probes.switch_source - 1]->spec, "sched:run");
    CHECK_TEXT(probes.list.probes[0]->spec, "software:page-faults:1");
    CHECK_EQUAL(kernel_probes_end(&probes), 0);
}

/* The program would go wrong where both are at the same place. */
static void there_are_no_breakpoints_where_the_agent_is(void)
{
    const char *texts[] = {"software:page-faults:1", "uprobe:/proc/self/exe:main"};
    const struct option_list list = {.texts = texts, .count = 2};
    struct kernel_probes probes;
    int result = kernel_probes_find(&probes, &list, false, &err);

    if (result == -EOPNOTSUPP)
        return;
    CHECK_EQUAL(result, -EINVAL);
    CHECK(strstr(err.text, "--hook main") != NULL && strstr(err.text, "gait probe") != NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(nothing_asked_for_is_nothing_done),
    CHECK_CASE(mistakes_are_told_with_what_was_meant),
    CHECK_CASE(when_threads_run_is_a_source_of_its_own),
    CHECK_CASE(there_are_no_breakpoints_where_the_agent_is),
};

CHECK_MAIN(cases)
