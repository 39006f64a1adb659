/* SPDX-License-Identifier: MIT */
/*
 * The arena of states. It begins with where records go that nobody wants (see hook_record.c), at an address that makes
 * a buffer full; then a page that is empty in a forked child, by which that is known; then a block for each thread:
 *
 *   a page     that is empty in a forked child, too; its last word is the owner
 *   a page     struct hook_thread
 *   some       for vector registers
 *   a page     without access
 *   the rest   the stack for listeners
 *
 * Threads are found by tid in a table that is read without a lock. Lock: `lock`, with all signals blocked, for whatever
 * is added to the table or taken out of it.
 */
#include "hook/hook_thread.h"

#include "arch/host_cpu.h"
#include "arch/vector_state.h"
#include "base/counters.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "hook/call_data.h"
#include "hook/hook_arena.h"
#include "hook/hook_record.h"
#include "hook/hook_stub.h"
#include "hook/invocation_grave.h"
#include "hook/quiescence.h"
#include "hook/thread_table.h"
#include "process/owner_lock.h"

#include <asm/errno.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <stdatomic.h>
#include <stddef.h>

_Static_assert(offsetof(struct hook_thread, invocations) == HOOK_THREAD_TOP, "as the gates have it");
_Static_assert(offsetof(struct invocation_stack, top) == HOOK_THREAD_TOP, "as the gates have it");
_Static_assert(offsetof(struct invocation_stack, limit) == HOOK_THREAD_LIMIT, "as the gates have it");
_Static_assert(offsetof(struct invocation_stack, full) == HOOK_THREAD_FULL, "as the gates have it");
_Static_assert(offsetof(struct invocation_stack, floor) == HOOK_THREAD_FLOOR, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, position) == HOOK_THREAD_POSITION, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, ignoring) == HOOK_THREAD_IGNORING, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, stack_low) == HOOK_THREAD_STACK_LOW, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, stack_top) == HOOK_THREAD_STACK_TOP, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, gate_sp) == HOOK_THREAD_GATE_SP, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, own_low) == HOOK_THREAD_OWN_LOW, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, own_bytes) == HOOK_THREAD_OWN_BYTES, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, calls) == HOOK_THREAD_CALLS, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, goroutine) == HOOK_THREAD_GOROUTINE, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, call_next) == HOOK_THREAD_CALL_NEXT, "as the gates have it");
_Static_assert(offsetof(struct hook_thread, context) == HOOK_THREAD_CONTEXT, "as the gates have it");
_Static_assert(offsetof(struct hook_thread_call, sp) == HOOK_CALL_SP, "as the gates have it");
_Static_assert(offsetof(struct hook_thread_call, time) == HOOK_CALL_TIME, "as the gates have it");
_Static_assert(offsetof(struct hook_thread_call, number) == HOOK_CALL_NUMBER, "as the gates have it");
_Static_assert(offsetof(struct hook_thread_call, note) == HOOK_CALL_NOTE, "as the gates have it");
_Static_assert(sizeof(struct hook_thread_call) == HOOK_CALL_BYTES, "as the gates have it");

#define ARENA_ALIGNMENT (16u << 20)
#define SINK_BYTES      HOOK_SINK_BYTES
#define VECTORS_BYTES   (16u << 10)
#define STACK_BYTES     (164u << 10)
#define BLOCKS_MOST     8192u
#define BLOCKS_FEWEST   64u
#define LOCK_TIMEOUT_MS 10000u
#define COLLECT_FIRST   64u

/* The system calls of a thread are behind the rest of it, in the same page. */
_Static_assert(sizeof(struct hook_thread) + HOOK_THREAD_CALLS_MAX * sizeof(struct hook_thread_call) <= MEMORY_PAGE_MIN,
               "a page of its block");

uint64_t hook_arena_start;
uint64_t hook_arena_bytes;
uint64_t hook_arena_sink;

static struct {
    struct owner_lock lock;
    struct hook_threads_options options;
    uint8_t *storage;
    _Atomic uint64_t *life; /* nonzero; zero in a forked child until it is noticed */
    struct thread_table table;
    size_t page_bytes;          /* of this machine */
    size_t vectors_bytes;       /* of a block, in whole pages, */
    size_t block_bytes;         /* and all of it */
    uint32_t capacity;          /* of blocks */
    _Atomic uint32_t used;      /* blocks below that are made */
    uint32_t next_collect;      /* when that many are used, the dead are looked for */
    _Atomic uint32_t alone_tid; /* all others are ignored; 0: nobody asked for that */
    bool may_set_base;
    atomic_bool was_counter_forbidden; /* by some thread, some time */
} arena;

