/* SPDX-License-Identifier: MIT */
/* By register sets, whose numbers differ between CPUs: where the call's number and result are is all that matters. */
#include "syscalls/ptrace_registers.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define INSTRUCTION_BYTES 2

#if defined(__x86_64__)

static int get(int tid, struct user_regs_struct *registers)
{
    struct iovec area = {registers, sizeof(*registers)};

    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &area) == 0 ? 0 : -errno;
}

static int set(int tid, struct user_regs_struct *registers)
{
    struct iovec area = {registers, sizeof(*registers)};

    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &area) == 0 ? 0 : -errno;
}

int ptrace_registers_skip_call(int tid)
{
    struct user_regs_struct registers;
    int result = get(tid, &registers);

    if (result != 0)
        return result;
    registers.orig_rax = (unsigned long long)-1;
    return set(tid, &registers);
}

int ptrace_registers_set_result(int tid, int64_t value)
{
    struct user_regs_struct registers;
    int result = get(tid, &registers);

    if (result != 0)
        return result;
    registers.rax = (unsigned long long)value;
    return set(tid, &registers);
}

void ptrace_registers_undo_skip(int tid, uint64_t number)
{
    struct user_regs_struct registers;

    if (get(tid, &registers) != 0 || (long)registers.orig_rax != -1)
        return;
    registers.orig_rax = number;
    (void)set(tid, &registers);
}

#else

int ptrace_registers_skip_call(int tid)
{
    (void)tid;
    return -ENOSYS;
}

int ptrace_registers_set_result(int tid, int64_t value)
{
    (void)tid;
    (void)value;
    return -ENOSYS;
}

void ptrace_registers_undo_skip(int tid, uint64_t number)
{
    (void)tid;
    (void)number;
}

#endif
