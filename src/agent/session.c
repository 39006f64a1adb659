/* SPDX-License-Identifier: MIT */
#include "agent/session.h"

#include "agent/call_stack.h"
#include "agent/crash_watch.h"
#include "agent/function_watch.h"
#include "agent/hook_session.h"
#include "agent/hook_set.h"
#include "agent/module_log.h"
#include "agent/probe_set.h"
#include "agent/probe_watch.h"
#include "agent/process_log.h"
#include "agent/selection.h"
#include "agent/system_call_following.h"
#include "agent/thread_selection.h"
#include "base/memory_map.h"
#include "base/raw_syscall.h"
#include "process/auxiliary_vector.h"
#include "process/mapping_list.h"
#include "protocol/agent_call.h"
#include "ring/ring_region.h"
#include "stalker/exclusion.h"
#include "stalker/follow_other.h"
#include "stalker/stalker_engine.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread.h"
#include "stalker/thread_registry.h"
#include "stalker/thread_visit.h"

#include <asm/errno.h>
#include <asm/unistd.h>

/* What an engine maps for a short program, in small pieces. */
#define RUN_BYTES (2u << 20)

static struct session {
    struct ring_region *ring;
    const struct process_watcher *processes;
    struct stalker_engine *engine; /* NULL: nothing is followed */
    struct follow_request request;
    bool is_hooked; /* nothing is followed, functions are hooked */
} session;

static bool is_there(void)
{
    return session.engine != NULL || session.is_hooked;
}

static int make_ring(const struct agent_options *options)
{
    const struct ring_options wanted = {
        .buffer_bytes = options->buffer_bytes,
        .buffer_count = options->buffer_count,
        .overflow = (enum ring_overflow)options->overflow,
    };

    int result = ring_region_create(&wanted, &session.ring);

    if (result == 0)
        session.processes = process_log_begin(session.ring, options->children);
    return result;
}

/* Where this code and its data are; as much of it as is known. */
static struct memory_range find_image(const struct agent_call *call)
{
    struct memory_range image = {(uintptr_t)&session, (uintptr_t)(&session + 1)};

    for (uint32_t i = 0; i < call->segment_count && i < AGENT_SEGMENTS_MAX; i++) {
        uint64_t start = call->segments[i].start, end = start + call->segments[i].size_bytes;

        image.low = start < image.low ? start : image.low;
        image.high = end > image.high ? end : image.high;
    }
    return image;
}

/* What is mapped may be what semaphores are in. */
static void mappings_changed(void *context, uint64_t start, uint64_t end, bool may_execute)
{
    const struct mapping_watcher *log = context;

    log->changed(log->context, start, end, may_execute);
    probe_set_raise();
}

static void functions_gone(uint64_t start, uint64_t end)
{
    function_watch_remove(start, end);
    probe_set_forget(start, end);
}

static int make_engine(const struct agent_call *call)
{
    const struct agent_options *options = &call->options;
    static const struct selection_watcher functions = {.add = function_watch_add,
                                                       .probes = probe_watch_add,
                                                       .declare = function_watch_declare,
                                                       .remove = functions_gone};
    /* Programs that begin may be short. */
    struct stalker_engine_options engine_options = {.narrow_tables = options->is_whole != 0,
                                                    .trust = options->is_self_writing != 0 ? -1 : 0};
    bool may_learn = options->is_whole != 0 && options->new_threads != 0;
    struct auxiliary_vector start;
    static struct mapping_watcher watcher = {.changed = mappings_changed};
    const struct thread_chooser *threads;
    int result;

    if (options->is_whole && auxiliary_vector_read(&start) == 0)
        engine_options.program_entry = start.entry;
    result = stalker_engine_create(&engine_options, &session.engine);
    if (result != 0)
        return result;
    session.engine->image = find_image(call);
    result = function_watch_begin(session.engine, session.ring, options);
    if (result == 0 && options->stack_frames != 0)
        result = call_stack_begin(NULL);
    if (result != 0)
        return result;
    probe_set_begin(session.ring, options);
    probe_watch_begin(session.engine);
    system_call_following_begin(session.engine, options);
    selection_begin(session.engine, session.ring, options, &functions);
    watcher.context = (void *)(uintptr_t)module_log_begin(session.ring, may_learn ? &session.engine->source : NULL);
    session.engine->watcher = &watcher;
    session.engine->processes = session.processes;
    threads = thread_selection_begin(options, session.ring);
    return threads == NULL ? 0 : thread_choice_begin(session.engine, threads);
}

/* The calling thread has to set by itself what a tracer sets with another one's registers. */
static int follow_caller(struct thread_registers *registers)
{
    struct stalker_engine *engine = session.engine;
    int result = stalker_follow_stopped(engine, stalker_current_tid(), &session.request, registers);

    if (result != 0)
        return result;
    mutex_lock(&engine->lock);
    stalker_base_set(stalker_thread_find(engine, stalker_current_tid())->self);
    mutex_unlock(&engine->lock);
    return 0;
}

static void give_back(void)
{
    crash_watch_end();
    probe_set_lower();
    stalker_engine_destroy(session.engine);
    (void)!hook_session_end();
    process_log_end();
    thread_registry_deinit();
    module_log_end();
    selection_end();
    function_watch_end();
    probe_watch_end();
    probe_set_end();
    call_stack_end();
    memory_map_end_run();
    session = (struct session){0};
}

