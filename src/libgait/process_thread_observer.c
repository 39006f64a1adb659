/* SPDX-License-Identifier: MIT */
/* The core's observers of threads, with listeners of the caller's; hooks tell all of them what happens. */
#include "gait/process.h"
#include "libgait/export.h"
#include "libgait/observer_list.h"
#include "libgait/options.h"
#include "libgait/thread_watch.h"
#include "process/thread_observer.h"

struct gait_thread_observer {
    struct observer_entry entry; /* its lock is around the core's */
    struct gait_thread_listener wanted;
    struct thread_listener listener;
    struct thread_observer observer;
};

static const struct options_type listener_type = {
    "observe threads",
    "gait_thread_listener",
    sizeof(struct gait_thread_listener),
};

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void started(void *context, const struct observed_thread *thread, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->started != NULL)
        wanted->started(wanted->context, thread->tid, thread->name, time);
}

static void ended(void *context, const struct observed_thread *thread, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->ended != NULL)
        wanted->ended(wanted->context, thread->tid, thread->name, time);
}

static void renamed(void *context, const struct observed_thread *thread, const char *name_before, uint64_t time)
{
    const struct gait_thread_listener *wanted = context;

    if (wanted->renamed != NULL)
        wanted->renamed(wanted->context, thread->tid, name_before, thread->name, time);
}

/* At the thread of that tid, or at all if it is 0. */
static int look(struct observer_entry *entry, int tid)
{
    struct thread_observer *observer = &((struct gait_thread_observer *)entry)->observer;

    return tid == 0 ? thread_observer_look(observer) : thread_observer_look_at(observer, tid);
}

static int note_end(struct observer_entry *entry, int tid)
{
    return thread_observer_note_end(&((struct gait_thread_observer *)entry)->observer, tid);
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static void begin(struct observer_entry *entry, const void *listener)
{
    struct gait_thread_observer *observer = (struct gait_thread_observer *)entry;

    observer->wanted = *(const struct gait_thread_listener *)listener;
    observer->listener = (struct thread_listener){&observer->wanted, started, ended, renamed};
    thread_observer_init(&observer->observer, &observer->listener);
}

static void end(struct observer_entry *entry)
{
    thread_observer_deinit(&((struct gait_thread_observer *)entry)->observer);
}

static void begin_in_child(struct observer_entry *entry)
{
    ((struct gait_thread_observer *)entry)->observer.lock = (struct owner_lock){0};
}

static struct observer_list list = {
    .what = "threads",
    .source = "/proc/self/task: ",
    .entry_bytes = sizeof(struct gait_thread_observer),
    .begin = begin,
    .end = end,
    .begin_in_child = begin_in_child,
};

/* As it happens; a listener that makes threads itself hears of them when somebody looks. */
static void watched(enum thread_watch_event event, int tid)
{
    for (struct observer_entry *entry = list.first; entry != NULL; entry = entry->next)
        (void)!observer_entry_use(entry, event == THREAD_ENDS ? note_end : look, tid);
}

EXPORT int gait_thread_observer_look(struct gait_thread_observer *observer, int tid, struct gait_error *err)
{
    return observer_list_look(&list, observer == NULL ? NULL : &observer->entry, look, tid, err);
}

EXPORT int gait_thread_observer_create(const struct gait_thread_listener *listener, bool is_automatic,
                                       struct gait_thread_observer **observer_out, struct gait_error *err)
{
    struct gait_thread_observer *observer;
    struct gait_thread_listener wanted;
    struct observer_entry *entry;
    int result = options_read(&listener_type, listener, &wanted, err);

    if (result != 0)
        return result;
    result = observer_list_take(&list, &wanted, &entry, err);
    if (result != 0)
        return result;
    observer = (struct gait_thread_observer *)entry;
    /* First this, so that none is missed. */
    if (is_automatic)
        result = thread_watch_begin(watched, err);
    if (result == 0)
        result = gait_thread_observer_look(observer, 0, err);
    if (result != 0) {
        gait_thread_observer_destroy(observer);
        return result;
    }
    *observer_out = observer;
    return 0;
}

EXPORT void gait_thread_observer_destroy(struct gait_thread_observer *observer)
{
    if (observer != NULL)
        observer_list_give_back(&list, &observer->entry);
}
