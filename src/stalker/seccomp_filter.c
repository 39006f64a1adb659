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

/* The filter as the program has it; nothing if it is to be the strict one. */
static int read_program(uint64_t place, struct sock_fprog *program_out)
{
    if (!program_memory_is_readable(place, sizeof(*program_out)))
        return -EFAULT;
    *program_out = *(const struct sock_fprog *)(uintptr_t)place;
    if (program_out->len == 0 || program_out->len > BPF_MAXINSNS)
        return -EINVAL;
    return program_memory_is_readable((uintptr_t)program_out->filter, program_out->len * sizeof(program_out->filter[0]))
               ? 0
               : -EFAULT;
}

static int change(const struct filter_call *found, struct seccomp_changed **changed_out)
{
    struct sock_fprog program = {0};
    struct seccomp_changed *changed;
    void *storage;
    size_t begin;
    int result = found->is_strict ? 0 : read_program(found->program, &program);

    if (result != 0)
        return result;
    if (memory_map(sizeof(*changed), &storage) != 0)
        return -ENOMEM;
    changed = storage;
    begin = begin_with_own_calls(changed->filter, BPF_MAXINSNS);
    if (begin == 0 || BPF_MAXINSNS - begin < program.len) {
        seccomp_filter_forget(changed);
        return -ENOMEM;
    }
    for (size_t i = 0; i < program.len; i++)
        changed->filter[begin + i] = program.filter[i];
    changed->program.filter = changed->filter;
    changed->program.len = (uint16_t)(begin + (found->is_strict ? put_strict(changed->filter + begin) : program.len));
    *changed_out = changed;
    return 0;
}

long seccomp_filter_set(const struct system_call *call)
{
    struct seccomp_changed *changed;
    struct filter_call found = {0};
    long result;

    (void)find(call, &found);
    result = change(&found, &changed);
    if (result != 0)
        return result;
    result = make(call, &found, &changed->program);
    seccomp_filter_forget(changed);
    return result;
}

struct seccomp_changed *seccomp_filter_change(const struct system_call *call, unsigned *argument_out)
{
    struct filter_call found = {0};
    struct seccomp_changed *changed;

    if (!find(call, &found) || found.is_strict || change(&found, &changed) != 0)
        return NULL;
    *argument_out = found.program_argument;
    return changed;
}

void seccomp_filter_forget(struct seccomp_changed *changed)
{
    memory_unmap(changed, sizeof(*changed));
}
