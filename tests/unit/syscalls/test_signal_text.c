/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "support/call_text_run.h"
#include "support/check.h"

#include <signal.h>

static struct call_text_run run;

static void signals_have_names_both_ways(void)
{
    call_text_run_init(&run);
    signal_text_put(&run.out, SIGTERM);
    signal_text_put(&run.out, 32);
    signal_text_put(&run.out, 34);
    signal_text_put(&run.out, 65);
    signal_text_put(&run.out, -1);
    CHECK_TEXT(run.buffer, "SIGTERMSIGRTMINSIGRT_265-1");
    CHECK_EQUAL(signal_by_name("SIGUSR1"), SIGUSR1);
    CHECK_EQUAL(signal_by_name("USR1"), SIGUSR1);
    CHECK_EQUAL(signal_by_name("RT_2"), 34);
    CHECK_EQUAL(signal_by_name("9"), 9);
    CHECK_EQUAL(signal_by_name("SIGWHAT"), 0);
    CHECK_EQUAL(signal_by_name("65"), 0);
}

static void sets_are_written_by_what_is_shorter(void)
{
    call_text_run_init(&run);
    signal_text_put_set(&run.out, 0);
    signal_text_put_set(&run.out, UINT64_MAX);
    signal_text_put_set(&run.out, 1ULL << (SIGINT - 1) | 1ULL << (SIGCHLD - 1));
    signal_text_put_set(&run.out, ~(1ULL << 31 | 1ULL << 32));
    CHECK_TEXT(run.buffer, "[]~[][INT CHLD]~[RTMIN RT_1]");
}

static void actions_and_stacks(void)
{
    struct call_text *text = call_text_run_init(&run);
    const uint64_t action[4] = {1, 0x14000000, 0x7000, 0};
    const stack_t stack = {(void *)0x1000, SS_DISABLE, 8192};

    signal_text_put_action(text, action);
    CHECK_TEXT(run.buffer, "{sa_handler=SIG_IGN, sa_mask=[], sa_flags=SA_RESTORER|SA_RESTART, sa_restorer=0x7000}");
    call_text_run_clear(&run);
    signal_text_put_stack(text, &stack);
    CHECK_TEXT(run.buffer, "{ss_sp=0x1000, ss_flags=SS_DISABLE, ss_size=8192}");
}

static void what_comes_with_signals(void)
{
    siginfo_t info = {.si_signo = SIGCHLD, .si_code = CLD_EXITED};

    call_text_run_init(&run);
    info.si_pid = 12;
    info.si_uid = 3;
    info.si_status = 7;
    signal_text_put_info(&run.out, &info);
    CHECK_TEXT(run.buffer, "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=12, si_uid=3, si_status=7, si_utime=0, "
                           "si_stime=0}");
    call_text_run_clear(&run);
    info = (siginfo_t){.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    info.si_addr = (void *)0x10;
    signal_text_put_info(&run.out, &info);
    CHECK_TEXT(run.buffer, "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10}");
    call_text_run_clear(&run);
    info = (siginfo_t){.si_signo = SIGUSR1, .si_code = SI_TKILL};
    info.si_pid = 5;
    signal_text_put_info(&run.out, &info);
    CHECK_TEXT(run.buffer, "{si_signo=SIGUSR1, si_code=SI_TKILL, si_pid=5, si_uid=0}");
}

static const struct check_case cases[] = {
    CHECK_CASE(signals_have_names_both_ways),
    CHECK_CASE(sets_are_written_by_what_is_shorter),
    CHECK_CASE(actions_and_stacks),
    CHECK_CASE(what_comes_with_signals),
};

CHECK_MAIN(cases)
