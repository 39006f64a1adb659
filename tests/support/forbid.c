/* SPDX-License-Identifier: MIT */
/* Forbidding by seccomp filters and prctl. */
#include "support/forbid.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#define REFUSE_EXEC_GAIN      1

#define LOAD(field)           BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(value)         BPF_STMT(BPF_RET | BPF_K, (value))
#define SKIP_IF(value, n)     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (n), 0)
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n))

static bool install(struct sock_filter *filter, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, filter};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool forbid_writable_and_executable(void)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        SKIP_IF(__NR_mmap, 1),
        SKIP_UNLESS(__NR_mprotect, 4),
        LOAD(args[2]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
        SKIP_UNLESS(PROT_WRITE | PROT_EXEC, 1),
        RETURN(SECCOMP_RET_ERRNO | EACCES),
        RETURN(SECCOMP_RET_ALLOW),
    };

    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

bool forbid_memory_files(void)
{
    struct sock_filter filter[] = {
        LOAD(nr),
        SKIP_UNLESS(__NR_memfd_create, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
    };

    return install(filter, sizeof(filter) / sizeof(filter[0]));
}

bool forbid_gaining_execute(void)
{
    return prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) == 0;
}

int forbid_in_child(void (*run)(void))
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        run();
        fflush(NULL);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}