uint64_t hook_signals_block(void)
{
    uint64_t all = UINT64_MAX, before = 0;

    (void)raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before, sizeof(all), 0, 0);
    return before;
}

void hook_signals_unblock(uint64_t mask)
{
    (void)raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

int hook_threads_lock(void)
{
    return owner_lock_acquire(&arena.lock, LOCK_TIMEOUT_MS);
}

void hook_threads_unlock(void)
{
    owner_lock_release(&arena.lock);
}

const struct hook_threads_options *hook_threads_options(void)
{
    return &arena.options;
}

/* ---- the arena --------------------------------------------------------------------------------------------------- */

static struct hook_thread *thread_in_block(uint32_t index)
{
    return (struct hook_thread *)(uintptr_t)(hook_arena_start + index * arena.block_bytes + arena.page_bytes);
}

static _Atomic uint64_t *owner_of(struct hook_thread *thread)
{
    return (_Atomic uint64_t *)thread - 1;
}

struct hook_thread *hook_thread_at(uint32_t index)
{
    return index < atomic_load_explicit(&arena.used, memory_order_acquire) ? thread_in_block(index) : NULL;
}

struct hook_thread *hook_thread_of(int tid)
{
    struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        if (thread->tid == (uint32_t)tid)
            return thread;
    return NULL;
}

static bool wipe_on_fork(void *page)
{
    return raw_syscall(__NR_madvise, (long)page, (long)arena.page_bytes, MADV_WIPEONFORK, 0, 0, 0) == 0;
}

/* -ENOMEM. */
static int reserve_blocks(uint32_t capacity)
{
    uint64_t head_bytes = SINK_BYTES + arena.page_bytes, blocks_bytes = capacity * arena.block_bytes;
    uint64_t reserved_bytes = head_bytes + blocks_bytes + ARENA_ALIGNMENT, start;
    void *storage;
    int result = memory_reserve(reserved_bytes, &storage);

    if (result != 0)
        return result;
    start = ((uintptr_t)storage + ARENA_ALIGNMENT - 1) & ~(uint64_t)(ARENA_ALIGNMENT - 1);
    if (start > (uintptr_t)storage)
        memory_unmap(storage, start - (uintptr_t)storage);
    if (start + head_bytes + blocks_bytes < (uintptr_t)storage + reserved_bytes)
        memory_unmap((void *)(uintptr_t)(start + head_bytes + blocks_bytes),
                     (uintptr_t)storage + reserved_bytes - (start + head_bytes + blocks_bytes));
    result = memory_protect((void *)(uintptr_t)start, head_bytes, MEMORY_READ_WRITE);
    if (result != 0) {
        memory_unmap((void *)(uintptr_t)start, head_bytes + blocks_bytes);
        return result;
    }
    arena.storage = (uint8_t *)(uintptr_t)start;
    arena.life = (_Atomic uint64_t *)(uintptr_t)(start + SINK_BYTES);
    arena.capacity = capacity;
    hook_arena_sink = start;
    hook_arena_start = start + head_bytes;
    hook_arena_bytes = blocks_bytes;
    return 0;
}

/* As many as there are addresses for. */
static int reserve_most_blocks(void)
{
    int result = -ENOMEM;

    arena.page_bytes = memory_page_size();
    arena.vectors_bytes = memory_round_to_pages(VECTORS_BYTES);
    arena.block_bytes = 3 * arena.page_bytes + arena.vectors_bytes + memory_round_to_pages(STACK_BYTES);
    for (uint32_t capacity = BLOCKS_MOST; result != 0 && capacity >= BLOCKS_FEWEST; capacity /= 2)
        result = reserve_blocks(capacity);
    return result;
}

int hook_threads_begin(const struct hook_threads_options *options)
{
    int result;

    if (!hook_stub_is_supported())
        return -EOPNOTSUPP;
    arena.options = *options;
    if (arena.storage != NULL)
        return 0;
    result = reserve_most_blocks();
    if (result != 0)
        return result;
    result = thread_table_init(&arena.table, arena.capacity);
    if (result != 0) {
        memory_unmap(arena.storage, SINK_BYTES + arena.page_bytes + hook_arena_bytes);
        arena.storage = NULL;
        return result;
    }
    arena.next_collect = COLLECT_FIRST;
    /* A child that is not known to be one must not be taken for its parent by the gates. */
    arena.may_set_base = wipe_on_fork((void *)(uintptr_t)arena.life) && host_cpu_has_base_insns();
    atomic_store_explicit(arena.life, 1, memory_order_release);
    hook_quiescence_prepare();
    return 0;
}

bool hook_thread_has_base(uint64_t base)
{
    return base - hook_arena_start < hook_arena_bytes;
}

void hook_threads_end(void)
{
    struct hook_thread *thread;

    if (arena.storage == NULL)
        return;
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        invocation_stack_deinit(&thread->invocations);
        call_data_deinit(thread);
    }
    thread_table_deinit(&arena.table);
    memory_unmap(arena.storage, SINK_BYTES + arena.page_bytes + hook_arena_bytes);
    hook_arena_start = hook_arena_bytes = hook_arena_sink = 0;
    __builtin_memset(&arena, 0, sizeof(arena));
}

