/* SPDX-License-Identifier: MIT */
/*
 * What sigaltstack means: whether a thread is on the stack is told by its stack pointer. Whether a stack is large
 * enough is up to the kernel, and to the state that it has let the process use; it is asked by giving it ours in that
 * size.
 */
#include "stalker/signal_stack.h"

#include "base/raw_syscall.h"
#include "stalker/program_memory.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/system_call.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/signal.h>

#define SIZE_BYTES_MIN 2048
#define MODE_BITS      (~(int32_t)SS_AUTODISARM)

_Static_assert(sizeof(struct signal_stack) == sizeof(stack_t), "the kernel has another one");

struct signal_stack signal_stack_ours(const struct stalker_thread *thread)
{
    return (struct signal_stack){.start = (uintptr_t)thread->stack, .size_bytes = SIGNAL_STACK_BYTES};
}

void signal_stack_begin(struct stalker_thread *thread)
{
    struct signal_stack ours = signal_stack_ours(thread);

    raw_syscall(__NR_sigaltstack, (long)&ours, (long)&thread->alternate_stack, 0, 0, 0, 0);
    thread->alternate_stack.flags &= ~SS_ONSTACK;
}

bool signal_stack_holds(const struct signal_stack *stack, uint64_t sp)
{
    return sp > stack->start && sp - stack->start <= stack->size_bytes;
}

static bool is_on(const struct signal_stack *stack, uint64_t sp)
{
    return !(stack->flags & SS_AUTODISARM) && signal_stack_holds(stack, sp);
}

bool signal_stack_is_free(const struct signal_stack *stack, uint64_t sp)
{
    return stack->size_bytes != 0 && !(stack->flags & SS_DISABLE) && !is_on(stack, sp);
}

void signal_stack_enter(struct signal_stack *stack)
{
    if (stack->flags & SS_AUTODISARM)
        *stack = (struct signal_stack){.flags = SS_DISABLE};
}

static int set(struct signal_stack *stack, const struct signal_stack *wanted, uint64_t sp)
{
    int32_t mode = wanted->flags & MODE_BITS;

    if (is_on(stack, sp))
        return -EPERM;
    if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
        return -EINVAL;
    if (mode == SS_DISABLE) {
        *stack = (struct signal_stack){.flags = wanted->flags};
        return 0;
    }
    if (wanted->size_bytes < SIZE_BYTES_MIN)
        return -ENOMEM;
    *stack = (struct signal_stack){
        .start = wanted->start,
        .flags = wanted->flags & SS_AUTODISARM,
        .size_bytes = wanted->size_bytes,
    };
    return 0;
}

void signal_stack_return(struct signal_stack *stack, const struct signal_stack *saved, uint64_t sp)
{
    /* Like the kernel, which ignores what cannot be set. */
    if (set(stack, saved, sp) != 0)
        return;
}

/* Lets the kernel have another size of ours; signals are held until the thread leaves the engine. */
static long give_kernel(struct stalker_thread *thread, uint64_t size_bytes)
{
    struct signal_stack ours = signal_stack_ours(thread);

    signal_thread_hold(thread);
    ours.size_bytes = size_bytes;
    return raw_syscall(__NR_sigaltstack, (long)&ours, 0, 0, 0, 0, 0);
}

/* One as large as ours always is. */
static bool is_large_enough(struct stalker_thread *thread, const struct signal_stack *stack)
{
    bool is_taken;

    if (stack->size_bytes == 0 || stack->size_bytes >= SIGNAL_STACK_BYTES)
        return true;
    is_taken = give_kernel(thread, stack->size_bytes) == 0;
    (void)give_kernel(thread, SIGNAL_STACK_BYTES);
    return is_taken;
}

/* Of those that the program has on followed threads, or ours. */
static uint64_t smallest_bytes(struct stalker_engine *engine)
{
    uint64_t smallest = SIGNAL_STACK_BYTES;

    mutex_lock(&engine->lock);
    LIST_FOR_EACH (node, &engine->threads) {
        const struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);
        uint64_t size = thread->alternate_stack.size_bytes;

        if (size != 0 && size < smallest)
            smallest = size;
    }
    mutex_unlock(&engine->lock);
    return smallest;
}

long signal_stack_state_call(struct stalker_thread *thread, const struct system_call *call)
{
    uint64_t size_bytes;
    long result;

    signal_thread_hold(thread);
    size_bytes = smallest_bytes(thread->engine);
    (void)give_kernel(thread, size_bytes);
    result = raw_syscall_for_program(call->number, call->arguments[0], call->arguments[1], call->arguments[2],
                                     call->arguments[3], call->arguments[4], call->arguments[5]);
    (void)give_kernel(thread, SIGNAL_STACK_BYTES);
    return result;
}

static int32_t flags_seen(const struct signal_stack *stack, uint64_t sp)
{
    int32_t kept = stack->flags & SS_AUTODISARM;

    if (stack->size_bytes == 0)
        return kept | SS_DISABLE;
    return is_on(stack, sp) ? kept | SS_ONSTACK : kept;
}

static int change(struct stalker_thread *thread, const struct signal_stack *wanted, uint64_t sp)
{
    struct signal_stack changed = thread->alternate_stack;
    int result = set(&changed, wanted, sp);

    if (result != 0)
        return result;
    if (!is_large_enough(thread, &changed))
        return -ENOMEM;
    thread->alternate_stack = changed;
    return 0;
}

long signal_stack_call(struct stalker_thread *thread, const struct system_call *call)
{
    uint64_t wanted = (uint64_t)call->arguments[0], old = (uint64_t)call->arguments[1];
    uint64_t sp = gait_cpu_stack_pointer(&thread->context);
    struct signal_stack before = thread->alternate_stack, new;
    int result = 0;

    before.flags = flags_seen(&before, sp);
    if (wanted != 0) {
        if (!program_memory_is_readable(wanted, sizeof(new)))
            return -EFAULT;
        new = *(const struct signal_stack *)(uintptr_t)wanted;
        result = change(thread, &new, sp);
    }
    if (result == 0 && old != 0) {
        if (!program_memory_make_writable(old, sizeof(before)))
            return -EFAULT;
        *(struct signal_stack *)(uintptr_t)old = before;
    }
    return result;
}
