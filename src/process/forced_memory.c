/* SPDX-License-Identifier: MIT */
/* pread and pwrite at the offset that is the address. No state beyond the descriptor, no lock. */
#include "process/forced_memory.h"

#include "base/descriptor.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>

#define DUMPABLE_BY_USER 1

static long open_memory(void)
{
    return descriptor_open("/proc/self/mem", O_RDWR);
}

/* The files of processes that are not dumpable belong to root. */
static long open_protected(void)
{
    long dumpable = raw_syscall(__NR_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0);
    long fd;

    if (dumpable == DUMPABLE_BY_USER)
        return -EACCES;
    (void)raw_syscall(__NR_prctl, PR_SET_DUMPABLE, DUMPABLE_BY_USER, 0, 0, 0, 0);
    fd = open_memory();
    (void)raw_syscall(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0, 0);
    return fd;
}

int forced_memory_init(struct forced_memory *memory)
{
    long fd = open_memory();

    if (fd == -EACCES)
        fd = open_protected();
    if (fd < 0)
        return (int)fd;
    memory->fd = (int)fd;
    return 0;
}

void forced_memory_deinit(struct forced_memory *memory)
{
    if (memory->fd >= 0)
        (void)raw_syscall(__NR_close, memory->fd, 0, 0, 0, 0, 0);
    memory->fd = -1;
}

size_t forced_memory_read(const struct forced_memory *memory, uint64_t address, void *bytes_out, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        long got = raw_syscall(__NR_pread64, memory->fd, (long)bytes_out + (long)done, (long)(size_bytes - done),
                               (long)(address + done), 0, 0);

        if (got <= 0 && got != -EINTR)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

int forced_memory_write(const struct forced_memory *memory, uint64_t address, const void *bytes, size_t size_bytes)
{
    size_t done = 0;

    while (done < size_bytes) {
        long put = raw_syscall(__NR_pwrite64, memory->fd, (long)bytes + (long)done, (long)(size_bytes - done),
                               (long)(address + done), 0, 0);

        if (put <= 0 && put != -EINTR)
            return -EFAULT;
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}