/* ---- making and finding ------------------------------------------------------------------------------------------ */

static bool is_in_arena(uint64_t base)
{
    return base - hook_arena_start < hook_arena_bytes;
}

static struct hook_thread *thread_at_base(uint64_t base)
{
    return is_in_arena(base) ? (struct hook_thread *)(uintptr_t)base : NULL;
}

static struct hook_thread *find_by_tid(uint32_t tid)
{
    uint32_t index;

    return thread_table_find(&arena.table, tid, &index) ? thread_in_block(index) : NULL;
}

/* For the first time. False: no memory. */
static bool make_block(uint32_t index)
{
    struct hook_thread *thread = thread_in_block(index);
    uint8_t *block = (uint8_t *)thread - arena.page_bytes, *vectors = block + 2 * arena.page_bytes;
    uint8_t *guard = vectors + arena.vectors_bytes, *stack = guard + arena.page_bytes, *end = block + arena.block_bytes;

    if (memory_protect(block, (size_t)(guard - block), MEMORY_READ_WRITE) != 0 ||
        memory_protect(stack, (size_t)(end - stack), MEMORY_READ_WRITE) != 0 ||
        invocation_stack_init(&thread->invocations) != 0)
        return false;
    if (arena.may_set_base && !wipe_on_fork(block))
        arena.may_set_base = false;
    thread->index = index;
    thread->calls = (struct hook_thread_call *)(thread + 1);
    thread->stack_low = (uintptr_t)stack;
    thread->stack_top = (uintptr_t)end;
    if (vector_state_bytes() <= arena.vectors_bytes) {
        thread->vectors = vectors;
        vector_state_init(thread->vectors);
    }
    return true;
}

static bool is_dead(const struct hook_thread *thread, uint32_t pid)
{
    return raw_syscall(__NR_tgkill, pid, thread->tid, 0, 0, 0, 0) == -ESRCH;
}

/* Nobody's from now on. What calls it was in stays to be found. */
static void let_go(struct hook_thread *thread)
{
    atomic_store_explicit(owner_of(thread), 0, memory_order_relaxed);
    hook_record_close(thread);
    if (thread->details != NULL && arena.options.ended != NULL)
        arena.options.ended(thread);
    thread_table_remove(&arena.table, thread->tid);
    thread->tid = 0;
    /* It may be unmapped. */
    hook_thread_forget_stack(thread);
}

static void collect(void)
{
    uint32_t pid = (uint32_t)raw_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0), alive = 0;
    struct hook_thread *thread;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        if (thread->tid != 0 && is_dead(thread, pid))
            let_go(thread);
        alive += thread->tid != 0;
    }
    arena.next_collect = alive * 2 < COLLECT_FIRST ? COLLECT_FIRST : alive * 2;
}

/* One that is nobody's, rather without calls. NULL: there is none. */
static struct hook_thread *find_free(void)
{
    struct hook_thread *thread, *with_calls = NULL;

    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        struct invocation_cursor cursor;

        if (thread->tid != 0)
            continue;
        invocation_cursor_begin(&cursor, &thread->invocations);
        if (invocation_cursor_next(&cursor) == NULL)
            return thread;
        with_calls = thread;
    }
    return with_calls;
}

