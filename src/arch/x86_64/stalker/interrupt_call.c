/* SPDX-License-Identifier: MIT */
/*
 * A table of those that the engine has a part in. The ones whose arguments mean the same are made as the program's own
 * are; where the kernel takes them otherwise (structs of 32 bits, memory below 4 GiB, another form of signal frames),
 * the thread makes them natively.
 */
#include "arch/x86_64/stalker/interrupt_call.h"

#include "gait/x86_64.h"
#include "stalker/system_call.h"

#include <linux/prctl.h>
#include <linux/sched.h>
#include <stdbool.h>

#define NOT_AS_OURS (-1)

/* This CPU's numbers; a header has them only where this is built for it. */
enum own_call {
    OWN_MPROTECT = 10,
    OWN_MUNMAP = 11,
    OWN_MADVISE = 28,
    OWN_CLONE = 56,
    OWN_FORK = 57,
    OWN_EXIT = 60,
    OWN_MLOCKALL = 151,
    OWN_PRCTL = 157,
    OWN_EXIT_GROUP = 231,
    OWN_PKEY_MPROTECT = 329,
};

/* i386's numbers, for which there is no header beside ours. */
static const struct {
    uint16_t foreign;
    int16_t own;
} calls[] = {
    {1, OWN_EXIT},
    {2, OWN_FORK},
    {11, NOT_AS_OURS}, /* execve */
    {48, NOT_AS_OURS}, /* signal */
    {67, NOT_AS_OURS}, /* sigaction */
    {90, NOT_AS_OURS}, /* mmap */
    {91, OWN_MUNMAP},
    {117, NOT_AS_OURS}, /* ipc, and so shmat */
    {119, NOT_AS_OURS}, /* sigreturn */
    {120, OWN_CLONE},
    {125, OWN_MPROTECT},
    {152, OWN_MLOCKALL},
    {163, NOT_AS_OURS}, /* mremap */
    {172, OWN_PRCTL},
    {173, NOT_AS_OURS}, /* rt_sigreturn */
    {174, NOT_AS_OURS}, /* rt_sigaction */
    {186, NOT_AS_OURS}, /* sigaltstack */
    {190, NOT_AS_OURS}, /* vfork */
    {192, NOT_AS_OURS}, /* mmap2 */
    {219, OWN_MADVISE},
    {252, OWN_EXIT_GROUP},
    {354, NOT_AS_OURS}, /* seccomp */
    {358, NOT_AS_OURS}, /* execveat */
    {380, OWN_PKEY_MPROTECT},
    {397, NOT_AS_OURS}, /* shmat */
    {435, NOT_AS_OURS}, /* clone3 */
};

/* Those of fork alone: a thread, or a child that shares memory or has a thread base, begins otherwise. */
static bool is_like_fork(const struct system_call *call)
{
    return !(call->arguments[0] & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS));
}

static bool is_the_same(const struct system_call *call)
{
    if (call->number == OWN_CLONE)
        return is_like_fork(call);
    return call->number != OWN_PRCTL || call->arguments[0] != PR_SET_SECCOMP;
}

enum foreign_call x86_interrupt_call_get(const struct gait_cpu_context *cpu, struct system_call *call_out)
{
    uint32_t number = (uint32_t)gait_x86_64_rax(cpu);

    *call_out = (struct system_call){
        .number = (long)gait_x86_64_rax(cpu),
        .arguments = {(uint32_t)gait_x86_64_rbx(cpu), (uint32_t)gait_x86_64_rcx(cpu), (uint32_t)gait_x86_64_rdx(cpu),
                      (uint32_t)gait_x86_64_rsi(cpu), (uint32_t)gait_x86_64_rdi(cpu), (uint32_t)gait_x86_64_rbp(cpu)},
    };
    for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        struct system_call own = *call_out;

        if (calls[i].foreign != number)
            continue;
        own.number = calls[i].own;
        /* There the thread base comes before the child's tid. */
        if (own.number == OWN_CLONE) {
            own.arguments[3] = call_out->arguments[4];
            own.arguments[4] = call_out->arguments[3];
        }
        if (own.number == NOT_AS_OURS || !is_the_same(&own))
            return FOREIGN_CALL_LEAVE;
        *call_out = own;
        return FOREIGN_CALL_SAME;
    }
    return FOREIGN_CALL_PLAIN;
}

void x86_interrupt_call_keep(struct gait_cpu_context *cpu, const struct gait_cpu_context *before)
{
    gait_x86_64_rcx(cpu) = gait_x86_64_rcx(before);
    gait_x86_64_r11(cpu) = gait_x86_64_r11(before);
}
