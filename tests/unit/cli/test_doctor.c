/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include "support/check.h"
#include "support/trace_folder.h"

static struct doctor_finding finding;

static void expect(enum doctor_verdict verdict, const char *text, const char *advice)
{
    CHECK_EQUAL(finding.verdict, verdict);
    CHECK(strstr(finding.text, text) != NULL);
    CHECK(advice == NULL ? finding.advice[0] == '\0' : strstr(finding.advice, advice) != NULL);
    finding = (struct doctor_finding){.verdict = DOCTOR_GOOD};
}

static void the_kernels_setting_decides_who_may_be_attached_to(void)
{
    doctor_judge_tracing(-1, false, &finding);
    expect(DOCTOR_GOOD, "processes of the same user", NULL);
    doctor_judge_tracing(0, true, &finding);
    expect(DOCTOR_GOOD, "all processes", NULL);
    doctor_judge_tracing(1, false, &finding);
    expect(DOCTOR_LIMITED, "only to processes that gait has started (ptrace_scope 1)", "ptrace_scope=0");
    doctor_judge_tracing(2, true, &finding);
    expect(DOCTOR_GOOD, "all processes", NULL);
    doctor_judge_tracing(3, true, &finding);
    expect(DOCTOR_LIMITED, "no attaching", "restart");
}

static void the_kernels_setting_decides_about_its_events(void)
{
    doctor_judge_paranoia(-1, false, &finding);
    expect(DOCTOR_GOOD, "of the kernel too", NULL);
    doctor_judge_paranoia(0, false, &finding);
    expect(DOCTOR_GOOD, "of the whole system", NULL);
    doctor_judge_paranoia(2, true, &finding);
    expect(DOCTOR_GOOD, "as root", NULL);
    doctor_judge_paranoia(1, false, &finding);
    expect(DOCTOR_LIMITED, "own processes only (perf_event_paranoid 1)", "perf_event_paranoid=-1");
    doctor_judge_paranoia(2, false, &finding);
    expect(DOCTOR_LIMITED, "own processes only, without the kernel", "perf_event_paranoid=-1");
}

static void numbers_are_read_from_files(void)
{
    struct trace_folder folder;
    char path[128];

    trace_folder_init(&folder);
    trace_folder_write(&folder, "three", "3\n", 2);
    trace_folder_write(&folder, "negative", "-1\n", 3);
    trace_folder_write(&folder, "none", "word\n", 5);
    snprintf(path, sizeof(path), "%s/three", folder.path);
    CHECK_EQUAL(doctor_read_number(path), 3);
    snprintf(path, sizeof(path), "%s/negative", folder.path);
    CHECK_EQUAL(doctor_read_number(path), -1);
    snprintf(path, sizeof(path), "%s/none", folder.path);
    CHECK_EQUAL(doctor_read_number(path), -1);
    snprintf(path, sizeof(path), "%s/missing", folder.path);
    CHECK_EQUAL(doctor_read_number(path), -1);
    trace_folder_deinit(&folder);
}

/* Whatever machine this is: each check has something to say, and what is not there comes with a text. */
static void all_checks_find_something(void)
{
    const struct doctor_check *check;
    size_t count = 0;

    for (; (check = doctor_check_at(count)) != NULL; count++) {
        finding = (struct doctor_finding){.verdict = DOCTOR_GOOD};
        check->look(&finding);
        CHECK(finding.text[0] != '\0');
        CHECK(check->subject[0] != '\0' && check->purpose[0] != '\0');
    }
    CHECK_EQUAL(count, 25);
}

static const struct check_case cases[] = {
    CHECK_CASE(the_kernels_setting_decides_who_may_be_attached_to),
    CHECK_CASE(the_kernels_setting_decides_about_its_events),
    CHECK_CASE(numbers_are_read_from_files),
    CHECK_CASE(all_checks_find_something),
};

CHECK_MAIN(cases)
