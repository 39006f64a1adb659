/* SPDX-License-Identifier: MIT */
/*
 * Only the thread itself changes its setting. The table's bytes, once marked, stay so: a program that has done this
 * once does it again.
 */
#include "stalker/call_dispatch.h"

#include "arch/system_call_registers.h"
#include "base/counters.h"
#include "base/memory_functions.h"
#include "base/raw_syscall.h"
#include "process/memory_probe.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

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

bool call_dispatch_is_set_by(const struct system_call *call)
{
    return call->number == __NR_prctl && call->arguments[0] == PR_SET_SYSCALL_USER_DISPATCH;
}

static void mark_calls(struct stalker_engine *engine)
{
    for (uint32_t i = 0; i < NUMBERS; i++)
        engine->system_calls[i] |= SYSTEM_CALL_DISPATCHED;
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

long call_dispatch_set(struct stalker_thread *thread, const struct system_call *call)
{
    struct call_dispatch wanted = {
        .mode = (uint32_t)call->arguments[1],
        .start = (uint64_t)call->arguments[2],
        .size = (uint64_t)call->arguments[3],
        .selector = (uint64_t)call->arguments[4],
    };
    uint64_t end = wanted.start + wanted.size;
    long result;

    if (call->arguments[1] == PR_SYS_DISPATCH_OFF ||
        (call->arguments[1] != MODE_OUTSIDE && call->arguments[1] != MODE_WITHIN))
        result = raw_syscall_for_program(call->number, call->arguments[0], call->arguments[1], call->arguments[2],
                                         call->arguments[3], call->arguments[4], call->arguments[5]);
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
    thread->dispatch = wanted;
    if (wanted.mode != PR_SYS_DISPATCH_OFF)
        mark_calls(thread->engine);
    return 0;
}

static void raise_dispatched(struct stalker_thread *thread, long number, uint64_t next, uint32_t architecture)
{
    siginfo_t info = {.si_signo = SIGSYS, .si_code = SIGNAL_CODE};

    info.si_call_addr = (void *)(uintptr_t)next;
    info.si_syscall = (int)number;
    info.si_arch = architecture;
    signal_thread_raise(thread, SIGSYS, &info);
}

bool call_dispatch_holds(struct stalker_thread *thread, long number, uint64_t next, uint32_t architecture)
{
    struct call_dispatch *dispatch = &thread->dispatch;
    uint8_t selector = SYSCALL_DISPATCH_FILTER_BLOCK;

    if (dispatch->mode == PR_SYS_DISPATCH_OFF)
        return false;
    if (next - dispatch->start < dispatch->size) {
        dispatch->passed = thread->context.pc;
        return false;
    }
    if (dispatch->selector != 0 && memory_probe_copy(dispatch->selector, &selector, sizeof(selector)) != 0) {
        signal_thread_die(thread, SIGSEGV);
        return true;
    }
    if (selector == SYSCALL_DISPATCH_FILTER_ALLOW)
        return false;
    if (selector == SYSCALL_DISPATCH_FILTER_BLOCK)
        raise_dispatched(thread, number, next, architecture);
    else
        signal_thread_die(thread, SIGSYS);
    return true;
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
