/* SPDX-License-Identifier: MIT */
/*
 * Runs in a signal handler of a thread that will not go on, on a stack of ours. Nothing is waited for: other threads
 * are not stopped, only what the kernel says of them is noted.
 */
#include "agent/crash_watch.h"

#include "arch/arch.h"
#include "base/alignment.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "base/time_counter.h"
#include "gait/cpu_context.h"
#include "process/thread_call.h"
#include "process/thread_list.h"
#include "ring/crash_lane.h"
#include "ring/ring_region.h"
#include "ring/trigger_log.h"
#include "stalker/program_memory.h"
#include "stalker/signal_actions.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/signal.h>
#include <stdatomic.h>

#define THREAD_STACK_BYTES 512u
#define THREADS_MAX        512u

static struct crash_watch {
    struct ring_region *ring;
    uint64_t trigger_signals;
    long pid;
    atomic_bool is_dying; /* threads are noted once */
    struct signal_watcher watcher;
} watch;

#define BIT(signal) (1ull << ((signal)-1))

/* Those that make the kernel write a core. */
#define DEADLY_SIGNALS                                                                                                 \
    (BIT(SIGQUIT) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) |             \
     BIT(SIGXCPU) | BIT(SIGXFSZ) | BIT(SIGSYS))

static long current_process(void)
{
    return raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

/* Copies as much of the stack as there is. */
static uint32_t copy_stack(uint8_t *place, uint64_t sp, uint32_t size_bytes)
{
    uint32_t copied = 0;

    while (copied < size_bytes) {
        uint64_t from = sp + copied;
        uint32_t step = (uint32_t)align_rest(from, memory_page_size());

        step = step < size_bytes - copied ? step : size_bytes - copied;
        if (from < sp || step < 8 || !program_memory_is_readable(from, step))
            break;
        __builtin_memcpy(place + copied, (const void *)(uintptr_t)from, step);
        copied += step;
    }
    return copied;
}

static void note_signal(const struct signal_death *death)
{
    struct crash_signal *record = crash_lane_reserve(watch.ring, sizeof(*record) + CRASH_STACK_BYTES_MAX);
    uint64_t sp = gait_cpu_stack_pointer(death->cpu);

    if (record == NULL)
        return;
    record->time = time_counter();
    record->tid = (uint32_t)thread_current();
    record->signal = death->signal;
    record->code = death->code;
    record->machine = arch_host() == NULL ? 0 : arch_host()->elf_machine;
    record->address = death->address;
    record->is_known = death->is_known;
    record->register_count = GAIT_CPU_REGISTER_COUNT + 2;
    for (unsigned i = 0; i < GAIT_CPU_REGISTER_COUNT; i++)
        record->registers[i] = death->cpu->registers[i];
    record->registers[GAIT_CPU_REGISTER_COUNT] = death->cpu->pc;
    record->registers[GAIT_CPU_REGISTER_COUNT + 1] = death->cpu->flags;
    record->stack_start = sp & ~7ull;
    record->stack_bytes = copy_stack((uint8_t *)(record + 1), record->stack_start, CRASH_STACK_BYTES_MAX);
    crash_lane_commit(record, sizeof(*record) + CRASH_STACK_BYTES_MAX, CRASH_SIGNAL);
}

static bool note_thread(void *context, int tid)
{
    size_t size_bytes = sizeof(struct crash_thread) + THREAD_STACK_BYTES;
    struct crash_thread *record;
    unsigned *count = context;
    struct thread_call call;

    if (tid == thread_current())
        return true;
    record = crash_lane_reserve(watch.ring, size_bytes);
    if (record == NULL)
        return false;
    record->tid = (uint32_t)tid;
    record->state = CRASH_THREAD_RUNNING;
    if (thread_call_read(tid, &call) == 0) {
        record->state = CRASH_THREAD_IN_CALL;
        record->number = call.number;
        __builtin_memcpy(record->arguments, call.arguments, sizeof(record->arguments));
        record->sp = call.sp;
        record->stack_bytes = copy_stack((uint8_t *)(record + 1), call.sp & ~7ull, THREAD_STACK_BYTES);
    }
    crash_lane_commit(record, size_bytes, CRASH_THREAD);
    return ++*count < THREADS_MAX;
}

static void dying(const struct signal_death *death)
{
    unsigned count = 0;

    /* A child with our memory is not us. */
    if (current_process() != watch.pid)
        return;
    note_signal(death);
    if (!atomic_exchange_explicit(&watch.is_dying, true, memory_order_relaxed))
        (void)!thread_list_visit(note_thread, &count);
}

static void delivered(int signal)
{
    struct ring_trigger trigger = {.kind = RING_TRIGGER_SIGNAL, .value = (uint64_t)signal};

    if (!(watch.trigger_signals & BIT(signal)) || current_process() != watch.pid)
        return;
    trigger.time = time_counter();
    trigger.tid = (uint32_t)thread_current();
    trigger_log_add(watch.ring, &trigger);
}

void crash_watch_begin(struct ring_region *ring, uint64_t trigger_signals)
{
    watch.ring = ring;
    watch.trigger_signals = trigger_signals;
    watch.pid = current_process();
    watch.is_dying = false;
    watch.watcher = (struct signal_watcher){
        .deadly = DEADLY_SIGNALS,
        .delivered = delivered,
        .dying = dying,
    };
    signal_watch_set(&watch.watcher);
}

void crash_watch_begin_in_child(void)
{
    watch.pid = current_process();
    watch.is_dying = false;
}

void crash_watch_end(void)
{
    signal_watch_set(NULL);
}
