/* SPDX-License-Identifier: MIT */
/*
 * The table, and what is done for the system calls in it: new threads and processes get a place to begin, ends are
 * announced, and changes of memory take the translations of what was there along. Neighbours: translated code looks
 * into the table, dispatch.c calls system_call_make for those that it finds there.
 */
#include "stalker/system_call.h"

#include "arch/engine.h"
#include "base/counters.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "process/memory_lock.h"
#include "stalker/call_telling.h"
#include "stalker/dispatch.h"
#include "stalker/event_buffer.h"
#include "stalker/exclusion.h"
#include "stalker/follow.h"
#include "stalker/fork.h"
#include "stalker/invalidate.h"
#include "stalker/program_memory.h"
#include "stalker/seccomp_filter.h"
#include "stalker/self_writing.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_stack.h"
#include "stalker/signal_virtualize.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#define TABLE_BYTES 65536

static const struct memory_range low_memory = {0x10000, 0x7fff0000};

/* What the engine has to do with a system call. */
enum call_part {
    PART_NONE,
    PART_LEAVE,   /* ends the thread or the process */
    PART_REPLACE, /* replaces the process */
    PART_CLONE,
    PART_CLONE3,
    PART_FORK,
    PART_VFORK,
    PART_CHANGE, /* changes the mapping of a range: address, size */
    PART_MOVE,   /* moves it: mremap */
    PART_SEGMENT,
    PART_CONTROL, /* prctl: names the thread, among others */
    PART_SIGNAL_ACTION,
    PART_SIGNAL_RETURN,
    PART_SIGNAL_STACK,
    PART_LOCK, /* locks all memory */
    PART_OPEN, /* opens a file, which may be memory */
    PART_ADVISE,
};

struct special {
    uint16_t number;
    uint8_t part;
};

static const struct special specials[] = {
    {__NR_exit, PART_LEAVE},
    {__NR_exit_group, PART_LEAVE},
    {__NR_execve, PART_REPLACE},
    {__NR_execveat, PART_REPLACE},
    {__NR_clone, PART_CLONE},
    {__NR_clone3, PART_CLONE3},
    {__NR_munmap, PART_CHANGE},
    {__NR_mmap, PART_CHANGE},
    {__NR_mprotect, PART_CHANGE},
    {__NR_pkey_mprotect, PART_CHANGE},
    {__NR_mremap, PART_MOVE},
    {__NR_prctl, PART_CONTROL},
    {__NR_seccomp, PART_CONTROL},
    {__NR_rt_sigaction, PART_SIGNAL_ACTION},
    {__NR_rt_sigreturn, PART_SIGNAL_RETURN},
    {__NR_sigaltstack, PART_SIGNAL_STACK},
    {__NR_mlockall, PART_LOCK},
    {__NR_openat, PART_OPEN},
    {__NR_openat2, PART_OPEN},
    {__NR_madvise, PART_ADVISE},
#ifdef __NR_fork
    {__NR_fork, PART_FORK},
    {__NR_vfork, PART_VFORK},
    {__NR_open, PART_OPEN},
#endif
#ifdef __NR_arch_prctl
    {__NR_arch_prctl, PART_SEGMENT},
#endif
};

