/* SPDX-License-Identifier: MIT */
/*
 * Threads end while others are stopped, perhaps in the middle of a search for modules: so what a thread had is not
 * taken out of the list of readers, which would need the lock, but waits there for the next thread.
 */
#include "agent/call_stack.h"

#include "arch/arch.h"
#include "arch/calling_thread.h"
#include "arch/engine.h"
#include "base/clock_pair.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "gait/cpu_context.h"
#include "ring/detail_record.h"
#include "unwind/stack_walk.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <stdatomic.h>

/* So many times as long as it takes, it is not done again. */
#define SEARCH_TIME_SHARE 50u

struct call_stack_walker {
    struct call_stack_walker *next; /* that was made before */
    _Atomic bool is_used;
    struct stack_walker walker;
};

static struct call_stack {
    bool is_begun;
    const struct arch *arch;
    const struct hooked_frames *hooked; /* NULL: there are no hooks */
    struct unwind_modules modules;
    struct mutex lock;               /* of who looks for modules */
    _Atomic uint64_t changes;        /* of modules so far */
    _Atomic uint64_t seen;           /* how many there were when they were last looked for */
    _Atomic uint64_t next_search_ns; /* before that, code that no module has is no reason to look for some */
    struct call_stack_walker *_Atomic walkers;
} stacks;

int call_stack_begin(const struct hooked_frames *hooked)
{
    const struct arch *arch = arch_host();
    int result;

    if (arch == NULL || arch->frame_registers.general == NULL)
        return -ENOSYS;
    result = unwind_modules_init(&stacks.modules, &arch->frame_registers);
    if (result != 0)
        return result;
    if (hooked != NULL)
        unwind_modules_set_hooked(&stacks.modules, hooked);
    stacks.arch = arch;
    stacks.hooked = hooked;
    stacks.is_begun = true;
    call_stack_modules_changed();
    atomic_store_explicit(&stacks.next_search_ns, 0, memory_order_relaxed);
    return 0;
}

void call_stack_end(void)
{
    struct call_stack_walker *walker = atomic_load_explicit(&stacks.walkers, memory_order_acquire);

    if (!stacks.is_begun)
        return;
    while (walker != NULL) {
        struct call_stack_walker *next = walker->next;

        memory_unmap(walker, sizeof(*walker));
        walker = next;
    }
    atomic_store_explicit(&stacks.walkers, NULL, memory_order_relaxed);
    unwind_modules_deinit(&stacks.modules);
    stacks.is_begun = false;
}

void call_stack_modules_changed(void)
{
    atomic_fetch_add_explicit(&stacks.changes, 1, memory_order_release);
}

