/* SPDX-License-Identifier: MIT */
#include "agent/system_call_injection.h"

#include "agent/hook_details.h"
#include "base/raw_syscall.h"
#include "protocol/agent_call.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/time_types.h>
#include <stddef.h>

#define NUMBERS  (AGENT_SYSTEM_CALL_WORDS * 64u)
#define NS_PER_S 1000000000ull

static struct {
    struct agent_injection all[AGENT_INJECTIONS_MAX];
    uint32_t count;
} injections;

void system_call_injection_begin(const struct agent_options *options)
{
    injections.count =
        options->injection_count < AGENT_INJECTIONS_MAX ? options->injection_count : AGENT_INJECTIONS_MAX;
    __builtin_memcpy(injections.all, options->injections, sizeof(injections.all));
}

void system_call_injection_end(void)
{
    injections.count = 0;
}

static bool has(const struct agent_injection *injection, uint64_t number)
{
    if (number >= NUMBERS)
        number = NUMBERS - 1;
    return injection->system_calls[number / 64] >> number % 64 & 1;
}

bool system_call_injection_concerns(uint64_t number)
{
    for (uint32_t i = 0; i < injections.count; i++)
        if (has(&injections.all[i], number))
            return true;
    return false;
}

static bool applies(const struct agent_injection *injection, uint32_t count)
{
    return count >= injection->first && count <= injection->last &&
           (injection->step == 0 || (count - injection->first) % injection->step == 0);
}

const struct agent_injection *system_call_injection_pick(struct hook_thread *thread, uint64_t number)
{
    uint32_t *counts = injections.count == 0 ? NULL : hook_details_call_counts(thread);
    const struct agent_injection *picked = NULL;

    for (uint32_t i = 0; counts != NULL && i < injections.count; i++)
        if (has(&injections.all[i], number) && applies(&injections.all[i], ++counts[i]))
            picked = &injections.all[i];
    return picked;
}

uint64_t system_call_injection_number(const struct agent_injection *injection)
{
    return injection == NULL ? 0 : (uint64_t)(injection - injections.all) + 1;
}

const struct agent_injection *system_call_injection_by_number(uint64_t number)
{
    return number == 0 || number > injections.count ? NULL : &injections.all[number - 1];
}

void system_call_injection_wait(uint64_t delay_ns)
{
    struct __kernel_timespec left = {(long long)(delay_ns / NS_PER_S), (long long)(delay_ns % NS_PER_S)};

    while (delay_ns != 0 && raw_syscall(__NR_nanosleep, (long)&left, (long)&left, 0, 0, 0, 0) == -EINTR)
        continue;
}

void system_call_injection_signal(uint32_t signal)
{
    long pid = raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), tid = raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);

    if (signal != 0)
        (void)raw_syscall(__NR_tgkill, pid, tid, (long)signal, 0, 0, 0);
}
