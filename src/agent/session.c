/* SPDX-License-Identifier: MIT */
#include "agent/session.h"

#include "base/raw_syscall.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "stalker/engine.h"
#include "stalker/exclusion.h"
#include "stalker/follow.h"
#include "stalker/signal_actions.h"
#include "stalker/signal_frame.h"
#include "stalker/thread.h"
#include "stalker/translator.h"

#include <asm/errno.h>

static struct session {
    struct ring_region *ring;
    struct stalker_engine *engine;
    struct follow_request request;
} session;

static int make_ring(const struct agent_options *options)
{
    const struct ring_options wanted = {
        .buffer_bytes = options->buffer_bytes,
        .buffer_count = options->buffer_count,
        .overflow = (enum ring_overflow)options->overflow,
    };

    return ring_region_create(&wanted, &session.ring);
}

static int make_engine(const struct agent_options *options)
{
    static const struct stalker_engine_options defaults;
    int result = stalker_engine_create(&defaults, &session.engine);

    for (uint32_t i = 0; result == 0 && i < options->exclusion_count && i < AGENT_EXCLUSIONS_MAX; i++) {
        const struct agent_range *range = &options->exclusions[i];

        result = exclusion_add(session.engine, range->start, range->start + range->size_bytes);
    }
    return result;
}

/* The calling thread: what another one would get by its tracer, it has to do by itself. */
static int follow_caller(struct thread_registers *registers)
{
    struct stalker_engine *engine = session.engine;
    struct gait_cpu_context entrance;
    struct stalker_thread *thread;
    int result;

    signal_actions_take();
    mutex_lock(&engine->lock);
    result = stalker_follow_create(engine, stalker_current_tid(), &session.request, &thread);
    mutex_unlock(&engine->lock);
    if (result != 0)
        return result;
    engine->translator->registers_get(registers, &entrance, &thread->segment_base);
    thread->context = entrance;
    entrance.pc = (uintptr_t)stalker_gate_begin;
    engine->translator->registers_set(registers, &entrance, thread->self);
    stalker_segment_set(thread->self);
    return 0;
}

static void give_back(void)
{
    stalker_engine_destroy(session.engine);
    ring_region_destroy(session.ring);
    session = (struct session){0};
}

int session_begin(struct agent_call *call, struct thread_registers *registers)
{
    const struct agent_options *options = &call->options;
    int result;

    if (session.engine != NULL)
        return -EALREADY;
    result = make_ring(options);
    if (result == 0)
        result = make_engine(options);
    if (result == 0) {
        session.request = (struct follow_request){
            .configuration = {.events = options->events, .times = options->with_times != 0, .ring = session.ring},
            .new_threads = options->new_threads != 0,
        };
        call->ring_fd = session.ring->fd;
        result = follow_caller(registers);
    }
    if (result != 0)
        give_back();
    return result;
}

int session_follow(struct agent_call *call)
{
    (void)call;
    return -ENOSYS;
}

int session_leave(struct agent_call *call)
{
    (void)call;
    return -ENOSYS;
}

int session_end(void)
{
    if (session_followed_count() != 0)
        return -EBUSY;
    give_back();
    return 0;
}

uint32_t session_followed_count(void)
{
    uint32_t count = 0;

    if (session.engine == NULL)
        return 0;
    LIST_FOR_EACH (node, &session.engine->threads)
        count++;
    return count;
}
