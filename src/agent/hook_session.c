/* SPDX-License-Identifier: MIT */
/*
 * The dynamic loader tells when modules have come or gone: by a function that it calls, which is hooked. It does so
 * before it runs any code of theirs, so they are hooked without anybody being stopped.
 */
#include "agent/hook_session.h"

#include "agent/dispatched_calls.h"
#include "agent/errno_place.h"
#include "agent/function_hooks.h"
#include "agent/handler_fronts.h"
#include "agent/hook_details.h"
#include "agent/hook_set.h"
#include "agent/indirect_functions.h"
#include "agent/interrupted_place.h"
#include "agent/module_log.h"
#include "agent/probe_set.h"
#include "agent/process_hooks.h"
#include "agent/process_log.h"
#include "agent/selection.h"
#include "agent/system_call_watch.h"
#include "arch/engine.h"
#include "base/raw_syscall.h"
#include "hook/hook_record.h"
#include "hook/hook_thread.h"
#include "hook/return_tracking.h"
#include "process/call_dispatch.h"
#include "process/dynamic_loader.h"
#include "process/mapping_list.h"
#include "protocol/agent_call.h"
#include "ring/indirect_log.h"
#include "ring/ring_region.h"

#include <asm/errno.h>
#include <asm/unistd.h>

static struct hook_session {
    struct ring_region *ring;
    bool is_begun;               /* hooks that are added are put in place at once */
    bool is_static;              /* no loader has relocated it */
    bool is_whole;               /* the program has yet to begin */
    bool has_loader;             /* a dynamic loader, so that libraries that are mapped are run */
    uint32_t notification_count; /* of changes of modules */
    uint64_t image_start;        /* of the agent */
    uint64_t image_bytes;
} session;