void call_stack_begin_in_child(void) NO_THREAD_SAFETY_ANALYSIS
{
    struct call_stack_walker *walker = atomic_load_explicit(&stacks.walkers, memory_order_acquire);

    if (!stacks.is_begun)
        return;
    /* A thread that is not here may have been changing them: then they are no good, nor is there memory for others. */
    if (!mutex_try_lock(&stacks.modules.lock) &&
        unwind_modules_init(&stacks.modules, &stacks.arch->frame_registers) != 0)
        stacks.is_begun = false;
    unwind_modules_set_hooked(&stacks.modules, stacks.hooked);
    stacks.modules.lock = (struct mutex){0};
    stacks.lock = (struct mutex){0};
    list_init(&stacks.modules.readers);
    for (; walker != NULL && stacks.is_begun; walker = walker->next) {
        walker->walker.reader = (struct unwind_reader){.activity = 0};
        unwind_modules_add_reader(&stacks.modules, &walker->walker.reader);
    }
    /* One that is not here may have been looking for them. */
    atomic_store_explicit(&stacks.next_search_ns, 0, memory_order_relaxed);
    call_stack_modules_changed();
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static struct call_stack_walker *find_unused(void)
{
    struct call_stack_walker *walker = atomic_load_explicit(&stacks.walkers, memory_order_acquire);

    for (; walker != NULL; walker = walker->next) {
        bool is_used = false;

        /* Acquire: pairs with the release of the thread that had it. */
        if (atomic_compare_exchange_strong_explicit(&walker->is_used, &is_used, true, memory_order_acquire,
                                                    memory_order_relaxed))
            return walker;
    }
    return NULL;
}

static struct call_stack_walker *make_walker(void)
{
    struct call_stack_walker *walker;
    void *storage;

    if (memory_map(sizeof(*walker), &storage) != 0)
        return NULL;
    walker = storage;
    atomic_store_explicit(&walker->is_used, true, memory_order_relaxed);
    unwind_modules_add_reader(&stacks.modules, &walker->walker.reader);
    walker->next = atomic_load_explicit(&stacks.walkers, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&stacks.walkers, &walker->next, walker, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return walker;
}

struct call_stack_walker *call_stack_walker_acquire(uint64_t sp)
{
    struct call_stack_walker *walker;
    bool is_main;

    if (!stacks.is_begun)
        return NULL;
    walker = find_unused();
    if (walker == NULL)
        walker = make_walker();
    if (walker == NULL)
        return NULL;
    is_main = raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0) == raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
    stack_walker_init(&walker->walker, sp, calling_thread_pointer(), is_main);
    return walker;
}

void call_stack_walker_release(struct call_stack_walker *walker)
{
    if (walker != NULL)
        atomic_store_explicit(&walker->is_used, false, memory_order_release);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* As the caller has them behind the call. */
static void find_start(const struct gait_cpu_context *cpu, uint64_t return_address, struct unwind_registers *registers,
                       struct stack_start *start_out)
{
    const struct arch_frame_registers *numbers = &stacks.arch->frame_registers;
    uint64_t sp;

    registers->known = 0;
    for (unsigned i = 0; i < stacks.arch->register_count; i++)
        unwind_registers_set(registers, numbers->general[i], cpu->registers[i]);
    sp = registers->values[numbers->stack_pointer];
    unwind_registers_set(registers, numbers->return_address, return_address);
    unwind_registers_set(registers, numbers->stack_pointer, sp + engine_host()->registers->call_slot_bytes);
    *start_out = (struct stack_start){
        .pc = registers->values[numbers->return_address],
        .sp = registers->values[numbers->stack_pointer],
        .fp = registers->values[numbers->frame_pointer],
        .is_behind_call = true,
        .registers = registers,
    };
}

/*
 * Sees to it that all modules are known that were there when this was called. Who comes while somebody else looks waits
 * for that: a walk with what was known before would end where the new code is.
 */
static void look_for_modules(void)
{
    /* Acquire: pairs with the release of who changed them. */
    uint64_t changes = atomic_load_explicit(&stacks.changes, memory_order_acquire);

    if (atomic_load_explicit(&stacks.seen, memory_order_acquire) == changes)
        return;
    mutex_lock(&stacks.lock);
    changes = atomic_load_explicit(&stacks.changes, memory_order_acquire);
    if (atomic_load_explicit(&stacks.seen, memory_order_relaxed) != changes) {
        (void)!unwind_modules_refresh(&stacks.modules, true);
        atomic_store_explicit(&stacks.seen, changes, memory_order_release);
    }
    mutex_unlock(&stacks.lock);
}

/*
 * Whether modules were looked for because of code that none has: it may be of one that was just being mapped. Programs
 * that make their code themselves have much of it, so at most some part of the time goes there.
 */
static bool search_again(void)
{
    uint64_t start_ns = clock_monotonic_ns(), took_ns;
    uint64_t next_ns = atomic_load_explicit(&stacks.next_search_ns, memory_order_relaxed);
    int result;

    if (start_ns < next_ns || !atomic_compare_exchange_strong_explicit(&stacks.next_search_ns, &next_ns, UINT64_MAX,
                                                                       memory_order_relaxed, memory_order_relaxed))
        return false;
    result = unwind_modules_refresh(&stacks.modules, true);
    took_ns = clock_monotonic_ns() - start_ns;
    atomic_store_explicit(&stacks.next_search_ns, start_ns + took_ns * SEARCH_TIME_SHARE, memory_order_relaxed);
    return result == 0;
}

/* As far as it goes. Without /proc, frame pointers are all there is. */
static void walk(struct stack_walker *walker, const struct stack_start *start, struct stack_addresses *addresses)
{
    look_for_modules();
    walker->unknown_pc = 0;
    (void)!stack_walk(&stacks.modules, walker, start, addresses);
    if (walker->unknown_pc != 0 && search_again())
        (void)!stack_walk(&stacks.modules, walker, start, addresses);
}

size_t call_stack_take(struct call_stack_walker *walker, const struct gait_cpu_context *cpu, uint64_t return_address,
                       uint64_t *addresses_out, size_t capacity, bool *goes_on_out)
{
    uint64_t pcs[DETAIL_STACK_FRAMES_MAX + 1];
    struct stack_addresses addresses = {
        .pcs = pcs,
        .capacity = (capacity < DETAIL_STACK_FRAMES_MAX ? capacity : DETAIL_STACK_FRAMES_MAX) + 1,
    };
    struct unwind_registers registers;
    struct stack_start start;

    find_start(cpu, return_address, &registers, &start);
    walk(&walker->walker, &start, &addresses);
    *goes_on_out = addresses.count == addresses.capacity;
    if (*goes_on_out)
        addresses.count--;
    __builtin_memcpy(addresses_out, pcs, addresses.count * sizeof(pcs[0]));
    return addresses.count;
}
