/* SPDX-License-Identifier: MIT */
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>
#include <sys/prctl.h>

static struct call_text_run run;

static void arguments_are_those_of_the_operation(void)
{
    int value = 2;

    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_SET_SECUREBITS, 3),
               "prctl(PR_SET_SECUREBITS, SECBIT_NOROOT|SECBIT_NOROOT_LOCKED) = 0");
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_CAP_AMBIENT, 2, 13),
               "prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) = 0");
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_GET_TSC, AT(&value)), "prctl(PR_GET_TSC, [PR_TSC_SIGSEGV]) = 0");
    CHECK_TEXT(CALL(&run, "prctl", -EFAULT, PR_GET_TSC, 0), "prctl(PR_GET_TSC, NULL) = -1 EFAULT (Bad address)");
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_MCE_KILL, 1, 1),
               "prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0) = 0");
}

static void results_have_names(void)
{
    call_text_run_init(&run);
    CHECK_TEXT(CALL(&run, "prctl", 1, PR_GET_DUMPABLE), "prctl(PR_GET_DUMPABLE) = 1 (SUID_DUMP_USER)");
    CHECK_TEXT(CALL(&run, "prctl", 1, PR_GET_SECUREBITS), "prctl(PR_GET_SECUREBITS) = 0x1 (SECBIT_NOROOT)");
    CHECK_TEXT(CALL(&run, "prctl", 0, PR_GET_KEEPCAPS), "prctl(PR_GET_KEEPCAPS) = 0");
}

static const struct check_case cases[] = {
    CHECK_CASE(arguments_are_those_of_the_operation),
    CHECK_CASE(results_have_names),
};

CHECK_MAIN(cases)