static int current_tid(void)
{
    return (int)raw_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

/* ---- what happens in the process --------------------------------------------------------------------------------- */

/*
 * Of modules that a program needs the loader tells when they are relocated, of those that it loads later before that:
 * then they are when it tells something again.
 */
static void settle_indirect(bool is_before)
{
    bool is_start = !session.is_static && session.is_whole && session.notification_count <= 1;

    if (is_before ? !is_start : is_start && session.notification_count == 1)
        indirect_functions_settle();
}

static void found_indirect(uint64_t target, uint64_t patterns, const char *name)
{
    indirect_log_add(session.ring, target, name);
    selection_function_found(target, patterns);
}

/* is_told: by the loader. */
static void look_again(bool is_told)
{
    int result;

    if (!session.is_begun || handler_fronts_lock() != 0)
        return;
    result = hook_set_open();
    if (is_told)
        settle_indirect(true);
    module_log_look_again();
    if (is_told)
        settle_indirect(false);
    if (result == 0)
        indirect_functions_resolve(found_indirect);
    if (result == 0)
        result = function_hooks_commit();
    if (result == 0)
        probe_set_raise();
    else
        ring_region_note_lack(session.ring);
    hook_set_close();
    handler_fronts_unlock();
}

/* Memory of code has changed. */
static void look_at_modules(void)
{
    look_again(false);
}

/* The first time nothing has changed yet, but will; the second time all is there that the program needs. */
static void modules_changed(struct gait_invocation *invocation)
{
    (void)invocation;
    look_again(true);
    session.notification_count++;
    if (session.notification_count >= 2)
        system_call_watch_started();
}

/* A static program is at its main. */
static void program_started(struct gait_invocation *invocation)
{
    (void)invocation;
    look_again(true);
}

/* In a child, which has one thread, and hooks like its parent. */
static void forked(void)
{
    bool is_read;

    dispatched_calls_begin_in_child();
    is_read = process_log_child_began();
    process_hooks_begin();
    /* What it writes is not for its parent's reader; where nobody sees it, it costs least. */
    if (!is_read && !ring_region_detach(session.ring))
        return;
    hook_recording_begin(session.ring, function_hooks_space());
    if (!is_read)
        return;
    function_hooks_begin_in_child();
    probe_set_begin_in_child();
    module_log_begin_in_child();
}

/* Without a loader nobody runs what is mapped besides the program. valgrind maps programs to translate them. */
static uint64_t module_loaded(const struct mapping *mapping, const char *path, struct selection_search *search)
{
    if (!session.has_loader && !selection_is_program(mapping))
        return 0;
    return function_hooks_add(mapping, path, search);
}

static void module_unloaded(uint64_t start, uint64_t end)
{
    errno_place_remove(start, end);
    hook_set_forget(start, end);
    indirect_functions_remove(start, end);
    probe_set_forget(start, end);
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

/* From the first segment to the last one. */
static void find_image(const struct agent_call *call)
{
    uint64_t end = 0;

    session.image_start = UINT64_MAX;
    for (uint32_t i = 0; i < call->segment_count && i < AGENT_SEGMENTS_MAX; i++) {
        const struct agent_segment *segment = &call->segments[i];

        if (segment->start < session.image_start)
            session.image_start = segment->start;
        if (segment->start + segment->size_bytes > end)
            end = segment->start + segment->size_bytes;
    }
    session.image_bytes = end == 0 ? 0 : end - session.image_start;
}

int hook_session_prepare(const struct agent_call *call, struct ring_region *ring)
{
    static const struct selection_watcher watcher = {.module = module_loaded, .remove = module_unloaded};
    const struct hook_threads_options threads = {
        .forked = forked, .ended = hook_details_thread_ended, .forgotten = hook_details_thread_forgotten};
    struct function_hooks_options functions = {.ring = ring,
                                               .is_whole = call->options.is_whole != 0,
                                               .changed = modules_changed,
                                               .started = program_started};
    struct dynamic_loader loader;
    int found, result = hook_threads_begin(&threads);

    if (result != 0)
        return result;
    /* In a static program no modules come or go. */
    found = dynamic_loader_find(&loader);
    if (found == 0)
        functions.loader_notification = loader.notification;
    /* There may be one that cannot be asked; and of how the program began nothing may be known. */
    session.has_loader = found == 0 || loader.start.loader != 0 || loader.start.program_headers == 0;
    functions.is_static = session.is_static = found != -ENOENT ? loader.start.loader == 0 : !session.has_loader;
    result = hook_details_begin(ring, &call->options);
    if (result == 0)
        result = system_call_watch_begin(&call->options, look_at_modules);
    if (result != 0)
        return result;
    function_hooks_begin(&functions);
    result = hook_set_open();
    if (result != 0) {
        function_hooks_end();
        return result;
    }
    probe_set_begin(ring, &call->options);
    session.ring = ring;
    session.is_whole = call->options.is_whole;
    indirect_functions_clear();
    find_image(call);
    dispatched_calls_begin(session.image_start, session.image_bytes, system_call_watch_is_wanted());
    handler_fronts_prepare();
    interrupted_place_begin(session.image_start, session.image_bytes);
    process_hooks_begin();
    hook_recording_begin(ring, function_hooks_space());
    selection_begin(NULL, ring, &call->options, &watcher);
    (void)module_log_begin(ring, NULL);
    hook_set_close();
    return 0;
}

int hook_session_meet(struct agent_call *call)
{
    int result = hook_set_open();

    /* By threads that ran since it was prepared. */
    if (result == 0)
        module_log_look_again();
    for (uint32_t i = 0; result == 0 && i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++)
        call->threads[i].result = hook_set_move_in(call->threads[i].tid, &call->threads[i].registers) ? 0 : 1;
    hook_set_close();
    return result;
}

int hook_session_begin(struct thread_registers *registers)
{
    int result = hook_set_open();

    if (result != 0)
        return result;
    module_log_look_again();
    /* A program that runs is relocated. */
    if (!session.is_whole) {
        indirect_functions_settle();
        indirect_functions_resolve(found_indirect);
    }
    (void)hook_set_move_in(current_tid(), registers);
    result = function_hooks_commit();
    session.is_begun = result == 0;
    if (result == 0) {
        probe_set_raise();
        handler_fronts_begin();
    }
    hook_set_close();
    return result;
}

/* ---- leaving ----------------------------------------------------------------------------------------------------- */

/* Stubs and trampolines, and our own image. */
static bool is_ours(uint64_t pc)
{
    return hook_set_contains(pc) || pc - session.image_start < session.image_bytes;
}

static struct thread_registers *registers_of(struct agent_thread *thread, struct thread_registers *callers)
{
    return thread->tid == current_tid() ? callers : &thread->registers;
}

int hook_session_leave(struct agent_call *call, struct thread_registers *registers)
{
    int result = hook_set_open();

    if (result == 0)
        result = hook_set_remove(false);
    if (result == 0) {
        session.is_begun = false;
        probe_set_lower();
    }
    for (uint32_t i = 0; result == 0 && i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[i];

        thread->result = hook_set_move_out(thread->tid, registers_of(thread, registers)) ? 0 : 1;
    }
    hook_set_close();
    return result;
}

/* A thread goes on with the base that it had before it first met a hook. */
static bool give_base_back(struct thread_registers *registers)
{
    struct gait_cpu_context cpu;
    uint64_t base;

    engine_host()->registers->get(registers, &cpu, &base);
    if (!hook_thread_has_base(base))
        return false;
    engine_host()->registers->set(registers, &cpu, 0);
    return true;
}

/* What the controller is to set when all is over. */
static void tell_dispatch(struct agent_thread *thread)
{
    struct call_dispatch asked;

    thread->dispatch = (struct agent_dispatch){.mode = 0};
    if (dispatched_calls_asked((uint32_t)thread->tid, &asked))
        thread->dispatch = (struct agent_dispatch){asked.mode, asked.selector, asked.start, asked.size};
}

bool hook_session_look(struct agent_call *call, struct thread_registers *registers)
{
    bool are_out = hook_set_open() == 0;

    for (uint32_t i = 0; i < call->thread_count && i < AGENT_THREADS_AT_ONCE; i++) {
        struct agent_thread *thread = &call->threads[i];
        struct thread_registers *own = registers_of(thread, registers);

        are_out = are_out && !hook_set_finds_pc(thread->tid, own, is_ours) &&
                  handler_fronts_can_leave(thread->tid, thread_registers_sp(own));
        thread->result = give_base_back(own) ? 0 : 1;
        tell_dispatch(thread);
    }
    hook_set_close();
    return are_out;
}

static bool remove_last_ones(void)
{
    bool is_done = hook_set_open() == 0 && hook_set_remove(true) == 0;

    hook_set_close();
    return is_done;
}

bool hook_session_end(void)
{
    if (session.ring == NULL)
        return true;
    handler_fronts_leave();
    /* Unwinders are told of return addresses that are replaced as long as some are. */
    if (!return_tracking_leave_all() || !remove_last_ones())
        return false;
    hook_recording_end();
    hook_details_end_threads();
    function_hooks_end();
    probe_set_end();
    system_call_watch_end();
    hook_details_end();
    hook_threads_end();
    session = (struct hook_session){.ring = NULL};
    return true;
}
