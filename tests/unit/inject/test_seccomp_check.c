/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inject/seccomp_check.h"

#include "support/check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gait_error err;
static struct tracee tracee;

/* A process that may not make these system calls: it gets an error, or is killed. Stopped. */
static void start(const int *forbidden, unsigned count, uint32_t action)
{
    siginfo_t info;
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        for (unsigned i = 0; i < count; i++) {
            struct sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)forbidden[i], 0, 1),
                BPF_STMT(BPF_RET | BPF_K, action),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            };
            struct sock_fprog program = {4, filter};

            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
                _exit(1);
        }
        raise(SIGSTOP);
        for (;;)
            pause();
    }
    CHECK_EQUAL(waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOWAIT), 0);
    CHECK_EQUAL(tracee_seize(&tracee, child, child), 0);
    CHECK_EQUAL(tracee_interrupt(&tracee), 0);
}

static void end(void)
{
    CHECK_EQUAL(kill(tracee.pid, SIGKILL), 0);
    CHECK_EQUAL(waitpid(tracee.pid, NULL, 0), tracee.pid);
    err = (struct gait_error){0};
}

static void who_is_not_confined_may_do_all(void)
{
    bool counter = false;

    start(NULL, 0, 0);
    CHECK_EQUAL(seccomp_check_all(&tracee, &counter, &err), 0);
    CHECK(counter);
    CHECK_EQUAL(seccomp_check_unload(&tracee, &err), 0);
    end();
}

static void what_the_agent_needs_is_found_missing(void)
{
    static const uint32_t actions[] = {SECCOMP_RET_ERRNO | 1, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP};
    static const int forbidden[] = {SYS_ptrace, SYS_memfd_create, SYS_kexec_load};
    bool counter = true;

    for (unsigned i = 0; i < 3; i++) {
        start(forbidden, 3, actions[i]);
        CHECK_EQUAL(seccomp_check_all(&tracee, &counter, &err), -EPERM);
        CHECK(strstr(err.text, "confined itself by seccomp") != NULL);
        /* Not everybody is shown the filters. */
        if (geteuid() == 0)
            CHECK(strstr(err.text, "may not call memfd_create") != NULL);
        if (geteuid() == 0)
            CHECK_EQUAL(seccomp_check_unload(&tracee, &err), 0);
        end();
    }
}

static void what_it_does_not_need_does_not_matter(void)
{
    static const int forbidden[] = {SYS_reboot, SYS_kexec_load, SYS_munmap}, no_prctl[] = {SYS_prctl};
    bool counter = false;

    if (geteuid() != 0) {
        puts("needs root: not tried");
        return;
    }
    start(forbidden, 2, SECCOMP_RET_KILL_PROCESS);
    CHECK_EQUAL(seccomp_check_all(&tracee, &counter, &err), 0);
    CHECK(counter);
    end();
    start(no_prctl, 1, SECCOMP_RET_KILL_PROCESS);
    CHECK_EQUAL(seccomp_check_all(&tracee, &counter, &err), 0);
    CHECK(!counter);
    end();
    start(forbidden, 3, SECCOMP_RET_KILL_PROCESS);
    CHECK_EQUAL(seccomp_check_unload(&tracee, &err), -EPERM);
    CHECK(strstr(err.text, "munmap") != NULL);
    end();
}

static const struct check_case cases[] = {
    CHECK_CASE(who_is_not_confined_may_do_all),
    CHECK_CASE(what_the_agent_needs_is_found_missing),
    CHECK_CASE(what_it_does_not_need_does_not_matter),
};

CHECK_MAIN(cases)