static struct hook_thread *new_block(void)
{
    uint32_t index = atomic_load_explicit(&arena.used, memory_order_relaxed);

    if (index >= arena.capacity || !make_block(index))
        return NULL;
    atomic_store_explicit(&arena.used, index + 1, memory_order_release);
    return thread_in_block(index);
}

static struct hook_thread *find_room(void)
{
    struct hook_thread *thread;

    if (atomic_load_explicit(&arena.used, memory_order_relaxed) >= arena.next_collect)
        collect();
    thread = find_free();
    return thread != NULL ? thread : new_block();
}

/* Nobody is asked where nobody has forbidden it: programs that confine themselves may not allow the call. */
static bool inherits_forbidden_counter(void)
{
    int mode = PR_TSC_ENABLE;

    if (!atomic_load_explicit(&arena.was_counter_forbidden, memory_order_relaxed))
        return false;
    return raw_syscall(__NR_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0) == 0 && mode == PR_TSC_SIGSEGV;
}

static void begin_thread(struct hook_thread *thread, uint32_t tid)
{
    uint32_t alone = atomic_load_explicit(&arena.alone_tid, memory_order_relaxed);

    invocation_grave_add_all(&thread->invocations);
    invocation_stack_clear(&thread->invocations);
    thread->tid = tid;
    thread->is_lending = 0;
    thread->ignore_count = 0;
    thread->has_stacks = false;
    thread->is_counter_forbidden = inherits_forbidden_counter();
    hook_thread_forget_stack(thread);
    atomic_store_explicit(&thread->busy_since, 0, memory_order_relaxed);
    atomic_store_explicit(&thread->ignoring, 0, memory_order_relaxed);
    hook_thread_set_ignoring(thread, HOOK_IGNORING_OTHERS, alone != 0 && alone != tid);
    hook_record_begin_thread(thread);
}

static struct hook_thread *make_thread(uint32_t tid)
{
    struct hook_thread *thread = NULL;

    if (hook_threads_lock() != 0)
        return NULL;
    thread = find_room();
    if (thread != NULL) {
        begin_thread(thread, tid);
        thread_table_add(&arena.table, tid, thread->index);
    }
    hook_threads_unlock();
    if (thread == NULL)
        counter_add(COUNTER_hook_threads_untracked, 1);
    return thread;
}

/* ---- forked children --------------------------------------------------------------------------------------------- */

/* The state that the thread had in the parent. NULL: none. */
static struct hook_thread *find_in_parent(uint64_t base)
{
    uint64_t pointer = hook_thread_pointer();
    struct hook_thread *thread = thread_at_base(base);

    if (thread != NULL && thread->tid != 0 && thread->thread_pointer == pointer)
        return thread;
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        if (thread->tid != 0 && thread->thread_pointer == pointer)
            return thread;
    return NULL;
}

/* Only this thread has come with us. Its invocations have: their landings are on its stack. */
static void leave_parent(struct hook_thread *own, uint32_t tid)
{
    struct hook_thread *thread;

    hook_recording_forget();
    thread_table_clear(&arena.table);
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++) {
        thread->tid = thread == own ? tid : 0;
        hook_thread_forget_stack(thread);
        hook_record_forget(thread);
        if (thread->details != NULL && arena.options.forgotten != NULL)
            arena.options.forgotten(thread);
    }
    if (own != NULL)
        thread_table_add(&arena.table, tid, own->index);
    atomic_store_explicit(&arena.alone_tid, 0, memory_order_relaxed);
}

static bool notice_fork(uint64_t base, uint32_t tid)
{
    bool is_new = false;

    if (atomic_load_explicit(arena.life, memory_order_acquire) != 0 || hook_threads_lock() != 0)
        return false;
    if (atomic_load_explicit(arena.life, memory_order_relaxed) == 0) {
        leave_parent(find_in_parent(base), tid);
        atomic_store_explicit(arena.life, 1, memory_order_release);
        is_new = true;
    }
    hook_threads_unlock();
    return is_new;
}

