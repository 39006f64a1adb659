/* SPDX-License-Identifier: MIT */
/* By register sets, which differ between CPUs: where the call's number and result are is all that matters. */
#include "syscalls/ptrace_registers.h"

#include "arch/abi.h"
#include "arch/thread_registers.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* As a call's number: there is none to make. */
#define NO_CALL (-1)

/* -EIO: the thread is in code of another kind, whose registers are elsewhere. */
static int get(int tid, struct abi_register_place place, struct thread_registers *registers_out, struct iovec *area_out)
{
    *area_out = (struct iovec){registers_out, sizeof(*registers_out)};
    if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)place.set, area_out) != 0)
        return -errno;
    return area_out->iov_len < place.offset + place.size_bytes ? -EIO : 0;
}

static int put(int tid, struct abi_register_place place, int64_t value)
{
    struct thread_registers registers;
    struct iovec area;
    int result = get(tid, place, &registers, &area);

    if (result != 0)
        return result;
    /* All are of little ends: the lower bytes come first. */
    memcpy((char *)&registers + place.offset, &value, place.size_bytes);
    return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)place.set, &area) == 0 ? 0 : -errno;
}

static bool is_left_out(int tid)
{
    struct abi_register_place place = abi_host()->call_number;
    const int64_t none = NO_CALL;
    struct thread_registers registers;
    struct iovec area;

    return get(tid, place, &registers, &area) == 0 &&
           memcmp((const char *)&registers + place.offset, &none, place.size_bytes) == 0;
}

int ptrace_registers_skip_call(int tid)
{
    return put(tid, abi_host()->call_number, NO_CALL);
}

int ptrace_registers_set_result(int tid, int64_t value)
{
    return put(tid, abi_host()->call_result, value);
}

void ptrace_registers_undo_skip(int tid, uint64_t number)
{
    if (is_left_out(tid))
        (void)put(tid, abi_host()->call_number, (int64_t)number);
}
