/* SPDX-License-Identifier: MIT */
/* configurations: debug-* */
#define _GNU_SOURCE
#include "stalker/seccomp_filter.h"

#include "base/raw_syscall.h"
#include "support/check.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sock_filter filter[4096];

/* A call passes if it returns there, and the others meet what follows. */
static void a_filter_begins_with_what_may_pass(void)
{
    static const uint64_t addresses[] = {0x100000010, 0x100000020, 0x100000030, 0x200000010};
    size_t used = seccomp_filter_begin(addresses, 4, filter, 4096);

    CHECK_EQUAL(used, (4 + 3) + (4 + 1) + 1);
    CHECK_EQUAL(filter[1].k, 1);
    CHECK_EQUAL(filter[1].jf, 5);
    CHECK_EQUAL(filter[3].k, 0x10);
    CHECK(filter[3].jt == 2 && filter[3].jf == 0);
    CHECK(filter[5].jt == 0 && filter[5].jf == 1);
    CHECK_EQUAL(filter[6].k, SECCOMP_RET_ALLOW);
    CHECK_EQUAL(filter[8].k, 2);
    CHECK(filter[10].jt == 0 && filter[10].jf == 1);
    CHECK_EQUAL(filter[12].code, BPF_LD | BPF_IMM);
    CHECK_EQUAL(seccomp_filter_begin(addresses, 4, filter, used - 1), 0);
    CHECK_EQUAL(seccomp_filter_begin(addresses, 4, filter, 4), 0);
    CHECK_EQUAL(seccomp_filter_begin(addresses, 4, filter, used), used);
}

static void which_calls_set_one_is_known(void)
{
    struct system_call call = {.number = SYS_seccomp, .arguments = {SECCOMP_SET_MODE_FILTER, 0, 1}};

    CHECK(seccomp_filter_is_set_by(&call));
    call.arguments[0] = SECCOMP_GET_ACTION_AVAIL;
    CHECK(!seccomp_filter_is_set_by(&call));
    call = (struct system_call){.number = SYS_prctl, .arguments = {PR_SET_SECCOMP, SECCOMP_MODE_STRICT}};
    CHECK(seccomp_filter_is_set_by(&call));
    call.arguments[1] = 7;
    CHECK(!seccomp_filter_is_set_by(&call));
    call = (struct system_call){.number = SYS_prctl, .arguments = {PR_SET_NAME, SECCOMP_MODE_STRICT}};
    CHECK(!seccomp_filter_is_set_by(&call));
}

/* Forbids itself all but ending; what it finds is its exit status. */
static int confined(void)
{
    struct sock_filter forbid[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 33),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(forbid) / sizeof(forbid[0]), forbid};
    struct system_call call = {.number = SYS_seccomp, .arguments = {SECCOMP_SET_MODE_FILTER, 0, (long)&program}};
    int found = 0;

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (seccomp_filter_set(&call) != 0)
        return 64;
    found |= raw_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0) > 0 ? 1 : 0;
    found |= raw_syscall_for_program(SYS_getppid, 0, 0, 0, 0, 0, 0) == -33 ? 2 : 0;
    found |= syscall(SYS_getppid) == -1 && errno == 33 ? 4 : 0;
    return found;
}

static void calls_of_ours_pass_and_others_do_not(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        syscall(SYS_exit_group, confined());
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 7 << 8);
}

static void what_cannot_be_read_is_refused(void)
{
    struct sock_fprog program = {1, (struct sock_filter *)16};
    struct system_call call = {.number = SYS_seccomp, .arguments = {SECCOMP_SET_MODE_FILTER, 0, 16}};

    CHECK_EQUAL(seccomp_filter_set(&call), -EFAULT);
    call.arguments[2] = (long)&program;
    CHECK_EQUAL(seccomp_filter_set(&call), -EFAULT);
    program.len = 0;
    CHECK_EQUAL(seccomp_filter_set(&call), -EINVAL);
    program.len = 5000;
    CHECK_EQUAL(seccomp_filter_set(&call), -EINVAL);
}

static void a_filter_is_changed_for_who_does_not_set_it(void)
{
    struct sock_filter own[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW), BPF_STMT(BPF_RET | BPF_K, 7)};
    struct sock_fprog program = {2, own};
    struct system_call call = {SYS_prctl, {PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program}};
    struct seccomp_changed *changed;
    unsigned argument = 0;

    changed = seccomp_filter_change(&call, &argument);
    CHECK(changed != NULL);
    CHECK_EQUAL(argument, 2);
    CHECK(changed->program.filter == changed->filter);
    CHECK(changed->program.len > 2);
    CHECK_EQUAL(changed->filter[changed->program.len - 1].k, 7);
    seccomp_filter_forget(changed);
    call.arguments[2] = 16;
    CHECK(seccomp_filter_change(&call, &argument) == NULL);
    call.arguments[1] = SECCOMP_MODE_STRICT;
    CHECK(seccomp_filter_change(&call, &argument) == NULL);
    call.number = SYS_getpid;
    CHECK(seccomp_filter_change(&call, &argument) == NULL);
}

static const struct check_case cases[] = {
    CHECK_CASE(a_filter_begins_with_what_may_pass), CHECK_CASE(a_filter_is_changed_for_who_does_not_set_it),
    CHECK_CASE(which_calls_set_one_is_known),       CHECK_CASE(calls_of_ours_pass_and_others_do_not),
    CHECK_CASE(what_cannot_be_read_is_refused),
};

CHECK_MAIN(cases)
