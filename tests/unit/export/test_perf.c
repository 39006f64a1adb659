/* SPDX-License-Identifier: MIT */
#include "export/export_format.h"

#include "support/check.h"
#include "support/export_lab.h"

#include <stdlib.h>

static struct export_lab lab;

static void each_change_of_the_stack_is_a_sample(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "perf"), 0);
    CHECK(strstr(lab.output, ":102 100/102 0.000001000: 100 gait:\n"
                             "\t          401000 example+0x1000+0x0 (/nowhere/example)\n"
                             "\n"
                             ":102 100/102 0.000001100: 50 gait:\n"
                             "\t          401100 example+0x1100+0x0 (/nowhere/example)\n"
                             "\t          401000 example+0x1000+0x0 (/nowhere/example)\n"
                             "\n") == lab.output);
    /* Nothing that was recorded ran. */
    CHECK(strstr(lab.output, ":102 100/102 0.000002000: 100 gait:\n"
                             "\t0 [outside] ([gait])\n"
                             "\n") != NULL);
    export_lab_deinit(&lab);
}

/* What periods of stacks with that innermost function add up to. */
static uint64_t sum_of(const char *function)
{
    uint64_t sum = 0;

    for (const char *line = lab.output; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *period = strstr(line, ": "), *end = strchr(line, '\n');

        if (line[0] != '\t' && line[0] != '\n' && strncmp(strstr(end, " ") == NULL ? "" : end + 1, "\t", 1) == 0 &&
            strstr(end, function) != NULL && strstr(end, function) < strchr(end + 1, '\n'))
            sum += strtoull(period + 2, NULL, 10);
    }
    return sum;
}

static void periods_are_own_times(void)
{
    export_lab_init(&lab);
    export_lab_choose(&lab, EXPORT_LAB_HOOKED);
    CHECK_EQUAL(export_lab_write(&lab, "perf"), 0);
    CHECK_EQUAL(sum_of("example+0x1000+0x0"), 800);
    CHECK_EQUAL(sum_of("example+0x1100+0x0"), 200);
    CHECK_EQUAL(sum_of("[outside]"), 100);
    export_lab_deinit(&lab);
}

/* The last sample of a thread is where its last call ended. */
static void threads_follow_each_other(void)
{
    export_lab_init(&lab);
    CHECK_EQUAL(export_lab_write(&lab, "perf"), 0);
    CHECK_EQUAL(export_lab_count(&lab, ": 0 gait:\n\t0 [outside] ([gait])\n\n"), 3);
    CHECK_EQUAL(export_lab_count(&lab, "worker 100/101 "), export_lab_count(&lab, "/101 "));
    lab.job.thread_count = 0;
    CHECK_EQUAL(export_lab_write(&lab, "perf"), 0);
    CHECK_TEXT(lab.output, "");
    export_lab_deinit(&lab);
}

static const struct check_case cases[] = {
    CHECK_CASE(each_change_of_the_stack_is_a_sample),
    CHECK_CASE(periods_are_own_times),
    CHECK_CASE(threads_follow_each_other),
};

CHECK_MAIN(cases)
