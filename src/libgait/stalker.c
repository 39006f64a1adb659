/* SPDX-License-Identifier: MIT */
/*
 * The stalker's public face: options, errors with words, and which functions of the library followed threads call
 * natively. All the work is in src/stalker. Neighbours: stalker_invalidate.c, run_on_thread.c.
 */
#include "gait/stalker.h"

#include "arch/cpu.h"
#include "gait/hook.h"
#include "hosted/error_text.h"
#include "libgait/event_ring_region.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "libgait/run_on_thread.h"
#include "libgait/stalker_handle.h"
#include "stalker/call_probe.h"
#include "stalker/follow.h"
#include "stalker/follow_other.h"
#include "stalker/reclaim.h"
#include "stalker/stalker_engine.h"
#include "stalker/thread.h"
#include "stalker/thread_visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_ALL (GAIT_EVENT_CALL | GAIT_EVENT_RET | GAIT_EVENT_EXEC | GAIT_EVENT_BLOCK | GAIT_EVENT_COMPILE)

/* Less would not hold a block and what belongs to it. */
#define SLAB_BYTES_MIN 65536u

static const struct options_type stalker_options = {
    "make a stalker",
    "gait_stalker_options",
    sizeof(struct gait_stalker_options),
};

static const struct options_type follow_options = {
    "follow a thread",
    "gait_follow_options",
    sizeof(struct gait_follow_options),
};

/* What followed threads may call of this header: these run natively, since they take the engine's locks. */
static int add_natives(struct stalker_engine *engine)
{
    static void *const functions[] = {
#define NATIVE(name) (void *)name,
#include "libgait/stalker_natives.def"
#undef NATIVE
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        int result = stalker_engine_add_native(engine, app_pc_of((uintptr_t)functions[i]));

        if (result != 0)
            return result;
    }
    return 0;
}

int stalker_handle_missing(struct gait_error *err, const char *doing)
{
    return error_set(err, EINVAL, "cannot %s: there is no stalker, it is NULL", doing);
}

static int engine_failed(int result, struct gait_error *err)
{
    if (result == -EOPNOTSUPP)
        return error_set(err, result, "cannot make a stalker: gait does not know yet how to follow threads on %s",
                         cpu_host()->name);
    if (result == -EACCES || result == -EPERM || result == -ENOSYS)
        return error_set(err, result,
                         "cannot make a stalker: the system lets no memory be executed that is written by the program "
                         "(%s); allow memory files (memfd_create), or memory that changes between writable and "
                         "executable (mprotect)",
                         strerror(-result));
    return error_set(err, result, "cannot make a stalker: no memory for it: %s", strerror(-result));
}

EXPORT int gait_stalker_create(const struct gait_stalker_options *options, struct gait_stalker **stalker_out,
                               struct gait_error *err)
{
    struct stalker_engine_options engine_options;
    struct gait_stalker_options chosen;
    struct gait_stalker *stalker;
    int result;

    if (stalker_out == NULL)
        return error_set(err, EINVAL, "cannot make a stalker: nowhere to put it, stalker_out is NULL");
    result = options_read(&stalker_options, options, &chosen, err);
    if (result != 0)
        return result;
    if (chosen.trust < GAIT_TRUST_NEVER || chosen.trust > GAIT_TRUST_MOST)
        return error_set(err, EINVAL, "cannot make a stalker: trust is %d; it goes from %d to %d", chosen.trust,
                         GAIT_TRUST_NEVER, GAIT_TRUST_MOST);
    if (chosen.slab_bytes != 0 && chosen.slab_bytes < SLAB_BYTES_MIN)
        return error_set(err, EINVAL, "cannot make a stalker: slab_bytes is %zu; it must be 0 or at least %u",
                         chosen.slab_bytes, SLAB_BYTES_MIN);
    engine_options = (struct stalker_engine_options){
        .without_links = chosen.without_links,
        .without_lookup = chosen.without_lookup,
        .without_adjacent = chosen.without_adjacent,
        .slab_bytes = chosen.slab_bytes,
        .view = chosen.write_xor_execute ? CODE_VIEW_DUAL : CODE_VIEW_AUTO,
        .trust = chosen.trust,
        .callbacks_followed = chosen.callbacks_followed,
        .code_bytes_max = chosen.code_bytes_max,
    };
    stalker = calloc(1, sizeof(*stalker));
    if (stalker == NULL)
        return engine_failed(-ENOMEM, err);
    result = stalker_engine_create(&engine_options, &stalker->engine);
    if (result == 0)
        result = add_natives(stalker->engine);
    if (result != 0) {
        gait_stalker_destroy(stalker);
        return engine_failed(result, err);
    }
    stalker_registry_add(&stalker->registered, stalker->engine);
    *stalker_out = stalker;
    return 0;
}

