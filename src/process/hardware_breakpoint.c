/* SPDX-License-Identifier: MIT */
#include "process/hardware_breakpoint.h"

#include "base/memory_functions.h"
#include "base/raw_syscall.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define SIGNAL_TRAP       5
#define CODE_PERF         6  /* TRAP_PERF */
#define PROGRAM_BITS      56 /* no program has addresses with more */
#define INSTRUCTION_BYTES 8  /* what the kernel wants to be told; it means the instruction there */

/* As much of the kernel's siginfo_t as is needed, whose header and libc's cannot both be included. */
struct trap_info {
    int32_t signal;
    int32_t error;
    int32_t code;
    int32_t padding;
    uint64_t address;
    uint64_t data;
    uint32_t type;
    uint32_t flags;
};

static bool is_watchable(const struct hardware_breakpoint *breakpoint)
{
    unsigned size_bytes = breakpoint->size_bytes;

    if (breakpoint->address >> PROGRAM_BITS != 0)
        return false;
    if (breakpoint->kind == HARDWARE_EXECUTE)
        return size_bytes == 0;
    return (size_bytes == 1 || size_bytes == 2 || size_bytes == 4 || size_bytes == 8) &&
           breakpoint->address % size_bytes == 0;
}

static unsigned type_of(enum hardware_breakpoint_kind kind)
{
    switch (kind) {
    case HARDWARE_EXECUTE:
        return HW_BREAKPOINT_X;
    case HARDWARE_WRITE:
        return HW_BREAKPOINT_W;
    case HARDWARE_ACCESS:
        break;
    }
    return HW_BREAKPOINT_RW;
}

int hardware_breakpoint_set(const struct hardware_breakpoint *breakpoint, int *fd_out)
{
    struct perf_event_attr event;
    long fd;

    if (!is_watchable(breakpoint) || breakpoint->tag == 0 || breakpoint->tid <= 0)
        return -EINVAL;
    memset(&event, 0, sizeof(event));
    event.type = PERF_TYPE_BREAKPOINT;
    event.size = sizeof(event);
    event.bp_type = type_of(breakpoint->kind);
    event.bp_addr = breakpoint->address;
    event.bp_len = breakpoint->kind == HARDWARE_EXECUTE ? INSTRUCTION_BYTES : breakpoint->size_bytes;
    event.sample_period = 1;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    event.sigtrap = 1;
    event.remove_on_exec = 1; /* sigtrap wants it */
    event.sig_data = breakpoint->tag;
    fd = raw_syscall(__NR_perf_event_open, (long)&event, breakpoint->tid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd >= 0) {
        *fd_out = (int)fd;
        return 0;
    }
    /* What could be wrong with the address was looked at; what is left is that the kernel does not know this. */
    return fd == -EINVAL || fd == -ENOSYS || fd == -ENOENT || fd == -ENODEV || fd == -E2BIG ? -EOPNOTSUPP : (int)fd;
}

void hardware_breakpoint_clear(int fd)
{
    (void)raw_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

bool hardware_breakpoint_of_signal(const void *siginfo, uint64_t *tag_out, uint64_t *address_out)
{
    const struct trap_info *info = siginfo;

    if (info->signal != SIGNAL_TRAP || info->code != CODE_PERF || info->type != PERF_TYPE_BREAKPOINT || info->data == 0)
        return false;
    *tag_out = info->data;
    *address_out = info->address;
    return true;
}
