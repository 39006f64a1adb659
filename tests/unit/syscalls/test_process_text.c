/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <sched.h>
#include <signal.h>
#include <sys/utsname.h>

static struct call_text_run run;

static const char *status(int value)
{
    struct call_text *text = call_text_run_init(&run);

    process_text_put_status(text, &value);
    return run.buffer;
}

static void statuses_tell_how_it_ended(void)
{
    CHECK_TEXT(status(0), "{WIFEXITED(s) && WEXITSTATUS(s) == 0}");
    CHECK_TEXT(status(3 << 8), "{WIFEXITED(s) && WEXITSTATUS(s) == 3}");
    CHECK_TEXT(status(SIGKILL), "{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}");
    CHECK_TEXT(status(SIGSEGV | 0x80), "{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}");
    CHECK_TEXT(status(SIGSTOP << 8 | 0x7f), "{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}");
    CHECK_TEXT(status(0xffff), "{WIFCONTINUED(s)}");
}

static void limits_are_in_units_of_1024(void)
{
    struct call_text *text = call_text_run_init(&run);

    process_text_put_rlimit64(text, (const uint64_t[2]){8192 * 1024, UINT64_MAX});
    process_text_put_rlimit(text, (const uint64_t[2]){1024, UINT64_MAX});
    CHECK_TEXT(run.buffer, "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}{rlim_cur=1024, rlim_max=RLIM64_INFINITY}");
}

static void machines_have_names(void)
{
    struct call_text *text = call_text_run_init(&run);
    struct utsname name = {.sysname = "Linux", .nodename = "h"};

    process_text_put_utsname(text, &name);
    CHECK_TEXT(run.buffer, "{sysname=\"Linux\", nodename=\"h\", ...}");
}

static void clones_by_flags(void)
{
    struct call_text *text = call_text_run_init(&run);
    int tid = 77;
    uint64_t modern[11] = {CLONE_VM | CLONE_PARENT_SETTID, 0, 0, AT(&tid), SIGCHLD, 0x1000, 0x2000};

    run.arguments[0] = CLONE_CHILD_SETTID | SIGCHLD;
    run.arguments[3] = 0x50;
    process_text_put_clone(text);
    process_text_put_clone_end(text);
    CHECK_TEXT(run.buffer, "child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x50");
    call_text_run_clear(&run);
    process_text_put_clone_args(text, AT(modern), 16);
    process_text_put_clone_args(text, 0x10, 88);
    run.text.is_over = true;
    process_text_put_clone3_end(text, AT(modern), sizeof(modern));
    CHECK_EQUAL(strstr(run.buffer, "0x10 => {parent_tid=[77]}") != NULL, 1);
}

static void scheduling(void)
{
    struct call_text *text = call_text_run_init(&run);
    uint32_t attributes[14] = {48, 3};

    process_text_put_sched_attr(text, AT(attributes), sizeof(attributes));
    CHECK_TEXT(run.buffer, "{size=48, sched_policy=SCHED_BATCH, sched_flags=0, sched_nice=0, sched_priority=0, "
                           "sched_runtime=0, sched_deadline=0, sched_period=0}");
}

static const struct check_case cases[] = {
    CHECK_CASE(statuses_tell_how_it_ended),
    CHECK_CASE(limits_are_in_units_of_1024),
    CHECK_CASE(machines_have_names),
    CHECK_CASE(clones_by_flags),
    CHECK_CASE(scheduling),
};

CHECK_MAIN(cases)