static bool follows_somebody(struct stalker_engine *engine)
{
    bool follows;

    mutex_lock(&engine->lock);
    follows = !list_is_empty(&engine->threads);
    mutex_unlock(&engine->lock);
    return follows;
}

EXPORT void gait_stalker_destroy(struct gait_stalker *stalker)
{
    if (stalker == NULL)
        return;
    if (stalker->engine != NULL && follows_somebody(stalker->engine))
        (void)gait_stalker_unfollow_all(stalker, NULL);
    run_on_thread_end_all(stalker);
    stalker_registry_remove(&stalker->registered);
    stalker_engine_destroy(stalker->engine);
    free(stalker);
}

static int read_follow_options(const struct gait_follow_options *given, struct gait_follow_options *options_out,
                               struct gait_error *err)
{
    int result = options_read(&follow_options, given, options_out, err);

    if (result != 0)
        return result;
    if (options_out->events & ~(uint32_t)EVENTS_ALL)
        return error_set(err, EINVAL,
                         "cannot follow a thread: events is 0x%x, which has bits that are none of enum "
                         "gait_event_kind",
                         options_out->events);
    if (options_out->buffer_bytes > EVENT_BUFFER_BYTES_MAX)
        return error_set(err, EINVAL, "cannot follow a thread: buffer_bytes is %zu; at most %u are possible",
                         options_out->buffer_bytes, EVENT_BUFFER_BYTES_MAX);
    if (options_out->sink != NULL && options_out->sink->process == NULL)
        return error_set(err, EINVAL, "cannot follow a thread: the sink has no process function");
    if (options_out->sink != NULL && options_out->ring != NULL)
        return error_set(err, EINVAL, "cannot follow a thread: events go to a sink or to a ring, not to both");
    if (options_out->transformer != NULL && options_out->transformer->transform == NULL)
        return error_set(err, EINVAL, "cannot follow a thread: the transformer has no transform function");
    return 0;
}

int stalker_handle_request(const struct gait_follow_options *given, struct follow_request *request_out,
                           struct gait_error *err)
{
    struct gait_follow_options options;
    int result = read_follow_options(given, &options, err);

    if (result != 0)
        return result;
    *request_out = (struct follow_request){
        .configuration =
            {
                .events = options.events,
                .times = options.times,
                .ring = options.ring == NULL ? NULL : event_ring_region(options.ring),
                .transformer = options.transformer,
            },
        .buffer_bytes = options.buffer_bytes,
        .new_threads = options.new_threads,
    };
    if (options.sink != NULL)
        request_out->receiver = (struct event_receiver){options.sink->process, options.sink->context};
    return 0;
}

static int follow_failed(int result, int tid, struct gait_error *err)
{
    switch (result) {
    case -EALREADY:
        return error_set(err, result, "cannot follow thread %d: it is followed already; unfollow it first", tid);
    case -ESRCH:
        return error_set(err, result, "cannot follow thread %d: this process has no such thread", tid);
    case -ENOMEM:
        return error_set(err, result,
                         "cannot follow thread %d: no memory, or none below 2 GiB; gait_stalker_collect gives back "
                         "what is no longer used",
                         tid);
    case -EPERM:
    case -EACCES:
        return error_set(err, result,
                         "cannot follow thread %d: it cannot be stopped, since a debugger or tracer has it or the "
                         "system forbids tracing; detach the other tool, or let the thread follow itself",
                         tid);
    case -ETIMEDOUT:
        return error_set(err, result,
                         "cannot follow thread %d: it did not stop within two seconds, since it waits in a way that "
                         "cannot be interrupted; try again later",
                         tid);
    default:
        return error_set(err, result, "cannot follow thread %d: %s", tid, strerror(-result));
    }
}