int system_call_table_create(uint8_t **table_out)
{
    struct memory_request request = {
        .size_bytes = TABLE_BYTES,
        .access = MEMORY_READ_WRITE,
        .within = low_memory,
        .fd = -1,
    };
    void *start;
    int result = memory_map_request(&request, &start);

    if (result != 0)
        return result;
    for (unsigned i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
        ((uint8_t *)start)[specials[i].number] = specials[i].part;
    *table_out = start;
    return 0;
}

void system_call_table_destroy(uint8_t *table)
{
    memory_unmap(table, TABLE_BYTES);
}

int32_t system_call_table_address(const struct stalker_engine *engine)
{
    return (int32_t)(uintptr_t)engine->system_calls;
}

static long make(const struct system_call *call)
{
    return raw_syscall_for_program(call->number, call->arguments[0], call->arguments[1], call->arguments[2],
                                   call->arguments[3], call->arguments[4], call->arguments[5]);
}

static bool failed(long result)
{
    return result < 0 && result >= -4095;
}

/* may_execute: what is there now may be code. */
static void changed(struct stalker_thread *thread, uint64_t start, uint64_t size, bool may_execute)
{
    const struct mapping_watcher *watcher = thread->engine->watcher;
    uint64_t end = start + ((size + 4095) & ~4095ull);

    atomic_fetch_add_explicit(&thread->engine->mapping_changes, 1, memory_order_relaxed);
    stalker_mapping_changed(thread->engine, start, end, may_execute);
    if (watcher != NULL)
        watcher->changed(watcher->context, start, end, may_execute);
}

/* Nothing of ours is changed. */
static long make_change(struct stalker_thread *thread, const struct system_call *call)
{
    if (!own_memory_is_changed_by(thread->engine, call))
        return make(call);
    counter_add(COUNTER_mappings_refused, 1);
    return -ENOMEM;
}

static long change_mapping(struct stalker_thread *thread, const struct system_call *call)
{
    long result;

    if (call->number != __NR_munmap && call->arguments[2] & PROT_WRITE)
        code_source_note_writing(&thread->engine->source, (uint64_t)call->arguments[0],
                                 (uint64_t)call->arguments[0] + (uint64_t)call->arguments[1]);
    result = make_change(thread, call);
    /* An mprotect that comes to a hole has changed what is before it. */
    if (failed(result) && (call->number == __NR_mmap || result != -ENOMEM))
        return result;
    changed(thread, (uint64_t)(call->number == __NR_mmap ? result : call->arguments[0]), (uint64_t)call->arguments[1],
            call->number != __NR_munmap && call->arguments[2] & PROT_EXEC);
    return result;
}

static long move_mapping(struct stalker_thread *thread, const struct system_call *call)
{
    long result = make_change(thread, call);

    if (failed(result))
        return result;
    changed(thread, (uint64_t)call->arguments[0], (uint64_t)call->arguments[1], false);
    changed(thread, (uint64_t)result, (uint64_t)call->arguments[2], true);
    return result;
}

/* Whether pages are given up, so that there are others, of the file, when they are looked at again. */
static bool gives_up_pages(const struct system_call *call)
{
    return call->arguments[2] == MADV_DONTNEED || call->arguments[2] == MADV_DONTNEED_LOCKED ||
           call->arguments[2] == MADV_REMOVE;
}

static long give_up_pages(struct stalker_thread *thread, const struct system_call *call)
{
    long result = make_change(thread, call);

    /* One that comes to a hole has given up what is before it. */
    if (!failed(result) || result == -ENOMEM)
        stalker_contents_changed(thread->engine, (uint64_t)call->arguments[0],
                                 (uint64_t)call->arguments[0] + (uint64_t)call->arguments[1]);
    return result;
}

/* The system call is made in place, where signals find the program's state: a new program inherits their mask. */
static enum system_call_outcome announce(struct stalker_thread *thread, const struct system_call *call, bool is_exec)
{
    const struct process_watcher *watcher = thread->engine->processes;

    if (watcher == NULL)
        return SYSTEM_CALL_IN_PLACE;
    thread->is_announced = true;
    watcher->call_begins(watcher->context, thread, is_exec, call);
    return SYSTEM_CALL_IN_PLACE;
}

/*
 * Makes a process with a copy of all memory, by a call that names no stack: there it comes back on ours, and only then
 * goes on with the one that it is to have, if it is to have another one.
 */
static enum system_call_outcome fork_process(struct stalker_thread *thread, const struct system_call *call, uint64_t sp)
{
    const struct engine *machine = thread->engine->machine;
    long result = stalker_fork(thread, call);

    if (result == 0 && sp != 0)
        gait_cpu_stack_pointer_set(&thread->context, sp);
    machine->registers->system_call_done(&thread->context, result);
    return SYSTEM_CALL_DONE;
}

/* With memory in common: new threads begin in the cache or, like those that only share it until they exec, natively. */
static enum system_call_outcome clone_thread(struct stalker_thread *thread, const struct system_call *call,
                                             uint64_t flags)
{
    long result;

    if (flags & CLONE_VFORK)
        return announce(thread, call, false);
    if (!thread->new_threads)
        return SYSTEM_CALL_IN_PLACE;
    if (stalker_follow_clone(thread, &result) != 0) {
        thread_left_tell(thread, RING_LEFT_NEW_THREAD);
        return SYSTEM_CALL_IN_PLACE;
    }
    thread->engine->machine->registers->system_call_done(&thread->context, result);
    return SYSTEM_CALL_DONE;
}

static enum system_call_outcome clone_process(struct stalker_thread *thread, const struct system_call *call)
{
    struct system_call without_stack = *call;

    if (call->arguments[0] & CLONE_VM)
        return clone_thread(thread, call, (uint64_t)call->arguments[0]);
    without_stack.arguments[1] = 0;
    return fork_process(thread, &without_stack, (uint64_t)call->arguments[1]);
}

static enum system_call_outcome clone3_process(struct stalker_thread *thread, const struct system_call *call)
{
    const struct clone_args *given = (const struct clone_args *)call->arguments[0];
    uint64_t size = (uint64_t)call->arguments[1];
    struct system_call without_stack = *call;
    struct clone_args arguments;

    /* The kernel says what is wrong with arguments that cannot be right. */
    if (size < CLONE_ARGS_SIZE_VER0 || !program_memory_is_readable((uint64_t)call->arguments[0], size))
        return SYSTEM_CALL_IN_PLACE;
    if (given->flags & CLONE_VM)
        return clone_thread(thread, call, given->flags);
    if (given->stack == 0)
        return fork_process(thread, call, 0);
    if (size > sizeof(arguments) || given->stack_size == 0)
        return SYSTEM_CALL_IN_PLACE;
    __builtin_memcpy(&arguments, given, size);
    arguments.stack = arguments.stack_size = 0;
    without_stack.arguments[0] = (long)&arguments;
    return fork_process(thread, &without_stack, given->stack + given->stack_size);
}

/* A thread that is to fault when it reads the counter cannot be in the engine, which reads it. */
static bool forbids_counter(const struct system_call *call)
{
    return call->number == __NR_prctl && call->arguments[0] == PR_SET_TSC && call->arguments[1] == PR_TSC_SIGSEGV;
}

/* All calls come to the engine from now on, which knows where the program makes them: a program that did so does it
 * again. */
static long set_dispatch(struct stalker_thread *thread, const struct system_call *call)
{
    long result = call_dispatch_set(&thread->dispatch, call->arguments);

    for (uint32_t i = 0; result == 0 && i < TABLE_BYTES; i++)
        thread->engine->system_calls[i] |= SYSTEM_CALL_DISPATCHED;
    return result;
}

static long control(struct stalker_thread *thread, const struct system_call *call)
{
    long result;

    if (call_dispatch_is_set_by(call->number, call->arguments))
        return set_dispatch(thread, call);
    result = seccomp_filter_is_set_by(call) ? seccomp_filter_set(call) : make(call);
    if (call->number == __NR_prctl && call->arguments[0] == PR_SET_NAME)
        thread_choice_named(thread);
    return result;
}

/* Tells of it before it is made, if somebody wants to know. Whether it is told when it is done. */
static bool begin_telling(struct stalker_thread *thread, const struct system_call *call, enum call_part part)
{
    if (!(thread->engine->system_calls[(uint16_t)call->number] & SYSTEM_CALL_TOLD))
        return false;
    if (part == PART_LEAVE || part == PART_SIGNAL_RETURN || (part == PART_CONTROL && forbids_counter(call))) {
        call_telling_ends(thread, call);
        return false;
    }
    return true;
}

static enum system_call_outcome make_by_part(struct stalker_thread *thread, const struct system_call *made,
                                             enum call_part part)
{
    const struct engine *machine = thread->engine->machine;
    const struct system_call call = *made;
    long result;

    switch (part) {
    case PART_NONE:
        return SYSTEM_CALL_IN_CACHE;
    case PART_LEAVE:
        /* Another thread may have named it. */
        thread_choice_named(thread);
        thread->dispatch = (struct call_dispatch){0};
        return SYSTEM_CALL_LEAVE;
    case PART_REPLACE:
        if (thread->events != NULL)
            stalker_drain_events(thread, EVENT_PLACE_BETWEEN_BLOCKS);
        return announce(thread, &call, true);
    case PART_CLONE:
        return clone_process(thread, &call);
    case PART_CLONE3:
        return clone3_process(thread, &call);
    case PART_FORK:
        result = stalker_fork(thread, &call);
        break;
    case PART_VFORK:
        return announce(thread, &call, false);
    case PART_CHANGE:
        result = change_mapping(thread, &call);
        break;
    case PART_MOVE:
        result = move_mapping(thread, &call);
        break;
    case PART_CONTROL:
        if (forbids_counter(&call)) {
            thread_left_tell(thread, RING_LEFT_COUNTER);
            return SYSTEM_CALL_LEAVE;
        }
        /* None of them in place, where a result of 0 would be taken for a child's. */
        result = control(thread, &call);
        break;
    case PART_SIGNAL_ACTION:
        result = signal_actions_call(&call);
        break;
    case PART_SIGNAL_RETURN:
        signal_return(thread);
    case PART_SIGNAL_STACK:
        result = signal_stack_call(thread, &call);
        break;
    case PART_LOCK:
        result = memory_lock_all(call.arguments[0]);
        break;
    case PART_OPEN:
        /* Before somebody can write; it may wait, for which the cache is the place. */
        if (self_writing_begins(&call))
            self_writing_distrust(thread->engine);
        return SYSTEM_CALL_IN_CACHE;
    case PART_ADVISE:
        if (!gives_up_pages(&call))
            return SYSTEM_CALL_IN_CACHE;
        result = give_up_pages(thread, &call);
        break;
    case PART_SEGMENT:
        /* Not in place, where a result of 0 would be taken for a child's. */
        if (!stalker_base_call(thread, &call, &result))
            result = make(&call);
        break;
    default:
        return SYSTEM_CALL_IN_PLACE;
    }
    machine->registers->system_call_done(&thread->context, result);
    return SYSTEM_CALL_DONE;
}

/* Children are not told of how they were made. */
static bool is_in_child(enum call_part part, long result)
{
    return result == 0 && (part == PART_FORK || part == PART_CLONE || part == PART_CLONE3);
}

/* Whether it is dispatched instead: then the thread has its signal when it goes on behind it. */
static bool is_held(struct stalker_thread *thread, long number, uint32_t architecture)
{
    uint64_t next = thread->engine->machine->registers->system_call_next(&thread->context).value;
    siginfo_t info;

    switch (call_dispatch_ask(&thread->dispatch, thread->context.pc, next)) {
    case CALL_PASSES:
        return false;
    case CALL_IS_HELD:
        call_dispatch_describe(&info, number, next, architecture);
        signal_thread_raise(thread, SIGSYS, &info);
        break;
    case CALL_ENDS_BY_SYS:
        signal_thread_die(thread, SIGSYS);
        break;
    default:
        signal_thread_die(thread, SIGSEGV);
        break;
    }
    return true;
}

static enum call_part part_of(const struct stalker_thread *thread, const struct system_call *call)
{
    return (enum call_part)(thread->engine->system_calls[(uint16_t)call->number] &
                            ~(SYSTEM_CALL_TOLD | SYSTEM_CALL_DISPATCHED));
}

enum system_call_outcome system_call_make_foreign(struct stalker_thread *thread)
{
    const struct engine_registers *registers = thread->engine->machine->registers;
    struct gait_cpu_context before = thread->context;
    enum system_call_outcome outcome;
    struct system_call call;
    enum foreign_call what = registers->foreign_call_get(&thread->context, &call);

    if (is_held(thread, call.number, registers->foreign_architecture)) {
        registers->system_call_done(&thread->context, call.number);
        registers->foreign_call_keep(&thread->context, &before);
        return SYSTEM_CALL_DONE;
    }
    if (what == FOREIGN_CALL_PLAIN)
        return SYSTEM_CALL_IN_CACHE;
    if (what == FOREIGN_CALL_LEAVE) {
        thread_left_tell(thread, RING_LEFT_INSTRUCTION);
        return SYSTEM_CALL_LEAVE;
    }
    outcome = make_by_part(thread, &call, part_of(thread, &call));
    if (outcome == SYSTEM_CALL_DONE)
        registers->foreign_call_keep(&thread->context, &before);
    return outcome;
}

enum system_call_outcome system_call_make(struct stalker_thread *thread)
{
    const struct engine *machine = thread->engine->machine;
    uint64_t entered_time = thread->engine->teller == NULL ? 0 : time_counter();
    enum system_call_outcome outcome;
    struct system_call call;
    enum call_part part;
    bool is_told;

    machine->registers->system_call_get(&thread->context, &call);
    if (is_held(thread, call.number, machine->registers->architecture)) {
        /* As it is behind the call that is not made. */
        machine->registers->system_call_done(&thread->context, call.number);
        return SYSTEM_CALL_DONE;
    }
    part = part_of(thread, &call);
    is_told = begin_telling(thread, &call, part);
    outcome = make_by_part(thread, &call, part);
    if (!is_told || outcome == SYSTEM_CALL_LEAVE)
        return outcome;
    if (outcome != SYSTEM_CALL_DONE)
        call_telling_makes(thread, &call, part == PART_REPLACE);
    else if (!is_in_child(part, machine->registers->system_call_result(&thread->context)))
        call_telling_made(thread, &call, entered_time, machine->registers->system_call_result(&thread->context));
    return outcome;
}
