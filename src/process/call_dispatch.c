/* SPDX-License-Identifier: MIT */
/*
 * Only the thread itself changes its setting. The table's bytes, once marked, stay so: a program that has done this
 * once does it again.
 */
#include "process/call_dispatch.h"

#include "arch/system_call_registers.h"
#include "base/counters.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "process/memory_probe.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/prctl.h>

/* Calls from everywhere but a range; not in the headers of older kernels: calls from a range alone. */
#define MODE_OUTSIDE PR_SYS_DISPATCH_ON
#define MODE_WITHIN  2

#define NUMBERS      65536u
#define SIGNAL_CODE  2 /* SYS_USER_DISPATCH */

bool call_dispatch_is_set_by(long number, const long *arguments)
{
    return number == __NR_prctl && arguments[0] == PR_SET_SYSCALL_USER_DISPATCH;
}

/*
 * Whether there is such a thing, the program may ask for it, and may have a byte there: with a range that no call is
 * held back by, which is taken back at once.
 */
static long ask_kernel(uint64_t mode, uint64_t selector)
{
    uint64_t start = mode == MODE_OUTSIDE ? 1 : 0, size = mode == MODE_OUTSIDE ? UINT64_MAX - 2 : 1;
    long result = raw_syscall_for_program(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, (long)mode, (long)start, (long)size,
                                          (long)selector, 0);

    if (result == 0)
        (void)raw_syscall(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0, 0);
    return result;
}

long call_dispatch_set(struct call_dispatch *dispatch, const long *arguments)
{
    struct call_dispatch wanted = {
        .mode = (uint32_t)arguments[1],
        .start = (uint64_t)arguments[2],
        .size = (uint64_t)arguments[3],
        .selector = (uint64_t)arguments[4],
    };
    uint64_t end = wanted.start + wanted.size;
    bool is_on = arguments[1] == MODE_OUTSIDE || arguments[1] == MODE_WITHIN;
    long result;

    if (!is_on)
        result = raw_syscall_for_program(__NR_prctl, arguments[0], arguments[1], arguments[2], arguments[3],
                                         arguments[4], arguments[5]);
    else if (end <= wanted.start && (wanted.start != 0 || wanted.mode == MODE_WITHIN))
        result = -EINVAL;
    else
        result = ask_kernel(wanted.mode, wanted.selector);
    if (result != 0)
        return result;
    if (wanted.mode == MODE_WITHIN) {
        wanted.start = end;
        wanted.size = 0 - wanted.size;
    }
    *dispatch = wanted;
    return 0;
}

enum call_dispatch_answer call_dispatch_ask(struct call_dispatch *dispatch, uint64_t pc, uint64_t next)
{
    uint8_t selector = SYSCALL_DISPATCH_FILTER_BLOCK;

    if (dispatch->mode == PR_SYS_DISPATCH_OFF)
        return CALL_PASSES;
    if (next - dispatch->start < dispatch->size) {
        dispatch->passed = pc;
        return CALL_PASSES;
    }
    if (dispatch->selector != 0 && memory_probe_copy(dispatch->selector, &selector, sizeof(selector)) != 0)
        return CALL_ENDS_BY_FAULT;
    if (selector == SYSCALL_DISPATCH_FILTER_ALLOW)
        return CALL_PASSES;
    return selector == SYSCALL_DISPATCH_FILTER_BLOCK ? CALL_IS_HELD : CALL_ENDS_BY_SYS;
}

void call_dispatch_describe(void *info_out, long number, uint64_t next, uint32_t architecture)
{
    siginfo_t info = {.si_signo = SIGSYS, .si_code = SIGNAL_CODE};

    info.si_call_addr = (void *)(uintptr_t)next;
    info.si_syscall = (int)number;
    info.si_arch = architecture;
    memcpy(info_out, &info, sizeof(info));
}

/* Whether a call of ours at a place in the program that was one may be made there again. */
static bool is_call_still(uint64_t place)
{
    size_t size_bytes;
    const uint8_t *instruction = system_call_instruction(&size_bytes);
    uint8_t bytes[8];

    return place != 0 && size_bytes <= sizeof(bytes) && memory_probe_copy(place, bytes, size_bytes) == 0 &&
           memcmp(bytes, instruction, size_bytes) == 0;
}

uint64_t call_dispatch_leave(const struct call_dispatch *dispatch, uint64_t own_return)
{
    uint64_t start = dispatch->start, size = dispatch->size, place = 0;

    if (dispatch->mode == PR_SYS_DISPATCH_OFF)
        return 0;
    if (dispatch->mode == MODE_WITHIN) {
        size = 0 - size;
        start -= size;
    } else if (size == 0) {
        /* Nothing that the program could run is there. */
        start = own_return;
        size = 1;
    } else if (is_call_still(dispatch->passed)) {
        place = dispatch->passed;
    } else {
        counter_add(COUNTER_dispatches_lost, 1);
        return 0;
    }
    (void)raw_syscall(__NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, (long)dispatch->mode, (long)start, (long)size,
                      (long)dispatch->selector, 0);
    return place;
}
