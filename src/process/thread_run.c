/* SPDX-License-Identifier: MIT */
/*
 * A run is one mapping: the landing, the room for the vector state, the stack. It is unmapped only when the landing
 * routine says that it is done with it, or the thread is gone. No lock: a run belongs to one caller. Neighbours:
 * thread_stop.c stops the thread, arch/<cpu>/host/thread_landing.c knows how it gets there and back.
 */
#include "process/thread_run.h"

#include "base/alignment.h"
#include "base/memory_map.h"
#include "process/futex.h"
#include "process/thread_list.h"
#include "process/thread_stop.h"

#include <asm/errno.h>
#include <stdatomic.h>

#define STACK_BYTES   (64u * 1024)
#define ALIGNMENT     64u
#define LOOK_AGAIN_MS 50u

struct thread_run {
    _Alignas(ALIGNMENT) struct thread_landing landing;
    size_t size_bytes;
    int tid;
    thread_accept accept;
    bool prepared; /* the thread was told to land, if its new registers reached it */
};

static int run_create(int tid, struct thread_run **run_out)
{
    size_t vector_bytes = align_up(thread_landing_vector_bytes(), ALIGNMENT);
    size_t size = memory_round_to_pages(sizeof(struct thread_run) + vector_bytes + STACK_BYTES);
    struct thread_run *run;
    void *memory;
    int result = memory_map(size, &memory);

    if (result != 0)
        return result;
    run = memory;
    run->size_bytes = size;
    run->tid = tid;
    run->landing.vector_state = (uint8_t *)memory + sizeof(*run);
    /* Functions may look above their frame for arguments that nobody gave, as libc's syscall() does. */
    run->landing.stack_end = (uint8_t *)memory + size - ALIGNMENT;
    *run_out = run;
    return 0;
}

static void run_destroy(struct thread_run *run)
{
    memory_unmap(run, run->size_bytes);
}

static int let_land(void *context, struct thread_registers *registers)
{
    struct thread_run *run = context;
    int result = run->accept == NULL ? 0 : run->accept(run->landing.context, registers);

    if (result == 0)
        result = thread_landing_prepare(&run->landing, registers);
    run->prepared = result == 0;
    return result;
}

int thread_run_begin(int tid, thread_function function, void *context, struct thread_run **run_out)
{
    return thread_run_begin_if(tid, NULL, function, context, run_out);
}

int thread_run_begin_if(int tid, thread_accept accept, thread_function function, void *context,
                        struct thread_run **run_out)
{
    struct thread_run *run;
    int result = run_create(tid, &run);

    if (result != 0)
        return result;
    run->landing.function = function;
    run->landing.context = context;
    run->accept = accept;
    result = thread_modify(tid, let_land, run);
    if (result != 0) {
        /* If the tracing process was killed in between, nobody knows whether the thread lands: then the memory stays.
         */
        if (!run->prepared)
            run_destroy(run);
        return result;
    }
    *run_out = run;
    return 0;
}

bool thread_run_is_done(const struct thread_run *run)
{
    /* Acquire: pairs with the store in the landing routine. */
    return atomic_load_explicit(&run->landing.done, memory_order_acquire) != 0;
}

int thread_run_wait(struct thread_run *run, unsigned timeout_ms)
{
    struct futex_deadline deadline = futex_deadline_after(timeout_ms);

    while (!thread_run_is_done(run)) {
        struct futex_deadline soon = futex_deadline_after(LOOK_AGAIN_MS);

        if (futex_deadline_passed(&deadline))
            return -ETIMEDOUT;
        if (futex_wait(&run->landing.done, 0, &soon) == -ETIMEDOUT && !thread_exists(run->tid) &&
            !thread_run_is_done(run))
            return -ESRCH;
    }
    return 0;
}

int thread_run_end(struct thread_run *run, unsigned timeout_ms)
{
    int result = thread_run_wait(run, timeout_ms);

    if (result != -ETIMEDOUT)
        run_destroy(run);
    return result;
}

int thread_run(int tid, thread_function function, void *context, unsigned timeout_ms)
{
    struct thread_run *run;
    int result = thread_run_begin(tid, function, context, &run);

    if (result != 0)
        return result;
    return thread_run_end(run, timeout_ms);
}
