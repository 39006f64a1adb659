/* SPDX-License-Identifier: MIT */
/* Other threads may open a file more meanwhile than they should, which is less harm than code that is not seen. */
#include "base/descriptor.h"

#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/resource.h>

/* As many as we have open at a time, and some more. */
#define DESCRIPTORS_MORE 8

static long limit_files(const struct rlimit64 *limit, struct rlimit64 *before_out)
{
    return raw_syscall(__NR_prlimit64, 0, RLIMIT_NOFILE, (long)limit, (long)before_out, 0, 0);
}

static long open_now(const char *path, int flags)
{
    return raw_syscall(__NR_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0, 0, 0);
}

/* Beyond the hard limit only with privileges; up to it in any case. */
static long raise_limit(const struct rlimit64 *before)
{
    struct rlimit64 raised = {before->rlim_cur + DESCRIPTORS_MORE, before->rlim_max};

    if (raised.rlim_cur > raised.rlim_max)
        raised.rlim_max = raised.rlim_cur;
    if (limit_files(&raised, (void *)0) == 0)
        return 0;
    raised = (struct rlimit64){before->rlim_max, before->rlim_max};
    return limit_files(&raised, (void *)0);
}

long descriptor_open(const char *path, int flags)
{
    long fd = open_now(path, flags);
    struct rlimit64 before;

    if (fd != -EMFILE || limit_files((void *)0, &before) != 0 || raise_limit(&before) != 0)
        return fd;
    fd = open_now(path, flags);
    (void)limit_files(&before, (void *)0);
    return fd;
}
