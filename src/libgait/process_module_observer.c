/* SPDX-License-Identifier: MIT */
/* The core's observer of modules, called by a hook of the loader, with the listener of the caller's. */
#include "process/module_observer.h"

#include "gait/process.h"
#include "libgait/export.h"
#include "libgait/loader_watch.h"
#include "libgait/observer_list.h"
#include "libgait/options.h"
#include "libgait/process_module.h"

struct gait_module_observer {
    struct observer_entry entry; /* its lock is around the core's, which begins anew with each use */
    struct gait_module_listener wanted;
    struct module_listener listener;
    struct module_observer observer;
    struct loader_watch watch;
};

static const struct options_type listener_type = {
    "observe modules",
    "gait_module_listener",
    sizeof(struct gait_module_listener),
};

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void loaded(void *context, const struct module *module, uint64_t time)
{
    const struct gait_module_listener *wanted = context;
    struct process_module filled;

    if (wanted->loaded == NULL)
        return;
    process_module_fill(module, &filled);
    wanted->loaded(wanted->context, &filled.module, time);
}

static void unloaded(void *context, const struct module *module, uint64_t time)
{
    const struct gait_module_listener *wanted = context;
    struct process_module filled;

    if (wanted->unloaded == NULL)
        return;
    process_module_fill(module, &filled);
    /* What is there now is something else. */
    filled.module.segment_count = 0;
    wanted->unloaded(wanted->context, &filled.module, time);
}

static int notice(struct observer_entry *entry, int argument)
{
    (void)argument;
    return module_observer_notice(&((struct gait_module_observer *)entry)->observer);
}

/* By the loader. */
static void notified(struct gait_invocation *invocation)
{
    (void)!observer_entry_use(invocation->data, notice, 0);
}

/* ---- coming and going -------------------------------------------------------------------------------------------- */

static void begin(struct observer_entry *entry, const void *listener)
{
    struct gait_module_observer *observer = (struct gait_module_observer *)entry;

    observer->wanted = *(const struct gait_module_listener *)listener;
    observer->listener = (struct module_listener){.context = &observer->wanted, .loaded = loaded, .unloaded = unloaded};
    module_observer_init(&observer->observer, &observer->listener);
}

static void end(struct observer_entry *entry)
{
    module_observer_deinit(&((struct gait_module_observer *)entry)->observer);
}

static void begin_in_child(struct observer_entry *entry)
{
    (void)module_observer_begin_in_child(&((struct gait_module_observer *)entry)->observer);
}

static struct observer_list list = {
    .what = "modules",
    .source = "",
    .entry_bytes = sizeof(struct gait_module_observer),
    .begin = begin,
    .end = end,
    .begin_in_child = begin_in_child,
};

EXPORT int gait_module_observer_look(struct gait_module_observer *observer, struct gait_error *err)
{
    return observer_list_look(&list, observer == NULL ? NULL : &observer->entry, notice, 0, err);
}

EXPORT int gait_module_observer_create(const struct gait_module_listener *listener,
                                       struct gait_module_observer **observer_out, bool *is_automatic_out,
                                       struct gait_error *err)
{
    struct gait_module_observer *observer;
    struct gait_module_listener wanted;
    struct observer_entry *entry;
    uint64_t function;
    bool is_automatic;
    int result = options_read(&listener_type, listener, &wanted, err);

    if (result != 0)
        return result;
    result = observer_list_take(&list, &wanted, &entry, err);
    if (result != 0)
        return result;
    observer = (struct gait_module_observer *)entry;
    /* First this, so that nothing is missed. */
    is_automatic = module_observer_find(&observer->observer, &function) == 0 &&
                   loader_watch_begin(&observer->watch, function, notified, observer, NULL) == 0;
    result = gait_module_observer_look(observer, err);
    if (result != 0) {
        gait_module_observer_destroy(observer);
        return result;
    }
    if (is_automatic_out != NULL)
        *is_automatic_out = is_automatic;
    *observer_out = observer;
    return 0;
}

EXPORT void gait_module_observer_destroy(struct gait_module_observer *observer)
{
    if (observer == NULL)
        return;
    loader_watch_end(&observer->watch);
    observer_list_give_back(&list, &observer->entry);
}
