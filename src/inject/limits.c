/* SPDX-License-Identifier: MIT */
/* Root may go beyond the hard limit, everybody up to it. */
#define _GNU_SOURCE
#include "inject/limits.h"

#include "hosted/error_text.h"

#include <errno.h>
#include <signal.h>

/* Each process that is recorded takes some; the kernel's own limit for all processes is not less. */
#define FILES_WANTED 65536
/* With fewer, not even one process can be recorded. */
#define FILES_NEEDED 32

static void raise_limit(__rlimit_resource_t resource, rlim_t wanted)
{
    struct rlimit limit, raised;

    if (getrlimit(resource, &limit) != 0)
        return;
    raised.rlim_cur = raised.rlim_max = limit.rlim_max > wanted ? limit.rlim_max : wanted;
    if (setrlimit(resource, &raised) == 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(resource, &limit);
}

/* Unlike SIG_IGN, it is not inherited by programs. */
static void do_nothing(int signal)
{
    (void)signal;
}

void limits_survive_large_files(void)
{
    (void)signal(SIGXFSZ, do_nothing);
}

void limits_raise_own(void)
{
    raise_limit(RLIMIT_NOFILE, FILES_WANTED);
    raise_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    limits_survive_large_files();
}

int limits_check_own(struct gait_error *err)
{
    struct rlimit before, raised;

    if (getrlimit(RLIMIT_NOFILE, &before) != 0 || before.rlim_cur >= FILES_NEEDED)
        return 0;
    raise_limit(RLIMIT_NOFILE, FILES_NEEDED);
    if (getrlimit(RLIMIT_NOFILE, &raised) != 0)
        raised = before;
    (void)setrlimit(RLIMIT_NOFILE, &before);
    if (raised.rlim_cur >= FILES_NEEDED)
        return 0;
    return error_set(err, EMFILE, "gait may have only %llu files open at once, and needs %d (ulimit -n)",
                     (unsigned long long)raised.rlim_cur, FILES_NEEDED);
}

bool limits_is_lack(int result)
{
    return result == -ENOMEM || result == -EMFILE || result == -ENFILE || result == -EFBIG;
}

void limits_loan_begin(struct limits_loan *loan, pid_t pid)
{
    struct rlimit raised;

    *loan = (struct limits_loan){.pid = 0};
    if (prlimit(pid, RLIMIT_NOFILE, NULL, &loan->before) != 0 || loan->before.rlim_cur >= FILES_NEEDED)
        return;
    raised = (struct rlimit){FILES_NEEDED, loan->before.rlim_max};
    if (raised.rlim_max < FILES_NEEDED)
        raised.rlim_max = FILES_NEEDED;
    if (prlimit(pid, RLIMIT_NOFILE, &raised, NULL) != 0)
        raised.rlim_cur = raised.rlim_max = loan->before.rlim_max;
    if (prlimit(pid, RLIMIT_NOFILE, &raised, NULL) == 0)
        loan->pid = pid;
}

void limits_loan_end(const struct limits_loan *loan)
{
    if (loan->pid != 0)
        (void)prlimit(loan->pid, RLIMIT_NOFILE, &loan->before, NULL);
}