/* The calling thread has everything it needs to enter the cache. */
static int prepare(void *stalker, const void *options, void *err, struct stalker_thread **thread_out)
{
    struct gait_stalker *self = stalker;
    struct follow_request request;
    int result;

    if (self == NULL)
        return stalker_handle_missing(err, "follow a thread");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = stalker_follow_prepare(self->engine, &request, thread_out);
    return result == 0 ? 0 : follow_failed(result, stalker_current_tid(), err);
}

EXPORT int gait_stalker_follow_me(struct gait_stalker *stalker, const struct gait_follow_options *options,
                                  struct gait_error *err)
{
    return stalker_follow_caller(stalker, options, err, prepare);
}

EXPORT int gait_stalker_unfollow_me(struct gait_stalker *stalker, struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "unfollow a thread");
    result = stalker_unfollow_current(stalker->engine);
    if (result != 0)
        return error_set(err, result, "cannot unfollow thread %d: it is not followed", stalker_current_tid());
    return 0;
}

EXPORT int gait_stalker_follow(struct gait_stalker *stalker, int tid, const struct gait_follow_options *options,
                               struct gait_error *err)
{
    struct follow_request request;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "follow a thread");
    result = stalker_handle_request(options, &request, err);
    if (result != 0)
        return result;
    result = stalker_follow_other(stalker->engine, tid, &request);
    if (result == -EINVAL)
        return error_set(err, result, "cannot follow thread %d: that is the calling thread; use gait_stalker_follow_me",
                         tid);
    return result == 0 ? 0 : follow_failed(result, tid, err);
}

EXPORT int gait_stalker_unfollow(struct gait_stalker *stalker, int tid, struct gait_error *err)
{
    int result;

    if (stalker == NULL || tid == stalker_current_tid())
        return gait_stalker_unfollow_me(stalker, err);
    result = stalker_unfollow_other(stalker->engine, tid);
    if (result == -ESRCH)
        return error_set(err, result, "cannot unfollow thread %d: it is not followed", tid);
    if (result != 0)
        return error_set(err, result, "cannot unfollow thread %d: it cannot be stopped: %s", tid, strerror(-result));
    return 0;
}

EXPORT void gait_stalker_set_observer(struct gait_stalker *stalker, const struct gait_observer *observer)
{
    if (stalker != NULL)
        observer_set(stalker->engine, observer);
}

static int set_active(struct gait_stalker *stalker, bool is_active, struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, is_active ? "activate a thread" : "deactivate a thread");
    result = exclusion_set_active(stalker->engine, is_active);

    if (result == -ESRCH)
        return error_set(err, result, "cannot %s thread %d: it is not followed", is_active ? "activate" : "deactivate",
                         stalker_current_tid());
    if (result != 0)
        return error_set(err, result, "cannot deactivate thread %d: %s", stalker_current_tid(), strerror(-result));
    return 0;
}

EXPORT int gait_stalker_deactivate(struct gait_stalker *stalker, struct gait_error *err)
{
    return set_active(stalker, false, err);
}

EXPORT int gait_stalker_activate(struct gait_stalker *stalker, struct gait_error *err)
{
    return set_active(stalker, true, err);
}

EXPORT bool gait_stalker_is_following(struct gait_stalker *stalker, int tid)
{
    return stalker != NULL && stalker_is_following(stalker->engine, tid);
}

EXPORT bool gait_stalker_is_following_me(struct gait_stalker *stalker)
{
    return stalker != NULL && stalker_is_following(stalker->engine, stalker_current_tid());
}

EXPORT int gait_stalker_add_call_probe(struct gait_stalker *stalker, uint64_t target, gait_call_probe probe, void *data,
                                       uint32_t *id_out, struct gait_error *err)
{
    uint32_t id;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "probe calls");
    if (probe == NULL)
        return error_set(err, EINVAL, "cannot probe calls of 0x%llx: there is no probe, it is NULL",
                         (unsigned long long)target);
    result = call_probe_add(stalker->engine, target, probe, data, &id);
    if (result != 0)
        return error_set(err, result, "cannot probe calls of 0x%llx: %s", (unsigned long long)target,
                         strerror(-result));
    if (id_out != NULL)
        *id_out = id;
    return 0;
}

