/* SPDX-License-Identifier: MIT */
#include "support/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/random.h"

static struct sandbox_outcome outcome;

static int begin_well(void *context)
{
    ++*(int *)context;
    return 0;
}

static int begin_badly(void *context)
{
    (void)context;
    return -1;
}

/* Raised past every handler, so that it is a death under a sanitizer too. */
static void die(void)
{
    signal(SIGILL, SIG_DFL);
    raise(SIGILL);
}

static enum sandbox_verdict run_case(void *context, const struct sandbox_case *now)
{
    if (now->seed != random_seed_derive(77, now->number))
        return SANDBOX_FAILED;
    snprintf(now->text, now->text_bytes, "begun %d times, in %llu", *(int *)context, (unsigned long long)now->number);
    switch (now->number % 10) {
    case 3:
        die();
        return SANDBOX_PASSED;
    case 5:
        return SANDBOX_FAILED;
    case 6:
        return SANDBOX_SKIPPED;
    case 8:
        _exit(9);
    default:
        return SANDBOX_PASSED;
    }
}

static void batch_goes_on_after_a_death(void)
{
    int begun = 0;
    struct sandbox_batch batch = {
        .seed = 77, .first = 100, .count = 20, .begin = begin_well, .run = run_case, .context = &begun};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), 0);
    CHECK_EQUAL(outcome.passed, 12);
    CHECK_EQUAL(outcome.failed, 2);
    CHECK_EQUAL(outcome.skipped, 2);
    CHECK_EQUAL(outcome.died, 4);
    CHECK_EQUAL(outcome.hung, 0);
    CHECK_EQUAL(outcome.report_count, 6);
    CHECK_EQUAL(begun, 0);
}

static void reports_name_case_and_seed_and_keep_the_text(void)
{
    int begun = 10;
    struct sandbox_batch batch = {
        .seed = 77, .first = 102, .count = 7, .begin = begin_well, .run = run_case, .context = &begun};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), 0);
    CHECK_EQUAL(outcome.report_count, 3);
    CHECK_EQUAL(outcome.reports[0].verdict, SANDBOX_DIED);
    CHECK_EQUAL(outcome.reports[0].number, 103);
    CHECK_EQUAL(outcome.reports[0].seed, random_seed_derive(77, 103));
    CHECK_EQUAL(WTERMSIG(outcome.reports[0].wait_status), SIGILL);
    CHECK_TEXT(outcome.reports[0].text, "begun 11 times, in 103");
    CHECK_EQUAL(outcome.reports[1].verdict, SANDBOX_FAILED);
    CHECK_EQUAL(outcome.reports[1].number, 105);
    CHECK_EQUAL(outcome.reports[2].verdict, SANDBOX_DIED);
    CHECK_EQUAL(WEXITSTATUS(outcome.reports[2].wait_status), 9);
}

static enum sandbox_verdict hang_once(void *context, const struct sandbox_case *now)
{
    (void)context;
    if (now->number == 1)
        pause();
    return SANDBOX_PASSED;
}

static void hanging_case_is_ended(void)
{
    struct sandbox_batch batch = {.count = 3, .run = hang_once, .case_limit_ms = 100};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), 0);
    CHECK_EQUAL(outcome.passed, 2);
    CHECK_EQUAL(outcome.hung, 1);
    CHECK_EQUAL(outcome.reports[0].number, 1);
    CHECK_EQUAL(outcome.reports[0].verdict, SANDBOX_HUNG);
}

static enum sandbox_verdict always_die(void *context, const struct sandbox_case *now)
{
    (void)context;
    (void)now;
    _exit(0);
}

static void batch_is_given_up_after_too_many_deaths(void)
{
    struct sandbox_batch batch = {.count = 1000, .run = always_die, .death_limit = 30};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), -ECANCELED);
    CHECK_EQUAL(outcome.died, 30);
    CHECK_EQUAL(outcome.report_count, SANDBOX_MAX_REPORTS);
}

static void failing_setup_ends_the_batch(void)
{
    struct sandbox_batch batch = {.count = 3, .begin = begin_badly, .run = hang_once};

    CHECK_EQUAL(sandbox_run(&batch, &outcome), -ECHILD);
    CHECK_EQUAL(outcome.passed, 0);
}

static const struct check_case cases[] = {
    CHECK_CASE(batch_goes_on_after_a_death),  CHECK_CASE(reports_name_case_and_seed_and_keep_the_text),
    CHECK_CASE(hanging_case_is_ended),        CHECK_CASE(batch_is_given_up_after_too_many_deaths),
    CHECK_CASE(failing_setup_ends_the_batch),
};

CHECK_MAIN(cases)
