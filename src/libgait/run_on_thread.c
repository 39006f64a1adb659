/* SPDX-License-Identifier: MIT */
/*
 * Functions of the user's on other threads. A run that nobody waits for is kept in the stalker's list until it is done;
 * who comes next gives it back. The storage is mapped, since the caller may be where malloc must not be called.
 */
#include "libgait/run_on_thread.h"

#include "base/memory_map.h"
#include "hosted/error_text.h"
#include "libgait/export.h"
#include "libgait/options.h"
#include "libgait/stalker_handle.h"
#include "process/thread_list.h"
#include "stalker/stalker_gate.h"
#include "stalker/thread_visit.h"

#include <errno.h>
#include <string.h>

struct run_on_thread {
    struct thread_visit visit;
    struct gait_thread_run asked;
    struct run_on_thread *next;
};

static const struct options_type run_type = {
    "run a function on a thread",
    "gait_thread_run",
    sizeof(struct gait_thread_run),
};

static void tell_done(const struct gait_thread_run *asked, int result)
{
    if (asked->done != NULL)
        asked->done(asked->data, result);
}

/* On the other thread. */
static void call(const struct gait_cpu_context *cpu, void *data)
{
    const struct run_on_thread *run = data;

    run->asked.function(cpu, run->asked.data);
    tell_done(&run->asked, 0);
}

static void run_here(const struct gait_thread_run *asked)
{
    struct gait_cpu_context cpu;

    stalker_capture(&cpu);
    asked->function(&cpu, asked->data);
    tell_done(asked, 0);
}

static void free_run(struct run_on_thread *run)
{
    memory_unmap(run, sizeof(*run));
}

static void keep(struct gait_stalker *stalker, struct run_on_thread *run)
{
    mutex_lock(&stalker->runs_lock);
    run->next = stalker->runs;
    stalker->runs = run;
    mutex_unlock(&stalker->runs_lock);
}

/* Takes the runs that are over out of the list. */
static struct run_on_thread *take_ended(struct gait_stalker *stalker)
{
    struct run_on_thread *ended = NULL, **place;

    mutex_lock(&stalker->runs_lock);
    place = &stalker->runs;
    while (*place != NULL) {
        struct run_on_thread *run = *place;

        if (!thread_visit_is_done(&run->visit) && thread_exists(run->visit.tid)) {
            place = &run->next;
            continue;
        }
        *place = run->next;
        run->next = ended;
        ended = run;
    }
    mutex_unlock(&stalker->runs_lock);
    return ended;
}

void run_on_thread_collect(struct gait_stalker *stalker)
{
    struct run_on_thread *ended = take_ended(stalker);

    while (ended != NULL) {
        struct run_on_thread *next = ended->next;
        int result = thread_visit_end(&ended->visit);

        if (result != 0)
            tell_done(&ended->asked, result);
        free_run(ended);
        ended = next;
    }
}

void run_on_thread_end_all(struct gait_stalker *stalker)
{
    for (struct run_on_thread *run = stalker->runs, *next; run != NULL; run = next) {
        int result = thread_visit_end(&run->visit);

        if (result != 0)
            tell_done(&run->asked, result);
        next = run->next;
        free_run(run);
    }
    stalker->runs = NULL;
}

static int begin(struct gait_stalker *stalker, int tid, const struct gait_thread_run *asked)
{
    struct run_on_thread *run;
    void *storage;
    int result = memory_map(sizeof(*run), &storage);

    if (result != 0)
        return result;
    run = storage;
    run->asked = *asked;
    run->visit.function = call;
    run->visit.data = run;
    result = thread_visit_begin(&run->visit, stalker->engine, tid);
    if (result == 0 && asked->without_waiting) {
        keep(stalker, run);
        return 0;
    }
    if (result == 0)
        result = thread_visit_end(&run->visit);
    free_run(run);
    return result;
}

static int run_failed(int result, int tid, struct gait_error *err)
{
    switch (result) {
    case -ESRCH:
        return error_set(err, result,
                         "cannot run a function on thread %d: this process has no such thread, or it ended", tid);
    case -EPERM:
    case -EACCES:
        return error_set(err, result,
                         "cannot run a function on thread %d: it cannot be stopped, since a debugger or tracer has it "
                         "or the system forbids tracing; detach the other tool",
                         tid);
    case -ETIMEDOUT:
        return error_set(err, result,
                         "cannot run a function on thread %d: for two seconds it waited in a way that cannot be "
                         "interrupted, or was in a callout, probe, sink or transformer; try again later",
                         tid);
    default:
        return error_set(err, result, "cannot run a function on thread %d: %s", tid, strerror(-result));
    }
}

EXPORT int gait_stalker_run_on_thread(struct gait_stalker *stalker, int tid, const struct gait_thread_run *run,
                                      struct gait_error *err)
{
    struct gait_thread_run asked;
    int result;

    if (stalker == NULL)
        return stalker_handle_missing(err, run_type.doing);
    result = options_read(&run_type, run, &asked, err);
    if (result != 0)
        return result;
    if (asked.function == NULL)
        return error_set(err, EINVAL, "cannot run a function on a thread: there is none, function is NULL");
    run_on_thread_collect(stalker);
    if (tid == thread_current()) {
        run_here(&asked);
        return 0;
    }
    result = begin(stalker, tid, &asked);
    return result == 0 ? 0 : run_failed(result, tid, err);
}
