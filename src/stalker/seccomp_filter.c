/* SPDX-License-Identifier: MIT */
#include "stalker/seccomp_filter.h"

#include "arch/own_calls.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "stalker/program_memory.h"
#include "stalker/signal_actions.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

/* What the signal of a call that strict mode forbids brings along. */
#define STRICT_MARK   0x5354

#define OFFSET_NUMBER offsetof(struct seccomp_data, nr)
#define OFFSET_LOW    offsetof(struct seccomp_data, instruction_pointer)
#define OFFSET_HIGH   (offsetof(struct seccomp_data, instruction_pointer) + 4)

/* The same thing in two system calls. */
struct filter_call {
    bool is_strict;
    uint64_t program; /* struct sock_fprog */
    unsigned program_argument;
};

static bool find(const struct system_call *call, struct filter_call *found_out)
{
    const long *arguments = call->arguments;

    if (call->number == __NR_seccomp && arguments[0] == SECCOMP_SET_MODE_FILTER)
        *found_out = (struct filter_call){.program = (uint64_t)arguments[2], .program_argument = 2};
    else if (call->number == __NR_prctl && arguments[0] == PR_SET_SECCOMP && arguments[1] == SECCOMP_MODE_FILTER)
        *found_out = (struct filter_call){.program = (uint64_t)arguments[2], .program_argument = 2};
    else if ((call->number == __NR_seccomp && arguments[0] == SECCOMP_SET_MODE_STRICT && arguments[1] == 0 &&
              arguments[2] == 0) ||
             (call->number == __NR_prctl && arguments[0] == PR_SET_SECCOMP && arguments[1] == SECCOMP_MODE_STRICT))
        *found_out = (struct filter_call){.is_strict = true};
    else
        return false;
    return true;
}

bool seccomp_filter_is_set_by(const struct system_call *call)
{
    struct filter_call found;

    return find(call, &found);
}

bool seccomp_filter_kills(int trapped_data)
{
    return trapped_data == STRICT_MARK;
}

static struct sock_filter load(uint32_t offset)
{
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

static struct sock_filter pass(void)
{
    return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/* How many of the addresses, from the first one on, have the same upper half. */
static size_t group_of(const uint64_t *addresses, size_t count)
{
    size_t same = 1;

    while (same < count && addresses[same] >> 32 == addresses[0] >> 32)
        same++;
    return same;
}

size_t seccomp_filter_begin(const uint64_t *addresses, size_t count, struct sock_filter *filter_out, size_t capacity)
{
    size_t used = 0;

    for (size_t first = 0, group; first < count; first += group) {
        group = group_of(addresses + first, count - first);
        if (group > OWN_CALLS_MAX || capacity - used < group + 5)
            return 0;
        filter_out[used++] = load(OFFSET_HIGH);
        filter_out[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(addresses[first] >> 32),
                                                          0, (uint8_t)(group + 2));
        filter_out[used++] = load(OFFSET_LOW);
        for (size_t i = 0; i < group; i++)
            filter_out[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)addresses[first + i],
                                                              (uint8_t)(group - 1 - i), i == group - 1);
        filter_out[used++] = pass();
    }
    if (capacity == used)
        return 0;
    /* The program's filter finds what it would have found. */
    filter_out[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
    return used;
}

static size_t begin_with_own_calls(struct sock_filter *filter, size_t capacity)
{
    uint64_t addresses[OWN_CALLS_MAX];

    return seccomp_filter_begin(addresses, own_calls_list(addresses), filter, capacity);
}

static size_t put_strict(struct sock_filter *filter)
{
    static const uint32_t allowed[] = {__NR_read, __NR_write, __NR_exit, __NR_rt_sigreturn};
    const size_t count = sizeof(allowed) / sizeof(allowed[0]);
    size_t used = 0;

    filter[used++] = load(OFFSET_NUMBER);
    for (size_t i = 0; i < count; i++)
        filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (uint8_t)(count - i), 0);
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | STRICT_MARK);
    filter[used++] = pass();
    return used;
}

static long make(const struct system_call *call, const struct filter_call *found, struct sock_fprog *changed)
{
    const long *arguments = call->arguments;
    long replaced[6] = {arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]};

    if (found->is_strict) {
        /* Only with this, or privileges, may a process have a filter; strict mode is anybody's. */
        (void)raw_syscall(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
        signal_actions_take_traps();
        return raw_syscall_for_program(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)changed, 0, 0, 0);
    }
    replaced[found->program_argument] = (long)changed;
    return raw_syscall_for_program(call->number, replaced[0], replaced[1], replaced[2], replaced[3], replaced[4],
                                   replaced[5]);
}

long seccomp_filter_set(const struct system_call *call)
{
    struct filter_call found = {0};
    struct sock_fprog program = {0}, changed;
    struct sock_filter *filter;
    size_t begin, bytes = BPF_MAXINSNS * sizeof(*filter);
    void *storage;
    long result;

    (void)find(call, &found);
    if (!found.is_strict) {
        if (!program_memory_is_readable(found.program, sizeof(program)))
            return -EFAULT;
        program = *(const struct sock_fprog *)(uintptr_t)found.program;
        if (program.len == 0 || program.len > BPF_MAXINSNS)
            return -EINVAL;
        if (!program_memory_is_readable((uintptr_t)program.filter, program.len * sizeof(*filter)))
            return -EFAULT;
    }
    if (memory_map(bytes, &storage) != 0)
        return -ENOMEM;
    filter = storage;
    begin = begin_with_own_calls(filter, BPF_MAXINSNS);
    result = -ENOMEM;
    if (begin != 0 && BPF_MAXINSNS - begin >= program.len) {
        for (size_t i = 0; i < program.len; i++)
            filter[begin + i] = program.filter[i];
        changed.filter = filter;
        changed.len = (uint16_t)(begin + (found.is_strict ? put_strict(filter + begin) : program.len));
        result = make(call, &found, &changed);
    }
    memory_unmap(storage, bytes);
    return result;
}