static uint32_t own_tid(void)
{
    return (uint32_t)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

/* Of a thread whose gates do not find it, so that they go the slow way. */
static bool is_owner_hidden(const struct hook_thread *thread)
{
    return thread->is_counter_forbidden && thread->tid != 0 && thread->thread_pointer == hook_thread_pointer();
}

struct hook_thread *hook_thread_current(void)
{
    struct hook_thread *thread = thread_at_base(hook_thread_base_get());

    if (arena.storage == NULL)
        return NULL;
    if (thread != NULL && atomic_load_explicit(owner_of(thread), memory_order_relaxed) == hook_thread_pointer() + 1)
        return thread;
    if (atomic_load_explicit(arena.life, memory_order_acquire) == 0)
        return NULL;
    return thread != NULL && is_owner_hidden(thread) ? thread : find_by_tid(own_tid());
}

struct hook_thread *hook_thread_obtain(bool *is_forked_out)
{
    struct hook_thread *thread = hook_thread_current();
    uint64_t base = hook_thread_base_get(), pointer;
    uint32_t tid;

    *is_forked_out = false;
    if (thread == NULL) {
        tid = own_tid();
        *is_forked_out = notice_fork(base, tid);
        thread = find_by_tid(tid);
        if (thread == NULL)
            thread = make_thread(tid);
    }
    if (thread == NULL)
        return NULL;
    pointer = hook_thread_pointer();
    thread->thread_pointer = pointer;
    if (arena.may_set_base && (base == 0 || is_in_arena(base))) {
        atomic_store_explicit(owner_of(thread), thread->is_counter_forbidden ? 0 : pointer + 1, memory_order_relaxed);
        if (base != (uintptr_t)thread)
            hook_thread_base_set((uintptr_t)thread);
    }
    return thread;
}

void hook_threads_collect(void)
{
    uint64_t mask = hook_signals_block();

    if (arena.storage != NULL && hook_threads_lock() == 0) {
        collect();
        hook_threads_unlock();
    }
    hook_signals_unblock(mask);
}

bool hook_thread_is_on_own_stack(struct hook_thread *thread, uint64_t place)
{
    bool is_own = own_stack_has(&thread->own_stack, thread->thread_pointer, place, place);

    thread->own_low = thread->own_stack.low;
    thread->own_bytes = thread->own_stack.high - thread->own_stack.low;
    return is_own;
}

/* ---- ignoring ---------------------------------------------------------------------------------------------------- */

static struct hook_thread *obtain(void)
{
    bool is_forked;

    return arena.storage == NULL ? NULL : hook_thread_obtain(&is_forked);
}

void hook_thread_forbid_counter(bool is_forbidden)
{
    uint64_t mask = hook_signals_block();
    struct hook_thread *thread = obtain();

    if (is_forbidden)
        atomic_store_explicit(&arena.was_counter_forbidden, true, memory_order_relaxed);
    if (thread != NULL) {
        thread->is_counter_forbidden = is_forbidden;
        if (is_forbidden)
            atomic_store_explicit(owner_of(thread), 0, memory_order_relaxed);
    }
    hook_signals_unblock(mask);
}

static void change_ignore_count(int change)
{
    uint64_t mask = hook_signals_block();
    struct hook_thread *thread = obtain();

    if (thread != NULL && (change > 0 || thread->ignore_count > 0)) {
        thread->ignore_count += (uint32_t)change;
        hook_thread_set_ignoring(thread, HOOK_IGNORING_SELF, thread->ignore_count > 0);
    }
    hook_signals_unblock(mask);
}

void hook_thread_ignore(void)
{
    change_ignore_count(1);
}

void hook_thread_listen(void)
{
    change_ignore_count(-1);
}

static void ignore_all_but(uint32_t tid)
{
    struct hook_thread *thread;

    atomic_store_explicit(&arena.alone_tid, tid, memory_order_relaxed);
    for (uint32_t i = 0; (thread = hook_thread_at(i)) != NULL; i++)
        hook_thread_set_ignoring(thread, HOOK_IGNORING_OTHERS, tid != 0 && thread->tid != tid);
}

/* Under the lock, under which threads get their states. */
static int change_alone(uint32_t from, uint32_t to)
{
    uint64_t mask = hook_signals_block();
    int result = arena.storage == NULL ? -ENOMEM : hook_threads_lock();

    if (result == 0) {
        if (atomic_load_explicit(&arena.alone_tid, memory_order_relaxed) == from)
            ignore_all_but(to);
        else
            result = -EBUSY;
        hook_threads_unlock();
    }
    hook_signals_unblock(mask);
    return result;
}

int hook_thread_ignore_others(void)
{
    return change_alone(0, own_tid());
}

void hook_thread_listen_to_others(void)
{
    (void)change_alone(own_tid(), 0);
}
