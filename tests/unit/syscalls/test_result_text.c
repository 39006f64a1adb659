/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/result_text.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <errno.h>

static struct call_text_run run;

static const char *result(const char *name, int64_t value, unsigned flags)
{
    struct call_text *text = call_text_run_init(&run);

    text->result = value;
    text->is_over = true;
    text->has_failed = value < 0 && value >= -4095;
    result_text_put(text, name == NULL ? NULL : system_call_by_name(name, strlen(name)), flags);
    return run.buffer;
}

static void results_by_kind(void)
{
    CHECK_TEXT(result("read", 5, 0), "5");
    CHECK_TEXT(result("mmap", 0x7000, 0), "0x7000");
    CHECK_TEXT(result("umask", 022, 0), "022");
    CHECK_TEXT(result("sched_getscheduler", 0, 0), "0 (SCHED_OTHER)");
    CHECK_TEXT(result("rt_sigtimedwait", 17, 0), "17 (SIGCHLD)");
    CHECK_TEXT(result(NULL, 9, 0), "9");
    CHECK_TEXT(result("lseek", INT64_MIN, 0), "-9223372036854775808");
}

static void errors_by_name(void)
{
    CHECK_TEXT(result("read", -ENOENT, 0), "-1 ENOENT (No such file or directory)");
    CHECK_TEXT(result("read", -512, 0), "? ERESTARTSYS (To be restarted if SA_RESTART is set)");
    CHECK_TEXT(result("read", -4000, 0), "-1 (errno 4000)");
}

static void what_was_done_to_it_is_told(void)
{
    CHECK_TEXT(result("read", -EIO, SYSTEM_CALL_INJECTED), "-1 EIO (Input/output error) (INJECTED)");
    CHECK_TEXT(result("read", 1, SYSTEM_CALL_DELAYED), "1 (DELAYED)");
    CHECK_TEXT(result("exit_group", 0, SYSTEM_CALL_NEVER_RETURNS), "?");
}

static const struct check_case cases[] = {
    CHECK_CASE(results_by_kind),
    CHECK_CASE(errors_by_name),
    CHECK_CASE(what_was_done_to_it_is_told),
};

CHECK_MAIN(cases)
