/* SPDX-License-Identifier: MIT */
/*
 * Creating memfds on old and new kernels. From Linux 6.3 on the creator has to say whether the file may be executed,
 * and a system setting decides which answers are refused; before, the flag is unknown (-EINVAL). Mappings are made by
 * the neighbour memory_map.c.
 */
#include "base/memory_file.h"

#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/resource.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static long create(const char *label, unsigned flags)
{
    return raw_syscall(__NR_memfd_create, (long)label, (long)(MFD_CLOEXEC | MFD_ALLOW_SEALING | flags), 0, 0, 0, 0);
}

/* What execve may do with the file does not matter here, mmap decides by other rules: so any answer will do. */
static long create_with_first_accepted_flags(const char *label, bool executable)
{
    const unsigned wanted = executable ? MFD_EXEC : MFD_NOEXEC_SEAL;
    const unsigned attempts[] = {wanted, 0, MFD_NOEXEC_SEAL};
    long fd = -EINVAL;

    for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++) {
        fd = create(label, attempts[i]);
        if (fd != -EINVAL && fd != -EACCES)
            return fd;
    }
    return fd;
}

static long limit_file_size(const struct rlimit64 *limit, struct rlimit64 *before_out)
{
    return raw_syscall(__NR_prlimit64, 0, RLIMIT_FSIZE, (long)limit, (long)before_out, 0, 0);
}

/*
 * A process may have a limit for the sizes of its files (ulimit -f), and gets a signal when it goes beyond. These are
 * no files that it knows of: the limit is put aside meanwhile, as far as that is allowed.
 */
static long set_size(int fd, size_t size_bytes)
{
    struct rlimit64 before = {.rlim_cur = RLIM64_INFINITY}, raised;
    bool is_raised = false;
    long result;

    (void)limit_file_size(NULL, &before);
    if (before.rlim_cur < size_bytes) {
        raised = (struct rlimit64){size_bytes, before.rlim_max < size_bytes ? size_bytes : before.rlim_max};
        is_raised = limit_file_size(&raised, NULL) == 0;
        if (!is_raised)
            return -EFBIG;
    }
    result = raw_syscall(__NR_ftruncate, fd, (long)size_bytes, 0, 0, 0, 0);
    if (is_raised)
        (void)limit_file_size(&before, NULL);
    return result;
}

int memory_file_create(const char *label, size_t size_bytes, bool executable, int *fd_out)
{
    long fd = create_with_first_accepted_flags(label, executable);
    long result;

    if (fd < 0)
        return (int)fd;
    result = set_size((int)fd, size_bytes);
    if (result != 0) {
        memory_file_close((int)fd);
        return (int)result;
    }
    *fd_out = (int)fd;
    return 0;
}

int memory_file_seal_size(int fd)
{
    return (int)raw_syscall(__NR_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK, 0, 0, 0);
}

bool memory_file_is_sealed(int fd)
{
    long seals = raw_syscall(__NR_fcntl, fd, F_GET_SEALS, 0, 0, 0, 0);

    return seals >= 0 && seals & F_SEAL_SHRINK;
}

long memory_file_bytes(int fd)
{
    return raw_syscall(__NR_lseek, fd, 0, SEEK_END, 0, 0, 0);
}

void memory_file_close(int fd)
{
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}