EXPORT int gait_stalker_remove_call_probe(struct gait_stalker *stalker, uint32_t id, struct gait_error *err)
{
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "remove a call probe");
    result = call_probe_remove(stalker->engine, id);
    if (result == -ENOENT)
        return error_set(err, result, "cannot remove call probe %u: there is none, or not any more", id);
    if (result != 0)
        return error_set(err, result, "cannot remove call probe %u: %s", id, strerror(-result));
    return 0;
}

EXPORT int gait_stalker_exclude(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes,
                                struct gait_error *err)
{
    unsigned long long first = start, size = size_bytes;
    int result = -EINVAL;

    if (stalker == NULL)
        return stalker_handle_missing(err, "exclude code");
    if (size_bytes != 0 && start + size_bytes > start)
        result = exclusion_add(stalker->engine, start, start + size_bytes);

    switch (result) {
    case 0:
        return 0;
    case -EINVAL:
        return error_set(err, result, "cannot exclude code: 0x%llx with %llu bytes is no range", first, size);
    case -EEXIST:
        return error_set(err, result,
                         "cannot exclude 0x%llx with %llu bytes: a part of it is excluded already; exclude the rest",
                         first, size);
    default:
        return error_set(err, result, "cannot exclude 0x%llx with %llu bytes: %s", first, size, strerror(-result));
    }
}

EXPORT int gait_stalker_include(struct gait_stalker *stalker, uint64_t start, uint64_t size_bytes,
                                struct gait_error *err)
{
    unsigned long long first = start, size = size_bytes;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, "take an exclusion back");
    result = exclusion_remove(stalker->engine, start, start + size_bytes);
    if (result == -ENOENT)
        return error_set(
            err, result,
            "cannot take the exclusion of 0x%llx with %llu bytes back: there is none with that address and "
            "size",
            first, size);
    if (result != 0)
        return error_set(err, result, "cannot take the exclusion of 0x%llx back: %s", first, strerror(-result));
    return 0;
}

EXPORT bool gait_stalker_is_excluded(struct gait_stalker *stalker, uint64_t address)
{
    return stalker != NULL && exclusion_holds(stalker->engine, app_pc_of(address));
}

EXPORT size_t gait_stalker_collect(struct gait_stalker *stalker)
{
    if (stalker == NULL)
        return 0;
    run_on_thread_collect(stalker);
    return reclaim_all(stalker->engine);
}

EXPORT int gait_stalker_flush(struct gait_stalker *stalker, struct gait_error *err)
{
    if (stalker == NULL)
        return stalker_handle_missing(err, "hand over events");
    stalker_flush_current(stalker->engine);
    return 0;
}

EXPORT int gait_stalker_flush_thread(struct gait_stalker *stalker, int tid, struct gait_error *err)
{
    int result;

    if (stalker == NULL || (tid == stalker_current_tid() && stalker_is_following(stalker->engine, tid)))
        return gait_stalker_flush(stalker, err);
    result = thread_visit_flush(stalker->engine, tid);
    if (result == -ESRCH)
        return error_set(err, result, "cannot hand over the events of thread %d: it is not followed", tid);
    if (result != 0)
        return error_set(err, result, "cannot hand over the events of thread %d: %s", tid, strerror(-result));
    return 0;
}

static const struct options_type statistics_type = {
    "report the stalker's figures",
    "gait_stalker_statistics",
    sizeof(struct gait_stalker_statistics),
};

EXPORT int gait_stalker_read_statistics(struct gait_stalker *stalker, struct gait_stalker_statistics *statistics_out,
                                        struct gait_error *err)
{
    struct gait_stalker_statistics asked = {0}, statistics;
    size_t size_bytes;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, statistics_type.doing);
    if (statistics_out == NULL)
        return error_set(err, EINVAL, "cannot report the stalker's figures: nowhere to put them");
    size_bytes = statistics_out->size_bytes;
    asked.size_bytes = size_bytes < sizeof(asked) ? size_bytes : sizeof(asked);
    result = options_read(&statistics_type, &asked, &statistics, err);
    if (result != 0)
        return result;
    stalker_statistics_read(stalker->engine, &statistics);
    statistics.size_bytes = size_bytes;
    memset(statistics_out, 0, size_bytes);
    memcpy(statistics_out, &statistics, asked.size_bytes);
    return 0;
}
