/* SPDX-License-Identifier: MIT */
#include "process/memory_probe.h"

#include "base/alignment.h"
#include "base/memory_functions.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "elf/elf_memory.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/uio.h>

bool memory_probe(uint64_t address)
{
    /* It reads the set of signals, if it is one, before it looks at what to do with it, and nothing is -1. */
    return address != 0 && raw_syscall(__NR_rt_sigprocmask, -1, (long)address, 0, sizeof(uint64_t), 0, 0) != -EFAULT;
}

static bool probe_pages(uint64_t address, size_t size_bytes)
{
    uint64_t last = address + size_bytes - 1, page_bytes = memory_page_size();

    for (uint64_t page = align_down(address, page_bytes); page <= last; page += page_bytes)
        if (!memory_probe(page))
            return false;
    return true;
}

int memory_probe_copy(uint64_t address, void *bytes_out, size_t size_bytes)
{
    struct iovec local = {bytes_out, size_bytes}, remote = {(void *)(uintptr_t)address, size_bytes};
    long pid, copied;

    if (size_bytes == 0)
        return 0;
    if (address + size_bytes < address)
        return -EFAULT;
    pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    copied = raw_syscall(__NR_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0);
    if (copied == -ENOSYS || copied == -EPERM) {
        if (!probe_pages(address, size_bytes))
            return -EFAULT;
        memcpy(bytes_out, (const void *)(uintptr_t)address, size_bytes);
        return 0;
    }
    return copied == (long)size_bytes ? 0 : -EFAULT;
}

size_t memory_probe_copy_some(uint64_t address, void *bytes_out, size_t size_bytes)
{
    size_t copied = 0;

    while (copied < size_bytes) {
        uint64_t here = address + copied;
        size_t left = size_bytes - copied, page = align_rest(here, memory_page_size());
        size_t piece = left < page ? left : page;

        if (memory_probe_copy(here, (uint8_t *)bytes_out + copied, piece) != 0)
            break;
        copied += piece;
    }
    return copied;
}

int memory_probe_write(uint64_t address, const void *bytes, size_t size_bytes)
{
    struct iovec local = {(void *)(uintptr_t)bytes, size_bytes}, remote = {(void *)(uintptr_t)address, size_bytes};
    long pid, written;

    if (size_bytes == 0)
        return 0;
    if (address + size_bytes < address)
        return -EFAULT;
    pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    written = raw_syscall(__NR_process_vm_writev, pid, (long)&local, 1, (long)&remote, 1, 0);
    if (written == -EPERM || written == -ENOSYS)
        return (int)written;
    return written == (long)size_bytes ? 0 : -EFAULT;
}

static bool read_by_probe(void *context, uint64_t address, void *bytes_out, size_t size_bytes)
{
    (void)context;
    return memory_probe_copy(address, bytes_out, size_bytes) == 0;
}

const struct elf_memory memory_probe_reader = {.read = read_by_probe};