/* The controller maps all with every access, which is one thing less to do for it. */
static void protect_image(const struct agent_call *call)
{
    for (uint32_t i = 0; i < call->segment_count && i < AGENT_SEGMENTS_MAX; i++) {
        const struct agent_segment *segment = &call->segments[i];

        /* It works without, too. */
        (void)!memory_protect((void *)(uintptr_t)segment->start, segment->size_bytes, segment->access);
    }
}

/* What this code is mapped from: the program is not to see it. */
static void close_file(const struct agent_call *call)
{
    if (call->has_file_fd)
        (void)raw_syscall(__NR_close, call->file_fd, 0, 0, 0, 0, 0);
}

static int prepare_following(const struct agent_call *call)
{
    const struct agent_options *options = &call->options;
    int result = make_engine(call);

    if (result != 0)
        return result;
    session.request = (struct follow_request){
        .configuration = {.events = options->events, .times = options->with_times != 0, .ring = session.ring},
        .new_threads = options->new_threads != 0,
        .is_whole = options->is_whole != 0,
    };
    crash_watch_begin(session.ring, options->trigger_signals);
    return 0;
}

int session_prepare(struct agent_call *call)
{
    const struct agent_options *options = &call->options;
    int result;

    if (is_there())
        return -EALREADY;
    protect_image(call);
    close_file(call);
    mapping_list_set_own(find_image(call));
    /* Programs that begin may be short. Without, it only takes longer. */
    if (options->is_whole)
        (void)!memory_map_begin_run(RUN_BYTES);
    result = make_ring(options);
    if (result == 0 && options->events & EVENTS_HOOKED) {
        session.is_hooked = true;
        result = hook_session_prepare(call, session.ring);
    } else if (result == 0) {
        result = prepare_following(call);
    }
    if (result == 0)
        call->ring_fd = session.ring->fd;
    else
        give_back();
    return result;
}

int session_begin(struct agent_call *call, struct thread_registers *registers)
{
    bool was_prepared = is_there();
    int result = 0;

    if (session_followed_count() != 0 || session_hooked_count() != 0)
        return -EALREADY;
    if (!was_prepared)
        result = session_prepare(call);
    if (result != 0)
        return result;
    if (was_prepared) {
        ring_region_close_fd(session.ring);
        /* A program that is at its first instruction was stopped since. */
        if (!session.is_hooked && !call->options.is_whole)
            module_log_look_again();
    }
    session.ring->fd = -1;
    result = session.is_hooked ? hook_session_begin(registers) : follow_caller(registers);
    if (result != 0)
        give_back();
    return result;
}

int session_start(struct agent_call *call, struct thread_registers *registers)
{
    int result = session_prepare(call);

    if (result == 0)
        result = follow_caller(registers);
    if (result != 0 && is_there())
        give_back();
    return result;
}

void session_started(struct thread_registers *registers, bool is_taken)
{
    if (!is_there())
        return;
    ring_region_close_fd(session.ring);
    if (!is_taken)
        (void)!stalker_unfollow_stopped(session.engine, stalker_current_tid(), registers);
}

static struct thread_registers *registers_of(struct agent_thread *thread, struct thread_registers *callers)
{
    return thread->tid == stalker_current_tid() ? callers : &thread->registers;
}

int session_follow(struct agent_call *call)
{
    if (session.is_hooked)
        return hook_session_meet(call);
    if (session.engine == NULL)
        return -ENOENT;
    for (uint32_t i = 0; i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[i];

        thread->result = stalker_follow_stopped(session.engine, thread->tid, &session.request, &thread->registers);
    }
    return 0;
}

int session_leave(struct agent_call *call, struct thread_registers *registers)
{
    if (session.is_hooked)
        return hook_session_leave(call, registers);
    if (session.engine == NULL)
        return -ENOENT;
    for (uint32_t i = 0; i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[i];

        thread->result = stalker_unfollow_stopped(session.engine, thread->tid, registers_of(thread, registers));
    }
    return 0;
}

/* Whether all threads of the list are out of our hands. */
static bool are_out(struct agent_call *call, struct thread_registers *registers)
{
    bool are_out = true;

    if (!mutex_try_lock(&session.engine->lock))
        return false;
    for (uint32_t i = 0; i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[i];

        are_out &= !thread_visit_holds(session.engine, thread->tid, registers_of(thread, registers));
    }
    mutex_unlock(&session.engine->lock);
    return are_out;
}

int session_look(struct agent_call *call, struct thread_registers *registers)
{
    if (session.is_hooked)
        return hook_session_look(call, registers) ? 0 : -EBUSY;
    return session.engine == NULL || are_out(call, registers) ? 0 : -EBUSY;
}

/* What threads that have left still needed on their way, which they do not any more. */
static void forget_threads(void)
{
    LIST_FOR_EACH_REMOVABLE (node, &session.engine->parked) {
        struct stalker_thread *thread = LIST_ELEMENT(node, struct stalker_thread, node);

        list_remove(node);
        stalker_thread_destroy(thread);
    }
}

int session_end(void)
{
    if (!is_there())
        return 0;
    if (session_followed_count() != 0 || session_hooked_count() != 0)
        return -EBUSY;
    if (session.is_hooked && !hook_session_end())
        return -EBUSY;
    if (session.engine != NULL)
        forget_threads();
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

uint32_t session_hooked_count(void)
{
    return session.is_hooked ? hook_set_count() : 0;
}
