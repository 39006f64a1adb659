/* SPDX-License-Identifier: MIT */
/*
 * Who comes and who goes: the modules that the dynamic loader has. The loader calls an empty function, for debuggers,
 * each time before and after it changes its list (r_debug.r_brk, in glibc and musl `_dl_debug_state`). Whoever wants to
 * know hooks that function in whatever way he likes, so that module_observer_notice is called by it:
 *
 *   module_observer_init(&observer, &listener);
 *   if (module_observer_find(&observer, &function) == 0)
 *       hook(function, module_observer_notice, &observer);
 *   module_observer_notice(&observer);    // tells all that are there; none was missed in between
 *
 * Modules are told before their constructors run. In all namespaces (dlmopen), if the loader tells of them (glibc 2.35
 * and newer). Found also at the first instruction of a process, when the loader itself has not run yet: then the
 * program, the loader and the vdso are told first, the libraries as the loader gets to them.
 *
 * Raw system calls, memory of its own, one lock: callable from any thread and inside the target, also in the middle of
 * the loader; not in signal handlers. All that it reads of the loader is copied by the kernel, so that lists that are
 * changing or corrupt do no harm; the next notification puts things right.
 */
#ifndef GAIT_PROCESS_MODULE_OBSERVER_H
#define GAIT_PROCESS_MODULE_OBSERVER_H

#include "base/attributes.h"
#include "base/list.h"
#include "base/pool.h"
#include "process/dynamic_loader.h"
#include "process/module.h"
#include "process/owner_lock.h"

/*
 * All of these may be NULL. They are called on the thread that loads or unloads, one at a time, with the observer's
 * lock and the loader's held: no libc. The module is good until the function returns; `time` is of the CPU's counter.
 */
struct module_listener {
    void *context;
    /* Since then code of it can run; its constructors have not. glibc: nor was it relocated. */
    void (*loaded)(void *context, const struct module *module, uint64_t time);
    /* It is gone, all of its code was over at that time. Its addresses may be somebody else's already. */
    void (*unloaded)(void *context, const struct module *module, uint64_t time);
    /* Some modules are about to be unmapped; the loader does not say which. */
    void (*unloading)(void *context);
};

struct module_observer {
    struct owner_lock lock;
    const struct module_listener *listener;
    struct dynamic_loader loader;
    struct pool pool;
    struct list_node known;  /* of modules, in the order in which they were told */
    uint64_t unloading_time; /* when the loader said that it is about to unload; 0: it did not */
    bool has_looked;         /* at all that is mapped */
};

/* Looks for the loader, and not yet at modules. The listener must stay good as long as the observer. */
void module_observer_init(struct module_observer *observer, const struct module_listener *listener);

/* Gives back what it has. Nobody may notify it any more. */
void module_observer_deinit(struct module_observer *observer);

/*
 * The function that the loader calls. -ENOENT: there is no loader (a static program), or it does not say; then modules
 * are told when somebody calls module_observer_notice.
 */
MUST_USE int module_observer_find(struct module_observer *observer, uint64_t *function_out);

/*
 * Looks what the loader has now, and tells what has changed. Cheap if nothing has: some reads for each module. In a
 * static program, or one whose loader cannot be found, the mappings are looked at instead. -ETIMEDOUT: somebody else
 * was in here for too long; -EDEADLK: called by a listener; -ENOMEM: what there was no memory for is told next time.
 */
int module_observer_notice(struct module_observer *observer);

/*
 * In a child that was just forked, on its only thread. True: another thread, which is not here, was just looking at
 * modules; then nothing is known any more, and the next look tells all again.
 */
bool module_observer_begin_in_child(struct module_observer *observer);

#endif
